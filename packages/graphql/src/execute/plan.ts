import {
  GraphQLIncludeDirective,
  GraphQLSkipDirective,
  Kind,
  getArgumentValues,
  getDirectiveValues,
  getNamedType,
  getNullableType,
  isAbstractType,
  isListType,
  isObjectType,
  typeFromAST,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLField,
  type GraphQLNamedOutputType,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type SelectionSetNode,
  type ValueNode,
  type VariableValues,
} from 'graphql';
import type { Operation } from '../document/documents.ts';
import { shownFailure } from '../errors/field-failure.ts';
import { completionOf } from './complete.ts';
import type { Children, FieldPlan, Plan, PlanContext, ResolveField, Selection } from './field-plan.ts';

/** Quotes, colon, and a comma or bracket. */
const PUNCTUATION_BYTES = 4;
const NO_ARGUMENTS = Object.freeze({});
const NO_CHILDREN: Children = { of: () => [], all: () => [] };

/** Plans an operation. `variables` are those of `@skip` and `@include`; the plan keeps them. */
export function planOperation(operation: Operation, context: PlanContext, variables: VariableValues | undefined): Plan {
  const { definition, document } = operation;
  const fragments = Object.create(null) as Record<string, FragmentDefinitionNode>;
  for (const one of document.definitions) {
    if (one.kind === Kind.FRAGMENT_DEFINITION) fragments[one.name.value] = one;
  }
  const root = context.schema.getRootType(definition.operation)!;
  const planner = new Planner(context, fragments, variables);
  const selection = planner.selection(root, [definition.selectionSet], 1);
  return { schema: context.schema, selection, fragments, values: context.values };
}

class Planner {
  readonly #context: PlanContext;
  readonly #fragments: Plan['fragments'];
  readonly #variables: VariableValues | undefined;
  /** Numbers of the visited sets. */
  readonly #numbers = new Map<SelectionSetNode, number>();
  /** Selections by type, depth and sets, each planned once. */
  readonly #known = new Map<string, Selection>();
  /** Children of named types, by the same keys. */
  readonly #children = new Map<string, Children>();

  constructor(context: PlanContext, fragments: Plan['fragments'], variables: VariableValues | undefined) {
    this.#context = context;
    this.#fragments = fragments;
    this.#variables = variables;
  }

  selection(
    type: GraphQLObjectType,
    sets: readonly SelectionSetNode[],
    depth: number,
    place: string = this.#placeOf(sets, depth),
  ): Selection {
    const key = `${type.name} ${place}`;
    let made = this.#known.get(key);
    if (!made) this.#known.set(key, (made = this.#select(type, sets, depth)));
    return made;
  }

  #childrenOf(named: GraphQLNamedOutputType, sets: readonly SelectionSetNode[], depth: number): Children {
    const place = this.#placeOf(sets, depth);
    const key = `${named.name} ${place}`;
    const known = this.#children.get(key);
    if (known) return known;
    const selections = new Map<GraphQLObjectType, Selection>();
    const of = (type: GraphQLObjectType): Selection => {
      let selection = selections.get(type);
      if (!selection) selections.set(type, (selection = this.selection(type, sets, depth, place)));
      return selection;
    };
    const made: Children = { of, all: () => this.#objectTypes(named).map(of) };
    this.#children.set(key, made);
    return made;
  }

  #objectTypes(named: GraphQLNamedOutputType): readonly GraphQLObjectType[] {
    if (isObjectType(named)) return [named];
    return isAbstractType(named) ? this.#context.schema.getPossibleTypes(named) : [];
  }

  #placeOf(sets: readonly SelectionSetNode[], depth: number): string {
    return `${depth} ${sets.map((set) => this.#number(set)).join(' ')}`;
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
    return this.#fragments[name];
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
    const isIntrospection = name.startsWith('__') || parentType.name.startsWith('__');
    const tooDeep = maxDepth > 0 && depth > maxDepth && !isIntrospection;
    const sets = nodes.flatMap((one) => one.selectionSet ?? []);
    const hasChildren = sets.length > 0 && !tooDeep;
    const named = getNamedType(definition.type);
    const children = hasChildren ? this.#childrenOf(named, sets, depth + 1) : NO_CHILDREN;
    const { schema, values } = this.#context;
    const nullableType = getNullableType(definition.type) as GraphQLOutputType;
    return {
      key,
      name,
      nodes,
      definition,
      parentType,
      resolve: tooDeep ? deeper(name, maxDepth) : this.#resolver(parentType, definition),
      args: this.#args(definition, node),
      complete: completionOf(nullableType, { schema, values, children }),
      leaf: sets.length === 0 && !isListType(nullableType),
      nullable: nullableType === definition.type,
      bytes: key.length + PUNCTUATION_BYTES,
      shadowsPrototype: key in Object.prototype || name in Object.prototype,
      children,
    };
  }

  #args(definition: GraphQLField<unknown, unknown>, node: FieldNode): FieldPlan['args'] {
    if (definition.args.length === 0) return NO_ARGUMENTS;
    return this.#context.values === 'any' || usesVariables(node) ? undefined : getArgumentValues(definition, node);
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
