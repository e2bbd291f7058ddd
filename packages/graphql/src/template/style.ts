import { isRecord } from '../document/json.ts';

/** Delimiters of lists that are one text, as they are in headers. */
const DELIMITERS = { form: ',', simple: ',', spaceDelimited: ' ', pipeDelimited: '|', tabDelimited: '\t' } as const;

type DelimitedStyle = keyof typeof DELIMITERS;
export type StyleName = DelimitedStyle | 'label' | 'matrix' | 'deepObject' | 'json';
export type StyledPlace = 'path' | 'query' | 'header';

const DELIMITED = ['spaceDelimited', 'pipeDelimited', 'tabDelimited', 'json'] as const;
/** The styles of parameters by place, the default first: those of OpenAPI, and `tabDelimited` of Swagger 2. */
export const STYLES: Readonly<Record<StyledPlace, readonly StyleName[]>> = {
  path: ['simple', 'label', 'matrix', ...DELIMITED],
  query: ['form', 'deepObject', ...DELIMITED],
  header: ['simple', ...DELIMITED],
};

/** How lists and objects are written: `form*`, or `matrix:color`. */
export interface Style {
  readonly name: StyleName;
  /** `*`: each element or entry is a value of its own. */
  readonly explode: boolean;
  /** `+`: reserved characters that cannot end a parameter stay as they are. */
  readonly allowReserved: boolean;
  /** Name of a `matrix` parameter, escaped. */
  readonly parameter: string;
}

const STYLE = /^(.*)\|(form|simple|label|matrix|deepObject|json|(?:space|pipe|tab)Delimited)(\*?)(\+?)(?::(.+))?$/s;

/** Splits an expression from its style. Throws an `Error` for a style that the place does not have. */
export function splitStyle(text: string, place?: StyledPlace): readonly [text: string, style?: Style] {
  const match = STYLE.exec(text);
  if (!match) return [text];
  const [, expression, written, explode, allowReserved, parameter] = match;
  const name = written as StyleName;
  const styles = place ? STYLES[place] : [];
  if (!styles.includes(name)) {
    const allowed = place
      ? `those of a ${place} are ${styles.join(', ')}`
      : 'only parameters of REST requests have one';
    throw new Error(`{$${text}}: the style ${name} is not allowed here; ${allowed}`);
  }
  if (allowReserved && place !== 'query') throw new Error(`{$${text}}: + is allowed in query parameters only`);
  if ((parameter === undefined) === (name === 'matrix')) {
    throw new Error(
      `{$${text}}: the style matrix needs the name of the parameter, as in |matrix:color; others have none`,
    );
  }
  const style = { name, explode: explode !== '', allowReserved: allowReserved !== '' };
  return [expression!, { ...style, parameter: encodeURIComponent(parameter ?? '') }];
}

type Escape = (value: unknown) => string;

/** Returns true if a value is left out: null, and a list or object without elements. */
export function isLeftOut(value: unknown, style: Style | undefined): boolean {
  if (value === null || value === undefined) return true;
  return style !== undefined && style.name !== 'json' && membersOf(value)?.length === 0;
}

/** Renders a value of a path or header. `escape` renders a part of it. */
export function renderStyled(value: unknown, style: Style, escape: Escape, place: StyledPlace): string {
  if (isLeftOut(value, style)) return '';
  if (style.name === 'json') return escape(JSON.stringify(value));
  const members = membersOf(value);
  const parts = members ? partsOf(members, style, escape) : [escape(value)];
  if (style.name === 'label') return `.${parts.join(style.explode ? '.' : ',')}`;
  if (style.name !== 'matrix') return parts.join(delimiterOf(style, place));
  if (!style.explode || !members) return matrixPair(style.parameter, parts.join(','));
  return parts.map((part) => (isRecord(value) ? `;${part}` : matrixPair(style.parameter, part))).join('');
}

/** Renders the pairs of a query parameter; none for a value that is left out. */
export function renderPairs(name: string, value: unknown, style: Style, escape: Escape): readonly string[] {
  if (isLeftOut(value, style)) return [];
  const members = style.name === 'json' ? undefined : membersOf(value);
  if (style.name === 'deepObject' && members && isRecord(value)) {
    return members.map(([key, each]) => `${name}%5B${escape(key)}%5D=${escape(each)}`);
  }
  if (members && (style.explode || style.name === 'deepObject')) {
    const parts = partsOf(members, { ...style, explode: true }, escape);
    return isRecord(value) ? parts : parts.map((part) => `${name}=${part}`);
  }
  return [`${name}=${renderStyled(value, style, escape, 'query')}`];
}

type Member = readonly [key: string | undefined, value: unknown];

/** Returns the elements of a list or the entries of an object, without null; `undefined` for other values. */
function membersOf(value: unknown): readonly Member[] | undefined {
  const isList = Array.isArray(value);
  if (!isList && !isRecord(value)) return undefined;
  const members = isList ? value.map((each): Member => [undefined, each]) : Object.entries(value);
  return members.filter(([, each]) => each !== null && each !== undefined);
}

function partsOf(members: readonly Member[], { name, explode }: Style, escape: Escape): readonly string[] {
  return members.flatMap(([key, value]) => {
    if (key === undefined) return [escape(value)];
    if (!explode) return [escape(key), escape(value)];
    return [name === 'matrix' ? matrixPair(escape(key), escape(value)).slice(1) : `${escape(key)}=${escape(value)}`];
  });
}

function matrixPair(name: string, value: string): string {
  return value === '' ? `;${name}` : `;${name}=${value}`;
}

function delimiterOf({ name }: Style, place: StyledPlace): string {
  const delimiter = DELIMITERS[name as DelimitedStyle] ?? ',';
  return place === 'header' || delimiter === ',' ? delimiter : encodeURIComponent(delimiter);
}

/** Characters that `+` keeps: none that ends a value, as `&`, `#` and `;` do, and none that means another, as `+` does. */
const KEPT = /%25[0-9A-Fa-f]{2}|%(?:3A|2F|3F|40|21|24|27|28|29|2A|2C|3D)/g;

/** Restores the reserved characters of an escaped value, and sequences that were escaped before. */
export function keepReserved(escaped: string): string {
  return escaped.replace(KEPT, (each) => (each.length > 3 ? `%${each.slice(3)}` : decodeURIComponent(each)));
}
