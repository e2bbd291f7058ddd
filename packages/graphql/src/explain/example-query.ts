import {
  getNamedType,
  isCompositeType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
  isRequiredArgument,
  isRequiredInputField,
  isUnionType,
  type GraphQLField,
  type GraphQLInputType,
  type GraphQLSchema,
} from 'graphql';

/** Fields of one selection, and levels of selections and input objects. */
const MAX_FIELDS = 5;
const MAX_DEPTH = 3;

/** Literals by scalar; text for all others. */
const LITERALS: ReadonlyMap<string, string> = new Map([
  ['Int', '1'],
  ['Float', '1'],
  ['Boolean', 'true'],
  ['ID', '"1"'],
]);

type Field = GraphQLField<unknown, unknown>;

/** Returns a query of one field, without arguments if there is such a field; values of others are to be replaced. */
export function exampleQuery(schema: GraphQLSchema): string {
  const fields = Object.values(schema.getQueryType()?.getFields() ?? {});
  const ordered = [...fields.filter(isPlain), ...fields.filter((field) => !isPlain(field))];
  for (const field of ordered) {
    const written = fieldText(field, 1);
    if (written !== undefined) return `{\n${written}\n}\n`;
  }
  return '{\n  __typename\n}\n';
}

function isPlain({ args }: Field): boolean {
  return !args.some(isRequiredArgument);
}

/** Returns a field with the first leaves below it; `undefined` if a level is too deep. */
function fieldText(field: Field, depth: number): string | undefined {
  const given = field.args.filter(isRequiredArgument).map(({ name, type }) => [name, literalOf(type, 1)] as const);
  if (given.some(([, literal]) => literal === undefined)) return undefined;
  const args = given.length > 0 ? `(${given.map((pair) => pair.join(': ')).join(', ')})` : '';
  const indent = '  '.repeat(depth);
  const type = getNamedType(field.type);
  if (!isCompositeType(type)) return `${indent}${field.name}${args}`;
  const below = isUnionType(type) ? `${indent}  __typename` : selectionOf(Object.values(type.getFields()), depth + 1);
  return below && `${indent}${field.name}${args} {\n${below}\n${indent}}`;
}

function selectionOf(fields: readonly Field[], depth: number): string | undefined {
  const plain = fields.filter(isPlain);
  const leaves = plain.filter(({ type }) => !isCompositeType(getNamedType(type))).slice(0, MAX_FIELDS);
  if (leaves.length > 0) return leaves.map((field) => fieldText(field, depth)).join('\n');
  if (depth > MAX_DEPTH) return undefined;
  return plain.map((field) => fieldText(field, depth)).find((text) => text !== undefined);
}

function literalOf(type: GraphQLInputType, depth: number): string | undefined {
  if (isNonNullType(type)) return literalOf(type.ofType, depth);
  if (isListType(type)) return '[]';
  if (isEnumType(type)) return type.getValues()[0]?.name;
  if (!isInputObjectType(type)) return LITERALS.get(type.name) ?? '""';
  if (depth > MAX_DEPTH || type.isOneOf) return undefined;
  const required = Object.values(type.getFields()).filter(isRequiredInputField);
  const entries = required.map(({ name, type: inner }) => [name, literalOf(inner, depth + 1)] as const);
  if (entries.some(([, literal]) => literal === undefined)) return undefined;
  return `{${entries.map((pair) => pair.join(': ')).join(', ')}}`;
}
