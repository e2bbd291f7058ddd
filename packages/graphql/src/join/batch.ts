import type { ArgumentNode, GraphQLField, SelectionNode } from 'graphql';
import type { ApiResult, OperationRequest, ResultError } from '../api/executable-api.ts';
import { variablesOf, type BatchPlans } from './batch-plan.ts';
import { withErrors } from './result.ts';
import type { Subschema } from './subschema.ts';

/** Key values, and the place of the client's document where the object is that they are for. */
interface KeyArgs {
  readonly values: Readonly<Record<string, unknown>>;
  readonly place: string;
}

/** A root field that is asked for. */
export interface Asked {
  readonly field: GraphQLField<unknown, unknown>;
  /** Arguments as the client wrote them, or values. */
  readonly args: { readonly nodes: readonly ArgumentNode[] } | KeyArgs;
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
  readonly plans: BatchPlans;
  /** Of the names of variables for keys. */
  readonly keyPrefix: string;
  /** Whether later requests ask with the same nodes. */
  readonly lasting: boolean;
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

/**
 * Fields asked by key are joined when key and place are the same: in another place, what is selected here may have no value, and
 * take the whole object with it. Those of the client stand alone.
 */
function keyOf({ field, args }: Asked, position: number): string {
  return 'values' in args ? `${field.name} ${args.place} ${JSON.stringify(args.values)}` : `#${position}`;
}

/**
 * Objects that have no value only because another one, which must have one, had none: each is asked for alone. None where nothing
 * says whose fault it was, as of a server that is away.
 */
function spoilt(entries: readonly Entry[], { data, errors = [] }: ApiResult): readonly Entry[] {
  if (data !== null || !entries.every(({ asked }) => 'values' in asked.args)) return [];
  const guilty = new Set(errors.map(({ path }) => path?.[0]));
  const others = entries.filter((_entry, index) => !guilty.has(`_${index}`));
  return others.length < entries.length ? others : [];
}

async function send(entries: readonly Entry[], context: BatchContext): Promise<void> {
  let valueOf: (rootField: string) => unknown;
  try {
    const result = await run(entries, context);
    context.onResult(result);
    valueOf = withErrors(result, context.onElsewhere);
    const alone = spoilt(entries, result);
    await Promise.all(alone.map((entry) => send([entry], context)));
  } catch (error) {
    context.onResult({});
    valueOf = () => error;
  }
  for (const [index, { resolves }] of entries.entries()) {
    const value = valueOf(`_${index}`);
    for (const resolve of resolves) resolve(value);
  }
}

function run(entries: readonly Entry[], context: BatchContext): ApiResult | Promise<ApiResult> {
  const { subschema, request, operation, plans, keyPrefix: prefix, lasting } = context;
  const { definition } = request.operation;
  const plan = plans.of({ operation, definition, prefix, lasting }, entries);
  const variables = variablesOf(plan, entries, request.variables);
  return subschema.api.execute({ ...request, operation: plan.operation, variables, extensions: {} });
}
