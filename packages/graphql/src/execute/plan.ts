import {
  GraphQLIncludeDirective,
  GraphQLSkipDirective,
  Kind,
  getArgumentValues,
  getDirectiveValues,
  getNullableType,
  isAbstractType,
  isListType,
  isObjectType,
  typeFromAST,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLSchema,
  type SelectionSetNode,
  type ValueNode,
  type VariableValues,
} from 'graphql';
import type { Operation } from '../api.ts';
import { shownFailure } from '../field-failure.ts';
import { compileCompletion, type Complete } from './complete.ts';
import type { Run } from './run.ts';

/** Gives the value of a field that is not simply a key of its parent. */
export type ResolveField = (parent: unknown, args: Readonly<Record<string, unknown>>, run: Run) => unknown;

/** One field of a selection, with all that does not depend on data. */
export interface FieldPlan {
  /** In the result. */
  readonly key: string;
  readonly name: string;
  readonly node: FieldNode;
  readonly definition: GraphQLField<unknown, unknown>;
  readonly parentType: GraphQLObjectType;
  readonly resolve: ResolveField | undefined;
  /** Those without variables; else they are made for each request. */
  readonly args: Readonly<Record<string, unknown>> | undefined;
  readonly complete: Complete;
  /** Has no place of its own below it. */
  readonly leaf: boolean;
  readonly nullable: boolean;
  /** The key or the name means something on every object. */
  readonly odd: boolean;
  /** Selections by the type of the value; empty for leaves. */
  readonly children: ReadonlyMap<GraphQLObjectType, Selection>;
}

export type Selection = readonly FieldPlan[];

/** What plans are made from. */
export interface PlanContext {
  readonly schema: GraphQLSchema;
  /** The resolver of a field; `undefined` reads the key of the parent. */
  resolverOf(type: GraphQLObjectType, field: GraphQLField<unknown, unknown>): ResolveField | undefined;
  /** Fields deeper than this are errors; 0 is no limit. */
  readonly maxDepth: number;
}

/** Plans an operation. `variables` decide what `@skip` and `@include` leave. */
export function planOperation(
  operation: Operation,
  context: PlanContext,
  variables: VariableValues | undefined,
): Selection {
  const { definition, document } = operation;
  const fragments = new Map<string, FragmentDefinitionNode>();
  for (const one of document.definitions) {
    if (one.kind === Kind.FRAGMENT_DEFINITION) fragments.set(one.name.value, one);
  }
  const root = context.schema.getRootType(definition.operation)!;
  return new Planner(context, fragments, variables).selection(root, [definition.selectionSet], 1);
}

class Planner {
  readonly #context: PlanContext;
  readonly #fragments: ReadonlyMap<string, FragmentDefinitionNode>;
  readonly #variables: VariableValues | undefined;
  /** Numbers of the sets that were met. */
  readonly #numbers = new Map<SelectionSetNode, number>();
  /** Selections by type, sets and depth: types of an interface that select the same share what is below them. */
  readonly #known = new Map<string, Selection>();

  constructor(
    context: PlanContext,
    fragments: ReadonlyMap<string, FragmentDefinitionNode>,
    variables: VariableValues | undefined,
  ) {
    this.#context = context;
    this.#fragments = fragments;
    this.#variables = variables;
  }

  selection(type: GraphQLObjectType, sets: readonly SelectionSetNode[], depth: number): Selection {
    const place = `${type.name} ${depth} ${sets.map((set) => this.#number(set)).join(' ')}`;
    let made = this.#known.get(place);
    if (!made) this.#known.set(place, (made = this.#select(type, sets, depth)));
    return made;
  }

