import type { Skipped } from '../discovered-api.ts';
import { isGraphQLName, toTypeName, uniqueNames } from '../names.ts';
import type { TakeFields } from '../bounds.ts';
import type { FieldText, SchemaText } from '../schema-text.ts';
import type { Document, Placed } from './document.ts';
import { textOf } from './document.ts';
import { shapeOf, type Property } from './shape.ts';

const SCALARS = ['String', 'Int', 'Float', 'Boolean', 'ID', 'JSON', 'Query', 'Mutation', 'Subscription'];
/** Maximum nesting of unnamed schemas. */
const MAX_DEPTH = 400;

/** Which side of an operation a type is for. */
export type Side = 'output' | 'input';

/** Creates GraphQL types of JSON schemas, each schema once per side. */
export interface Types {
  /** Returns the type of a schema as text, without `!`. `hint` names the type of an unnamed schema. */
  typeOf(schema: Placed, hint: string, side: Side): string;
  readonly usesJson: boolean;
}

interface Making {
  readonly side: Side;
  readonly depth: number;
}

export interface TypesOptions {
  readonly skipped: Skipped[];
  readonly takeFields: TakeFields;
}

/** Creates a converter that adds types to the schema; what GraphQL cannot express is reported, and is `JSON` or left out. */
export function createTypes(document: Document, text: SchemaText, { skipped, takeFields }: TypesOptions): Types {
  const names = { output: new Map<string, string>(), input: new Map<string, string>() };
  const unique = uniqueNames(SCALARS);
  let usesJson = false;

  const json = (): string => {
    usesJson = true;
    return 'JSON';
  };

  function make(schema: Placed, hint: string, making: Making): string {
    if (making.depth > MAX_DEPTH) throw new Error(`${schema.pointer} is nested too deep`);
    const placed = document.follow(schema.value, schema.pointer);
    const known = names[making.side].get(placed.pointer);
    if (known !== undefined) return known;
    const shape = shapeOf(document, placed);
    const name = ownName(placed.pointer) || hint;
    const next = { ...making, depth: making.depth + 1 };
    if (shape.kind === 'list') return `[${make(shape.items, `${name}Item`, next)}]`;
    if (shape.kind === 'enum') {
      if (!takeFields(shape.values.length, placed.pointer)) return json();
      return remember(placed, name, (made) => text.enumeration(made, shape.values), next);
    }
    if (shape.kind === 'object') return object(placed, name, shape.properties, next);
    if (shape.kind === 'choice' && making.side === 'output') return choice(placed, shape.members, next);
    return shape.kind === 'scalar' && shape.scalar !== 'JSON' ? shape.scalar : json();
  }

  function remember(placed: Placed, name: string, define: (name: string) => void, { side }: Making): string {
    const made = unique(side === 'input' ? `${toTypeName(name) || 'Value'}Input` : toTypeName(name) || 'Value');
    names[side].set(placed.pointer, made);
    define(made);
    return made;
  }

  function object(placed: Placed, name: string, properties: readonly Property[], making: Making): string {
    const usable = properties.filter((each) => isUsable(each, making.side));
    if (usable.length === 0 || !takeFields(usable.length, placed.pointer)) return json();
    return remember(
      placed,
      name,
      (made) => {
        const fields = usable.map((each) => field(each, made, making));
        const keyword = making.side === 'input' ? 'input' : 'type';
        text.type(keyword, made, fields, textOf(placed.value['description']));
      },
      making,
    );
  }

  function isUsable({ name, schema, readOnly }: Property, side: Side): boolean {
    if (side === 'input' && readOnly) return false;
    if (isGraphQLName(name)) return true;
    skipped.push({ where: schema.pointer, reason: `'${name}' is no name in GraphQL` });
    return false;
  }

  function field({ name, schema, required }: Property, owner: string, making: Making): FieldText {
    const hint = `${owner.replace(/Input\d*$/, '')}${toTypeName(name)}`;
    const type = attempt(schema, () => make(schema, hint, making));
    const description = textOf(schema.value['description']);
    // Servers omit required properties in responses: only input is checked.
    if (making.side === 'input') return { name, type: required && mayBeRequired(type) ? `${type}!` : type };
    return { name, type, ...(description && { description }) };
  }

  /** An unsupported property is any JSON; its type is kept. */
  function attempt(schema: Placed, work: () => string): string {
    try {
      return work();
    } catch (error) {
      skipped.push({ where: schema.pointer, reason: (error as Error).message });
      return json();
    }
  }

  /** Responses do not name the member of a union, so a union is any JSON. */
  function choice(placed: Placed, members: readonly Placed[], making: Making): string {
    const [first, ...others] = members.map((member) => document.follow(member.value, member.pointer).pointer);
    if (others.every((other) => other === first)) return make(members[0]!, ownName(placed.pointer), making);
    return json();
  }

  return {
    typeOf: (schema, hint, side) => make(schema, hint, { side, depth: 0 }),
    get usesJson() {
      return usesJson;
    },
  };
}

/** Input objects that require each other could never be written: only scalars and lists are required. */
function mayBeRequired(type: string): boolean {
  return type.startsWith('[') || SCALARS.includes(type);
}

/** Returns the last part of a pointer into the components; empty for unnamed schemas. */
function ownName(pointer: string): string {
  const match = /^#\/components\/(?:schemas|responses|requestBodies|parameters)\/([^/]+)$/.exec(pointer);
  return match ? match[1]!.replaceAll('~1', '/').replaceAll('~0', '~') : '';
}
