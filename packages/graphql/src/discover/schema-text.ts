/** A field of a type, or of an input type, as text. */
export interface FieldText {
  readonly name: string;
  readonly type: string;
  readonly args?: readonly { readonly name: string; readonly type: string }[];
  readonly description?: string;
  /** Name of the resolution behind the field. */
  readonly resolve?: string;
}

/** A builder of schema definition language. */
export interface SchemaText {
  type(keyword: 'type' | 'input', name: string, fields: readonly FieldText[], description?: string): void;
  enumeration(name: string, values: readonly string[]): void;
  union(name: string, members: readonly string[]): void;
  scalar(name: string): void;
  toString(): string;
}

/** Creates an empty schema text. Definitions stay in the order in which they are added. */
export function createSchemaText(): SchemaText {
  const blocks: string[] = [];
  return {
    type: (keyword, name, fields, description) =>
      void blocks.push(`${described(description, '')}${keyword} ${name} {\n${fields.map(fieldText).join('')}}\n`),
    enumeration: (name, values) =>
      void blocks.push(`enum ${name} {\n${values.map((value) => `  ${value}\n`).join('')}}\n`),
    union: (name, members) => void blocks.push(`union ${name} = ${members.join(' | ')}\n`),
    scalar: (name) => void blocks.push(`scalar ${name}\n`),
    toString: () => blocks.join('\n'),
  };
}

function fieldText({ name, type, args = [], description, resolve }: FieldText): string {
  const listed = args.map((arg) => `${arg.name}: ${arg.type}`).join(', ');
  const directive = resolve === undefined ? '' : ` @resolve(name: ${JSON.stringify(resolve)})`;
  return `${described(description, '  ')}  ${name}${listed && `(${listed})`}: ${type}${directive}\n`;
}

/** Returns a description of one line. */
function described(description: string | undefined, indent: string): string {
  const line = description
    ?.replaceAll(/[\p{Cc}\p{Cs}\u2028\u2029]+/gu, ' ')
    .replaceAll(/\s+/g, ' ')
    .trim();
  return line ? `${indent}${JSON.stringify(line.length > 200 ? `${line.slice(0, 199)}…` : line)}\n` : '';
}