  #number(set: SelectionSetNode): number {
    let number = this.#numbers.get(set);
    if (number === undefined) this.#numbers.set(set, (number = this.#numbers.size));
    return number;
  }

  #select(type: GraphQLObjectType, sets: readonly SelectionSetNode[], depth: number): Selection {
    const groups = new Map<string, FieldNode[]>();
    const visited = new Set<string>();
    for (const set of sets) this.#collect(type, set, groups, visited);
    return Array.from(groups, ([key, nodes]) => this.#field(type, key, nodes, depth));
  }

  #collect(type: GraphQLObjectType, set: SelectionSetNode, groups: Map<string, FieldNode[]>, visited: Set<string>) {
    for (const selection of set.selections) {
      if (!this.#included(selection)) continue;
      if (selection.kind === Kind.FIELD) {
        const key = (selection.alias ?? selection.name).value;
        const group = groups.get(key);
        if (group) group.push(selection);
        else groups.set(key, [selection]);
        continue;
      }
      const inner = selection.kind === Kind.INLINE_FRAGMENT ? selection : this.#open(selection.name.value, visited);
      if (inner && this.#applies(inner.typeCondition, type)) this.#collect(type, inner.selectionSet, groups, visited);
    }
  }

  #open(name: string, visited: Set<string>): FragmentDefinitionNode | undefined {
    if (visited.has(name)) return undefined;
    visited.add(name);
    return this.#fragments.get(name);
  }

  #included(selection: SelectionSetNode['selections'][number]): boolean {
    if (!selection.directives?.length) return true;
    const skip = getDirectiveValues(GraphQLSkipDirective, selection, this.#variables);
    if (skip?.['if'] === true) return false;
    return getDirectiveValues(GraphQLIncludeDirective, selection, this.#variables)?.['if'] !== false;
  }

  #applies(condition: FragmentDefinitionNode['typeCondition'] | undefined, type: GraphQLObjectType): boolean {
    if (!condition) return true;
    const wanted = typeFromAST(this.#context.schema, condition);
    if (wanted === type) return true;
    return wanted !== undefined && isAbstractType(wanted) && this.#context.schema.isSubType(wanted, type);
  }

  #field(parentType: GraphQLObjectType, key: string, nodes: readonly FieldNode[], depth: number): FieldPlan {
    const [node] = nodes as [FieldNode];
    const name = node.name.value;
    const definition = this.#context.schema.getField(parentType, name)!;
    const { maxDepth } = this.#context;
    const tooDeep = maxDepth > 0 && depth > maxDepth && !name.startsWith('__');
    const children = new Map<GraphQLObjectType, Selection>();
    const { complete, named, nullable } = compileCompletion(definition.type, {
      schema: this.#context.schema,
      children,
    });
    const sets = nodes.flatMap((one) => one.selectionSet ?? []);
    if (sets.length > 0 && !tooDeep) {
      const types = isObjectType(named)
        ? [named]
        : isAbstractType(named)
          ? this.#context.schema.getPossibleTypes(named)
          : [];
      for (const type of types) children.set(type, this.selection(type, sets, depth + 1));
    }
    return {
      key,
      name,
      node,
      definition,
      parentType,
      resolve: tooDeep ? deeper(name, maxDepth) : this.#resolver(parentType, definition),
      args: usesVariables(node) ? undefined : getArgumentValues(definition, node),
      complete,
      leaf: sets.length === 0 && !isListType(getNullableType(definition.type)),
      nullable,
      odd: key in Object.prototype || name in Object.prototype,
      children,
    };
  }

  #resolver(type: GraphQLObjectType, field: GraphQLField<unknown, unknown>): ResolveField | undefined {
    if (field.name === '__typename') return () => type.name;
    return this.#context.resolverOf(type, field);
  }
}

function deeper(name: string, maxDepth: number): ResolveField {
  return () => {
    throw shownFailure(`field '${name}' exceeds the max operation depth of ${maxDepth} for this schema`);
  };
}

function usesVariables(node: FieldNode): boolean {
  return (node.arguments ?? []).some(({ value }) => hasVariable(value));
}

function hasVariable(value: ValueNode): boolean {
  if (value.kind === Kind.VARIABLE) return true;
  if (value.kind === Kind.LIST) return value.values.some(hasVariable);
  return value.kind === Kind.OBJECT && value.fields.some((field) => hasVariable(field.value));
}
