import { KINDS, type KindInfo } from '../../packages/core/src/schema/kinds.ts';
import type { SchemaNode, Support } from '../../packages/core/src/schema/field.ts';

/** One row of a page. */
export interface Field {
  /** From the block: `a.b[].c`. */
  readonly path: string;
  readonly schema: SchemaNode;
  /** Of the field within its block: the worst on the way to it. */
  readonly support: Support;
}

/** A rule over fields of one object of a block. */
export interface Rule {
  readonly at: string;
  readonly text: string;
}

/** A named block with its unnamed parts written out. */
export interface Block {
  readonly title: string;
  readonly fields: readonly Field[];
  readonly rules: readonly Rule[];
  readonly beside: readonly string[];
  /** Blocks in its fields, with the support of the path to them. */
  readonly uses: ReadonlyMap<string, Support>;
}

const RANK: Readonly<Record<Support, number>> = { yes: 0, kubernetes: 1, notYet: 2, unsupported: 3, rejected: 4 };
/** Returns the lower of two levels. */
export const worse = (a: Support, b: Support): Support => (RANK[a] >= RANK[b] ? a : b);
/** Returns the higher of two levels. */
export const better = (a: Support, b: Support): Support => (RANK[a] <= RANK[b] ? a : b);

/** The name a field's type has in tables; named blocks are links. */
export function typeName(schema: SchemaNode, link: (title: string) => string): string {
  const title = schema['x-ref'] ?? schema.title;
  if (title !== undefined) return link(title);
  if (schema.properties) return 'object';
  if (schema.items) return `list of ${typeName(schema.items, link)}`;
  if (schema.type === 'object') return `map to ${typeName(schema.additionalProperties as SchemaNode, link)}`;
  const names = schema['x-enum-names'];
  if (names) return names.map((name) => `\`${name}\``).join(', ');
  if (schema['x-format'] === 'int64') return `integer, quoted or not${bounds(schema)}`;
  if (schema['x-format']) return schema['x-format'];
  const words = {
    string: 'text',
    'string,boolean': 'text, or true or false',
    boolean: 'true or false',
    integer: 'integer',
    number: 'number',
  };
  return `${words[schema.type as keyof typeof words] ?? 'any'}${bounds(schema)}`;
}

function bounds({ minimum, maximum }: SchemaNode): string {
  if (minimum === undefined && maximum === undefined) return '';
  if (maximum === undefined) return `, from ${minimum}`;
  return minimum === undefined ? `, up to ${maximum}` : `, ${minimum} to ${maximum}`;
}

/** The blocks of a kind, by title; the first is the kind's own. */
export function blocksOf(info: KindInfo): ReadonlyMap<string, Block> {
  const blocks = new Map<string, Block>();
  const queue = [info.schema as unknown as SchemaNode];
  for (let schema = queue.shift(); schema; schema = queue.shift()) {
    if (schema.title === undefined || blocks.has(schema.title)) continue;
    const { block, held } = readBlock(schema, schema.title);
    blocks.set(schema.title, block);
    queue.push(...held);
  }
  return blocks;
}

function readBlock(schema: SchemaNode, title: string): { block: Block; held: SchemaNode[] } {
  const fields: Field[] = [];
  const rules: Rule[] = [];
  const uses = new Map<string, Support>();
  const held: SchemaNode[] = [];
  const read = (part: SchemaNode, prefix: string, outer: Support): void => {
    rules.push(...rulesOf(part, prefix));
    for (const [key, field] of Object.entries(part.properties ?? {})) {
      const support = worse(outer, field['x-support'] ?? 'yes');
      fields.push({ path: `${prefix}${key}`, schema: field, support });
      const { inner, path } = innermost(field, `${prefix}${key}`);
      const name = inner['x-ref'] ?? inner.title;
      if (name === undefined) read(inner, `${path}.`, support);
      else uses.set(name, better(support, uses.get(name) ?? 'rejected'));
      if (inner.title !== undefined) held.push(inner);
    }
  };
  read(schema, '', 'yes');
  return { block: { title, fields, rules, beside: schema['x-hoisted'] ?? [], uses }, held };
}

function innermost(schema: SchemaNode, path: string): { inner: SchemaNode; path: string } {
  if (schema.items) return innermost(schema.items, `${path}[]`);
  if (typeof schema.additionalProperties === 'object') return innermost(schema.additionalProperties, `${path}.<key>`);
  return { inner: schema, path };
}

function rulesOf(schema: SchemaNode, prefix: string): Rule[] {
  const at = prefix === '' ? '' : prefix.slice(0, -1);
  const quoted = (names: readonly string[]) => names.map((name) => `\`${name}\``).join(', ');
  const oneOf = (schema['x-oneof'] ?? []).map(({ members, required }) => ({
    at,
    text: `${required ? 'exactly' : 'at most'} one of ${quoted(members)}`,
  }));
  const required = schema['x-required'];
  return required ? [...oneOf, { at, text: `needed: ${quoted(required)}` }] : oneOf;
}

/** How far each block of a kind is supported where it is reached best. */
export function reachOf(blocks: ReadonlyMap<string, Block>): ReadonlyMap<string, Support> {
  const reach = new Map<string, Support>();
  const visit = (title: string, support: Support): void => {
    const known = reach.get(title);
    if (known !== undefined && RANK[known] <= RANK[support]) return;
    reach.set(title, support);
    for (const [used, way] of blocks.get(title)?.uses ?? []) visit(used, worse(support, way));
  };
  visit(blocks.keys().next().value!, 'yes');
  return reach;
}

/** Every kind in the order of the registry. */
export const kinds: readonly KindInfo[] = [...KINDS.values()];
