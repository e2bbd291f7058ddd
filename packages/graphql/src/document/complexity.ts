import {
  getNamedType,
  getNullableType,
  isCompositeType,
  isListType,
  Kind,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLCompositeType,
  type GraphQLSchema,
  type SelectionNode,
  type SelectionSetNode,
} from 'graphql';
import type { Operation } from './documents.ts';
import { createReadSize, listSizeOf, MAX_COMPLEXITY, type ReadSize } from './list-size.ts';
import { fragmentsOf } from './overlaps.ts';

/** Items of a list whose field has no argument for its size. */
export const DEFAULT_LIST_SIZE = 10;

/** What an operation is measured with. */
interface Measured {
  readonly schema: GraphQLSchema;
  readonly operation: Operation;
  /** As sent by the client, not coerced. */
  readonly variables: Readonly<Record<string, unknown>>;
}

/**
 * Returns how much an operation may have to resolve, from 0 to {@link MAX_COMPLEXITY}: each field counts 1, and the fields below it as often
 * as its list has items. The size of a list is what an argument of its field, or of the field above it (connections), says, such as `first`
 * or `limit`, else `assumedSize` of `@listSize`, else {@link DEFAULT_LIST_SIZE}. `__schema` and `__type` count 1 with everything below them, `__typename` nothing. Fields that are skipped or
 * merged are counted too. The cost is linear in the size of the document.
 *
 * @example
 * complexityOf({ schema, operation, variables: {} }); // `{ users(first: 20) { name posts { title } } }`: 1 + 20 × (1 + 1 + 10 × 1) = 241
 */
export function complexityOf({ schema, operation, variables }: Measured): number {
  const { definition } = operation;
  const root = schema.getRootType(definition.operation);
  if (!root) return 0;
  return new Complexity(schema, operation, createReadSize(definition, variables)).of(definition.selectionSet, root);
}

/** The size of the lists in an object, which its field selects: of all of them, or only of some. */
interface Sized {
  readonly size: number;
  /** `undefined` if the size is multiplied already. */
  readonly only: ReadonlySet<string> | undefined;
  readonly key: string;
}

class Complexity {
  readonly #schema: GraphQLSchema;
  readonly #fragments: ReadonlyMap<string, FragmentDefinitionNode>;
  readonly #readSize: ReadSize;
  /** Of fragments by name and by the size of the field above them. */
  readonly #known = new Map<string, number>();

  constructor(schema: GraphQLSchema, { document }: Operation, readSize: ReadSize) {
    this.#schema = schema;
    this.#fragments = fragmentsOf(document);
    this.#readSize = readSize;
  }

  /** `sized`: the field above has a size, which is that of the lists here. */
  of({ selections }: SelectionSetNode, type: GraphQLCompositeType, sized?: Sized): number {
    let total = 0;
    for (const selection of selections) total += this.#selection(selection, type, sized);
    return Math.min(MAX_COMPLEXITY, total);
  }

  #selection(selection: SelectionNode, type: GraphQLCompositeType, sized?: Sized): number {
    if (selection.kind === Kind.FIELD) return this.#field(selection, type, sized);
    if (selection.kind === Kind.FRAGMENT_SPREAD) return this.#fragment(selection.name.value, sized);
    const { typeCondition, selectionSet } = selection;
    return this.of(selectionSet, typeCondition ? this.#type(typeCondition.name.value, type) : type, sized);
  }

  #fragment(name: string, sized?: Sized): number {
    const key = `${sized?.key}|${name}`;
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    this.#known.set(key, 0);
    const fragment = this.#fragments.get(name);
    const type = fragment && this.#schema.getType(fragment.typeCondition.name.value);
    const complexity = fragment && isCompositeType(type) ? this.of(fragment.selectionSet, type, sized) : 0;
    this.#known.set(key, complexity);
    return complexity;
  }

  #type(name: string, above: GraphQLCompositeType): GraphQLCompositeType {
    const type = this.#schema.getType(name);
    return isCompositeType(type) ? type : above;
  }

  #field(node: FieldNode, parent: GraphQLCompositeType, sized?: Sized): number {
    const name = node.name.value;
    if (name.startsWith('__')) return name === '__typename' ? 0 : 1;
    const field = this.#schema.getField(parent, name);
    if (!field || !node.selectionSet) return 1;
    const type = getNamedType(field.type);
    if (!isCompositeType(type)) return 1;
    const list = isListType(getNullableType(field.type));
    const { sizedFields, assumedSize } = listSizeOf(field);
    const size = this.#readSize(node.arguments ?? [], field) ?? assumedSize;
    if (!list && size !== undefined && sizedFields.size > 0) {
      const key = `${size} ${[...sizedFields].join()}`;
      return Math.min(MAX_COMPLEXITY, 1 + this.of(node.selectionSet, type, { size, only: sizedFields, key }));
    }
    const items = size ?? (list ? sizeBelow(sized, name) : 1);
    const isConnection = size !== undefined && !list;
    const below = this.of(node.selectionSet, type, isConnection ? CONNECTION : undefined);
    return Math.min(MAX_COMPLEXITY, 1 + items * below);
  }
}

/** Of a connection: its lists have been counted. */
const CONNECTION: Sized = { size: 1, only: undefined, key: 'connection' };

/** Returns the size of a list without arguments. */
function sizeBelow(sized: Sized | undefined, name: string): number {
  if (!sized) return DEFAULT_LIST_SIZE;
  return sized.only === undefined || sized.only.has(name) ? sized.size : DEFAULT_LIST_SIZE;
}
