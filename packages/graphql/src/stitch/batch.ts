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
  type TypeNode,
  type VariableDefinitionNode,
} from 'graphql';
import { LRUCache } from 'lru-cache';
import type { ApiResult, Operation, OperationRequest, ResultError } from '../api.ts';
import { withErrors } from './result.ts';
import type { Subschema } from './subschema.ts';

/** A root field that is asked for. */
export interface Asked {
  readonly field: GraphQLField<unknown, unknown>;
  /** Arguments as the client wrote them, or values. */
  readonly args: { readonly nodes: readonly ArgumentNode[] } | { readonly values: Readonly<Record<string, unknown>> };
  readonly selections: readonly SelectionNode[];
}

/** Asks one subschema: what is asked for in one turn goes into one operation, equal keys once. */
export interface Batch {
  /** The value of the root field; errors stand in it where their value would be. Never rejects for what a backend does. */
  ask(asked: Asked): Promise<unknown>;
}

/** Root fields in one operation. */
const MAX_FIELDS = 50;

interface Entry {
  readonly asked: Asked;
  readonly selections: Set<SelectionNode>;
  readonly resolves: ((value: unknown) => void)[];
}

export interface BatchContext {
  readonly subschema: Subschema;
  readonly request: OperationRequest;
  readonly operation: 'query' | 'mutation';
  /** Operations by their text, kept between requests. */
  readonly operations: LRUCache<string, Operation>;
  /** Told each result of the subschema. */
  onResult(result: ApiResult): void;
  /** Told each error of the subschema that took no value. */
  onElsewhere(error: ResultError): void;
}

/** Makes the batch of one subschema for one operation of a client. */
export function createBatch(context: BatchContext): Batch {
  let waiting = new Map<string, Entry>();

  function flush(): void {
    const entries = [...waiting.values()];
    waiting = new Map();
    for (let i = 0; i < entries.length; i += MAX_FIELDS) void send(entries.slice(i, i + MAX_FIELDS), context);
  }

  return {
    ask: (asked) =>
      new Promise((resolve) => {
        const key = keyOf(asked, waiting.size);
        const entry = waiting.get(key) ?? { asked, selections: new Set<SelectionNode>(), resolves: [] };
        for (const selection of asked.selections) entry.selections.add(selection);
        entry.resolves.push(resolve);
        if (waiting.size === 0) setImmediate(flush);
        waiting.set(key, entry);
      }),
  };
}

/** Fields asked by key are joined when the key is the same; those of the client stand alone. */
function keyOf({ field, args }: Asked, position: number): string {
  return 'values' in args ? `${field.name} ${JSON.stringify(args.values)}` : `#${position}`;
}

async function send(entries: readonly Entry[], context: BatchContext): Promise<void> {
  let data: Readonly<Record<string, unknown>> | Error;
  try {
    const result = await run(entries, context);
    context.onResult(result);
    data = withErrors(result, context.onElsewhere);
  } catch (error) {
    context.onResult({});
    data = error as Error;
  }
  for (const [index, { resolves }] of entries.entries()) {
    const value = data instanceof Error ? data : data[`_${index}`];
    for (const resolve of resolves) resolve(value);
  }
}

function run(entries: readonly Entry[], context: BatchContext): ApiResult | Promise<ApiResult> {
  const { subschema, request, operation, operations } = context;
  const variables: Record<string, unknown> = { ...request.variables };
  const definitions = [...(request.operation.definition.variableDefinitions ?? [])];
  const selections = entries.map((entry, index): FieldNode => ({
    kind: Kind.FIELD,
    alias: name(`_${index}`),
    name: name(entry.asked.field.name),
    arguments: argumentsOf(entry.asked, `_stitch_${index}_`, { variables, definitions }),
    ...(entry.selections.size > 0 && {
      selectionSet: { kind: Kind.SELECTION_SET, selections: [...entry.selections] } as const,
    }),
  }));
  const used = variablesIn(selections);
  const kept = definitions.filter((each) => used.has(each.variable.name.value));
  const sent = Object.fromEntries(Object.entries(variables).filter(([each]) => used.has(each)));
  return subschema.api.execute({
    ...request,
    operation: operationOf({ operation, selections, definitions: kept }, operations),
    variables: sent,
    extensions: {},
  });
}

interface Given {
  readonly variables: Record<string, unknown>;
  readonly definitions: VariableDefinitionNode[];
}

/** Key values travel as variables, so that the text stays the same. */
function argumentsOf(
  { field, args }: Asked,
  prefix: string,
  { variables, definitions }: Given,
): readonly ArgumentNode[] {
  if ('nodes' in args) return args.nodes;
  return Object.entries(args.values).map(([argument, value]) => {
    const variable = `${prefix}${argument}`;
    const { type } = field.args.find((each) => each.name === argument)!;
    definitions.push(variableDefinition(variable, parseType(String(type))));
    variables[variable] = value;
    return { kind: Kind.ARGUMENT, name: name(argument), value: { kind: Kind.VARIABLE, name: name(variable) } };
  });
}

interface Parts {
  readonly operation: 'query' | 'mutation';
  readonly selections: readonly SelectionNode[];
  readonly definitions: readonly VariableDefinitionNode[];
}

/** The same text gives the same object, so that the subschema plans it once. */
function operationOf({ operation, selections, definitions }: Parts, known: LRUCache<string, Operation>): Operation {
  const definition = {
    kind: Kind.OPERATION_DEFINITION,
    operation,
    variableDefinitions: definitions,
    selectionSet: { kind: Kind.SELECTION_SET, selections },
  } as OperationDefinitionNode;
  const text = print(definition);
  let found = known.get(text);
  if (!found) {
    found = { document: { kind: Kind.DOCUMENT, definitions: [definition] }, definition, text, name: undefined };
    known.set(text, found);
  }
  return found;
}

function variablesIn(selections: readonly SelectionNode[]): Set<string> {
  const used = new Set<string>();
  for (const selection of selections) visit(selection, { Variable: (node) => void used.add(node.name.value) });
  return used;
}

function variableDefinition(variable: string, type: TypeNode): VariableDefinitionNode {
  return { kind: Kind.VARIABLE_DEFINITION, variable: { kind: Kind.VARIABLE, name: name(variable) }, type };
}

function name(value: string): FieldNode['name'] {
  return { kind: Kind.NAME, value };
}
