import {
  Kind,
  parseType,
  print,
  visit,
  type ArgumentNode,
  type FieldNode,
  type GraphQLField,
  type OperationDefinitionNode,
  type SelectionNode,
  type VariableDefinitionNode,
} from 'graphql';
import { LRUCache } from 'lru-cache';
import type { OperationRequest } from '../execute/executable-api.ts';
import type { Operation } from '../document/documents.ts';

/** A root field that a subschema is asked for. */
export interface AskedField {
  readonly field: GraphQLField<unknown, unknown>;
  /** Arguments as the client wrote them, or key values and the place of their object in the client's document. */
  readonly args:
    | { readonly nodes: readonly ArgumentNode[] }
    | { readonly values: Readonly<Record<string, unknown>>; readonly place: string };
  readonly selections: readonly SelectionNode[];
}

/** An operation for one subschema, without the values of its keys. */
export interface BatchPlan {
  readonly operation: Operation;
  readonly variables: readonly string[];
  /** Prefix of the names of its other variables. */
  readonly prefix: string;
}

/** A root field, with all selections that are asked of it. */
export interface Entry {
  readonly asked: AskedField;
  readonly selections: ReadonlySet<SelectionNode>;
}

export interface PlanFor {
  readonly operation: 'query' | 'mutation';
  readonly definition: OperationDefinitionNode;
  /** Prefix of the names of variables for keys; the client's document does not contain it. */
  readonly prefix: string;
  /** True if later requests use the same nodes. */
  readonly lasting: boolean;
}

const MAX_KNOWN = 1000;

/** The plans of one joined API. Each is made once and kept in an LRU cache. */
export class BatchPlans {
  readonly #operations = new LRUCache<string, Operation>({ max: MAX_KNOWN });
  readonly #plans = new LRUCache<string, BatchPlan>({ max: MAX_KNOWN });
  readonly #numbers = new WeakMap<object, number>();
  #last = 0;

  of(wanted: PlanFor, entries: readonly Entry[]): BatchPlan {
    if (!wanted.lasting) return this.#make(wanted, entries);
    const shape = this.#shape(wanted, entries);
    let known = this.#plans.get(shape);
    if (!known) this.#plans.set(shape, (known = this.#make(wanted, entries)));
    return known;
  }

  #make({ operation, definition, prefix }: PlanFor, entries: readonly Entry[]): BatchPlan {
    const own: VariableDefinitionNode[] = [];
    const selections = entries.map((entry, index) => rootField(entry, index, { prefix, own }));
    const used = variablesIn(selections);
    const kept = (definition.variableDefinitions ?? []).filter((each) => used.has(each.variable.name.value));
    const made = {
      kind: Kind.OPERATION_DEFINITION,
      operation,
      variableDefinitions: [...kept, ...own],
      selectionSet: { kind: Kind.SELECTION_SET, selections },
    } as OperationDefinitionNode;
    return { operation: this.#operation(made), variables: kept.map((each) => each.variable.name.value), prefix };
  }

  /** Returns the same object for the same text, so that the subschema plans it once. */
  #operation(definition: OperationDefinitionNode): Operation {
    const text = print(definition);
    let found = this.#operations.get(text);
    if (!found) {
      found = { document: { kind: Kind.DOCUMENT, definitions: [definition] }, definition, text, name: undefined };
      this.#operations.set(text, found);
    }
    return found;
  }

  /** Returns everything that a plan depends on, by the identity of its nodes: much shorter than its text. */
  #shape({ operation, definition }: PlanFor, entries: readonly Entry[]): string {
    let shape = `${operation} ${this.#number(definition)}`;
    for (const { asked, selections } of entries) {
      const args = 'values' in asked.args ? Object.keys(asked.args.values).join() : this.#number(asked.args.nodes);
      shape += ` ${this.#number(asked.field)}(${args})`;
      for (const selection of selections) shape += `,${this.#number(selection)}`;
    }
    return shape;
  }

  #number(node: object): number {
    let number = this.#numbers.get(node);
    if (number === undefined) this.#numbers.set(node, (number = ++this.#last));
    return number;
  }
}

/** Returns the values of the variables of a plan: those of the client that it uses, and the keys. */
export function variablesOf(
  { variables, prefix }: BatchPlan,
  entries: readonly Entry[],
  given: OperationRequest['variables'],
): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  for (const each of variables) if (Object.hasOwn(given, each)) values[each] = given[each];
  for (const [index, { asked }] of entries.entries()) {
    if (!('values' in asked.args)) continue;
    for (const [argument, value] of Object.entries(asked.args.values)) values[`${prefix}${index}_${argument}`] = value;
  }
  return values;
}

interface KeyVariables {
  readonly prefix: string;
  readonly own: VariableDefinitionNode[];
}

function rootField({ asked, selections }: Entry, index: number, keys: KeyVariables): FieldNode {
  return {
    kind: Kind.FIELD,
    alias: name(`_${index}`),
    name: name(asked.field.name),
    arguments: argumentsOf(asked, index, keys),
    ...(selections.size > 0 && {
      selectionSet: { kind: Kind.SELECTION_SET, selections: [...selections] } as const,
    }),
  };
}

/** Key values are sent as variables, so that the text stays the same. */
function argumentsOf(
  { field, args }: AskedField,
  index: number,
  { prefix, own }: KeyVariables,
): readonly ArgumentNode[] {
  if ('nodes' in args) return args.nodes;
  return Object.keys(args.values).map((argument) => {
    const variable = { kind: Kind.VARIABLE, name: name(`${prefix}${index}_${argument}`) } as const;
    const { type } = field.args.find((each) => each.name === argument)!;
    own.push({ kind: Kind.VARIABLE_DEFINITION, variable, type: parseType(String(type)) });
    return { kind: Kind.ARGUMENT, name: name(argument), value: variable };
  });
}

function variablesIn(selections: readonly SelectionNode[]): Set<string> {
  const used = new Set<string>();
  for (const selection of selections) visit(selection, { Variable: (node) => void used.add(node.name.value) });
  return used;
}

function name(value: string): FieldNode['name'] {
  return { kind: Kind.NAME, value };
}
