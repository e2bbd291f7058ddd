import {
  getNamedType,
  getNullableType,
  isCompositeType,
  isListType,
  Kind,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLCompositeType,
  type GraphQLField,
  type GraphQLSchema,
  type OperationDefinitionNode,
  type SelectionNode,
  type SelectionSetNode,
  type ValueNode,
} from 'graphql';
import type { Operation } from './documents.ts';
import { fragmentsOf } from './overlaps.ts';

/** Items of a list whose field has no argument for its size. */
export const DEFAULT_LIST_SIZE = 10;
/** Upper bound of the complexity of an operation. */
export const MAX_COMPLEXITY = 1e9;
/** Arguments for the size of a list, and of the list in a connection. */
const SIZE_ARGUMENTS = ['first', 'last', 'limit'] as const;

/** What an operation is measured with. */
interface Measured {
  readonly schema: GraphQLSchema;
  readonly operation: Operation;
  /** As sent by the client, not coerced. */
  readonly variables: Readonly<Record<string, unknown>>;
}

/**
 * Returns how much an operation may have to resolve, from 0 to {@link MAX_COMPLEXITY}: each field counts 1, and the fields below it as often
 * as its list has items. The size of a list is `first`, `last` or `limit` of its field, or of the field above it (connections), else
 * {@link DEFAULT_LIST_SIZE}. `__schema` and `__type` count 1 with everything below them, `__typename` nothing. Fields that are skipped or
 * merged are counted too. The cost is linear in the size of the document.
 *
 * @example
 * complexityOf({ schema, operation, variables: {} }); // `{ users(first: 20) { name posts { title } } }`: 1 + 20 × (1 + 1 + 10 × 1) = 241
 */
export function complexityOf({ schema, operation, variables }: Measured): number {
  const { definition } = operation;
  const root = schema.getRootType(definition.operation);
  if (!root) return 0;
  return new Complexity(schema, operation, sizesOf(definition, variables)).of(definition.selectionSet, root, false);
}

type SizeOf = (value: ValueNode) => number | undefined;

/** Returns what reads sizes from literals and variables. */
function sizesOf({ variableDefinitions = [] }: OperationDefinitionNode, variables: Measured['variables']): SizeOf {
  const defaults = new Map(
    variableDefinitions.map(({ variable, defaultValue }) => [variable.name.value, defaultValue] as const),
  );
  return function sizeOf(value): number | undefined {
    if (value.kind === Kind.INT || value.kind === Kind.STRING) return sizeIn(value.value);
    if (value.kind !== Kind.VARIABLE) return undefined;
    const name = value.name.value;
    if (Object.hasOwn(variables, name)) return sizeIn(variables[name]);
    const fallback = defaults.get(name);
    return fallback && sizeOf(fallback);
  };
}

/** Returns a number of items; `undefined` for other values. */
function sizeIn(value: unknown): number | undefined {
  const number = typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value;
  return typeof number === 'number' && number >= 0 ? Math.min(MAX_COMPLEXITY, Math.ceil(number)) : undefined;
}

class Complexity {
  readonly #schema: GraphQLSchema;
  readonly #fragments: ReadonlyMap<string, FragmentDefinitionNode>;
  readonly #sizeOf: SizeOf;
  /** Of fragments by name and by whether the field above them has a size. */
  readonly #known = new Map<string, number>();

  constructor(schema: GraphQLSchema, { document }: Operation, sizeOf: SizeOf) {
    this.#schema = schema;
    this.#fragments = fragmentsOf(document);
    this.#sizeOf = sizeOf;
  }

  /** `isSized`: the field above has a size, which is that of the lists here. */
  of({ selections }: SelectionSetNode, type: GraphQLCompositeType, isSized: boolean): number {
    let total = 0;
    for (const selection of selections) total += this.#selection(selection, type, isSized);
    return Math.min(MAX_COMPLEXITY, total);
  }

  #selection(selection: SelectionNode, type: GraphQLCompositeType, isSized: boolean): number {
    if (selection.kind === Kind.FIELD) return this.#field(selection, type, isSized);
    if (selection.kind === Kind.FRAGMENT_SPREAD) return this.#fragment(selection.name.value, isSized);
    const { typeCondition, selectionSet } = selection;
    return this.of(selectionSet, typeCondition ? this.#type(typeCondition.name.value, type) : type, isSized);
  }

  #fragment(name: string, isSized: boolean): number {
    const key = `${isSized}|${name}`;
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    this.#known.set(key, 0);
    const fragment = this.#fragments.get(name);
    const type = fragment && this.#schema.getType(fragment.typeCondition.name.value);
    const complexity = fragment && isCompositeType(type) ? this.of(fragment.selectionSet, type, isSized) : 0;
    this.#known.set(key, complexity);
    return complexity;
  }

  #type(name: string, above: GraphQLCompositeType): GraphQLCompositeType {
    const type = this.#schema.getType(name);
    return isCompositeType(type) ? type : above;
  }

  #field(node: FieldNode, parent: GraphQLCompositeType, isSized: boolean): number {
    const name = node.name.value;
    if (name.startsWith('__')) return name === '__typename' ? 0 : 1;
    const field = this.#schema.getField(parent, name);
    if (!field || !node.selectionSet) return 1;
    const type = getNamedType(field.type);
    if (!isCompositeType(type)) return 1;
    const size = this.#size(node, field);
    const isList = isListType(getNullableType(field.type));
    const items = size ?? (isList && !isSized ? DEFAULT_LIST_SIZE : 1);
    return Math.min(MAX_COMPLEXITY, 1 + items * this.of(node.selectionSet, type, size !== undefined && !isList));
  }

  /** Returns the largest size among the arguments of a field. */
  #size({ arguments: given = [] }: FieldNode, { args }: GraphQLField<unknown, unknown>): number | undefined {
    const sizes = SIZE_ARGUMENTS.flatMap((name) => {
      const declared = args.find((each) => each.name === name);
      if (!declared) return [];
      const value = given.find((each) => each.name.value === name)?.value;
      const size = (value && this.#sizeOf(value)) ?? this.#defaultOf(declared);
      return size === undefined ? [] : [size];
    });
    return sizes.length === 0 ? undefined : Math.max(...sizes);
  }

  #defaultOf({ default: fallback }: GraphQLField<unknown, unknown>['args'][number]): number | undefined {
    if (!fallback) return undefined;
    return fallback.literal ? this.#sizeOf(fallback.literal) : sizeIn(fallback.value);
  }
}
