import {
  getNamedType,
  isInputObjectType,
  Kind,
  valueFromASTUntyped,
  type ArgumentNode,
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLInputField,
  type OperationDefinitionNode,
  type ValueNode,
} from 'graphql';

import { plainNumber } from './json.ts';

/** Upper bound of a size, and of the complexity of an operation. */
export const MAX_COMPLEXITY = 1e9;
/** Arguments for the size of a list, and of the list in a connection. */
const SIZE_ARGUMENTS: ReadonlySet<string> = new Set([
  'first',
  'last',
  'limit',
  'take',
  'pageSize',
  'page_size',
  'perPage',
  'per_page',
]);
/** The same in input objects for paging; other objects may have a size of their own, such as a filter. */
const PAGE_FIELDS: ReadonlySet<string> = new Set([...SIZE_ARGUMENTS, 'size', 'count']);
const PAGE_NAME = /^(?:page|paging|pagination|paginate)/i;
/** Input objects that are looked into: of an argument, and of its fields. */
const MAX_INPUT_DEPTH = 4;

/** Arguments of `@listSize`, as other gateways define it. */
export interface ListSize {
  /** Size without an argument. */
  readonly assumedSize: number | undefined;
  /** Paths of arguments, e.g. `input.first`; `undefined` if it is the usual names. */
  readonly slicingArguments: readonly string[] | undefined;
  /** Fields of the object that are the lists. */
  readonly sizedFields: ReadonlySet<string>;
}

const NONE: ListSize = { assumedSize: undefined, slicingArguments: undefined, sizedFields: new Set() };
/** Definition of the directive, for schemas that use it without one. */
export const LIST_SIZE = `directive @listSize(
  assumedSize: Int, slicingArguments: [String!], sizedFields: [String!], requireOneSlicingArgument: Boolean = true
) on FIELD_DEFINITION`;
const known = new WeakMap<GraphQLField<unknown, unknown>, ListSize>();

/** Returns `@listSize` of a field. */
export function listSizeOf(field: GraphQLField<unknown, unknown>): ListSize {
  let found = known.get(field);
  if (!found) known.set(field, (found = readListSize(field)));
  return found;
}

function readListSize({ astNode }: GraphQLField<unknown, unknown>): ListSize {
  const directive = astNode?.directives?.find(({ name }) => name.value === 'listSize');
  if (!directive) return NONE;
  const written = Object.fromEntries(
    (directive.arguments ?? []).map(({ name, value }) => [name.value, valueFromASTUntyped(value)] as const),
  );
  const names = namesIn(written['slicingArguments']);
  return {
    assumedSize: sizeIn(written['assumedSize']),
    slicingArguments: names.length > 0 ? names : undefined,
    sizedFields: new Set(namesIn(written['sizedFields'])),
  };
}

function namesIn(value: unknown): readonly string[] {
  return [value].flat().filter((each) => typeof each === 'string');
}

/** Returns a number of items; `undefined` for other values. */
function sizeIn(value: unknown): number | undefined {
  const number = typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : plainNumber(value);
  return typeof number === 'number' && number >= 0 ? Math.min(MAX_COMPLEXITY, Math.ceil(number)) : undefined;
}

/** Returns the size that the arguments of a field select. */
export type ReadSize = (given: readonly ArgumentNode[], field: GraphQLField<unknown, unknown>) => number | undefined;

/** Creates what reads sizes from the arguments of an operation: the largest one counts. */
export function createReadSize(
  { variableDefinitions = [] }: OperationDefinitionNode,
  variables: Readonly<Record<string, unknown>>,
): ReadSize {
  const defaults = new Map(
    variableDefinitions.map(({ variable, defaultValue }) => [variable.name.value, defaultValue] as const),
  );

  /** Returns a literal or variable as plain JSON; variables inside it have their values, too. */
  function plain(value: ValueNode | undefined): unknown {
    if (!value) return undefined;
    if (value.kind === Kind.VARIABLE) {
      const name = value.name.value;
      return Object.hasOwn(variables, name) ? variables[name] : plain(defaults.get(name));
    }
    if (value.kind === Kind.INT || value.kind === Kind.STRING) return value.value;
    if (value.kind !== Kind.OBJECT) return undefined;
    return new Input((key) => plain(value.fields.find(({ name }) => name.value === key)?.value));
  }

  function valueOf(declared: GraphQLArgument | GraphQLInputField, given: unknown): unknown {
    if (given !== undefined) return given;
    const { default: fallback } = declared;
    return fallback?.literal ? plain(fallback.literal) : fallback?.value;
  }

  /** Adds the sizes in the fields of an input object. */
  function inside(owner: GraphQLArgument | GraphQLInputField, value: unknown, { depth, sizes }: Found): void {
    const named = getNamedType(owner.type);
    if (typeof value !== 'object' || value === null || !isInputObjectType(named) || depth > MAX_INPUT_DEPTH) return;
    const names = PAGE_NAME.test(owner.name) ? PAGE_FIELDS : SIZE_ARGUMENTS;
    for (const field of Object.values(named.getFields())) {
      const given = valueOf(field, keyIn(value, field.name));
      const size = names.has(field.name) ? sizeIn(given) : undefined;
      if (size !== undefined) sizes.push(size);
      inside(field, given, { depth: depth + 1, sizes });
    }
  }

  return (nodes, field) => {
    const sizes: number[] = [];
    const given = (name: string): unknown => plain(nodes.find((each) => each.name.value === name)?.value);
    const { slicingArguments } = listSizeOf(field);
    for (const argument of field.args) {
      const value = valueOf(argument, given(argument.name));
      if (slicingArguments) {
        for (const path of slicingArguments) {
          const [first, ...keys] = path.split('.');
          if (first !== argument.name) continue;
          const size = sizeIn(keys.reduce(keyIn, value));
          if (size !== undefined) sizes.push(size);
        }
        continue;
      }
      const size = SIZE_ARGUMENTS.has(argument.name) ? sizeIn(value) : undefined;
      if (size !== undefined) sizes.push(size);
      inside(argument, value, { depth: 1, sizes });
    }
    return sizes.length === 0 ? undefined : Math.max(...sizes);
  };
}

interface Found {
  readonly depth: number;
  readonly sizes: number[];
}

/** An input object in a document. */
class Input {
  readonly at: (key: string) => unknown;

  constructor(at: (key: string) => unknown) {
    this.at = at;
  }
}

function keyIn(value: unknown, key: string): unknown {
  if (value instanceof Input) return value.at(key);
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
  return (value as Readonly<Record<string, unknown>>)[key];
}
