import { isRecord } from '../../document/json.ts';
import { STYLES, type StyleName, type StyledPlace } from '../../template/style.ts';
import { jsonContent } from './content.ts';
import type { Document } from './document.ts';
import type { DeclaredParameter } from './parameters.ts';
import { shapeOf } from './shape.ts';
import { textOf, type Placed } from './values.ts';

const SCALARS: ReadonlySet<unknown> = new Set(['string', 'number', 'integer', 'boolean']);

/** A parameter as a request template has it. */
interface SerializedParameter {
  readonly schema: Placed;
  /** Returns the template of a value that an argument has. */
  template(argument: string): string;
  /** Why its style is not used. */
  readonly problem: string | undefined;
}

/** Returns how a parameter is sent. Lists and objects are as `style` and `explode` of the document say. */
export function serializedParameter(parameter: DeclaredParameter, document: Document): SerializedParameter {
  const { value, pointer, name } = parameter;
  const json = isRecord(value['schema']) ? undefined : jsonContent(document, value, pointer);
  const written = {
    value: isRecord(value['schema']) ? value['schema'] : { type: 'string' },
    pointer: `${pointer}/schema`,
  };
  const schema = json ?? written;
  const place = parameter.place as StyledPlace;
  const declared = textOf(value['style']);
  const style = STYLES[place].find((each) => each === declared) ?? STYLES[place][0]!;
  const suffix = json ? '|json' : styleOf(parameter, style, shapeKind(document, schema));
  const isUnknown = !json && declared !== undefined && declared !== style;
  return {
    schema,
    template: (argument) => `{$args.${argument}${suffix}}`,
    problem: isUnknown
      ? `${place} parameter '${name}': the style '${declared}' is not allowed; it is ${style}`
      : undefined,
  };
}

/** Returns the style of a template; empty if a value is sent in the same way without it. */
function styleOf({ place, name, value }: DeclaredParameter, style: StyleName, kind: Kind): string {
  const explode = typeof value['explode'] === 'boolean' ? value['explode'] : style === 'form';
  const reserved = place === 'query' && value['allowReserved'] === true;
  const named = style === 'matrix' ? `:${name}` : '';
  const full = `|${style}${explode ? '*' : ''}${reserved ? '+' : ''}${named}`;
  if (reserved || style === 'label' || style === 'matrix') return full;
  const isRepeated = kind === 'list' && place === 'query' && explode;
  return kind === 'scalar' || isRepeated ? '' : full;
}

type Kind = 'scalar' | 'list' | 'other';

function shapeKind(document: Document, schema: Placed): Kind {
  const placed = document.follow(schema.value, schema.pointer);
  if (SCALARS.has(placed.value['type'])) return 'scalar';
  const { kind, ...shape } = shapeOf(document, placed);
  if (kind === 'list') return kind;
  return kind === 'enum' || (kind === 'scalar' && !('scalar' in shape && shape.scalar === 'JSON')) ? 'scalar' : 'other';
}
