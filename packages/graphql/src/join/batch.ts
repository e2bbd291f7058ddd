import type { SelectionNode } from 'graphql';
import type { ApiResult, OperationRequest, ResultError } from '../execute/executable-api.ts';
import { variablesOf, type AskedField, type BatchPlans, type Entry, type PlanFor } from './batch-plan.ts';
import { withErrors } from './result.ts';
import type { Subschema } from './subschema.ts';

/**
 * Queries one subschema: the fields of one turn of the event loop share one operation, equal keys once. Returns the value of the root
 * field, with errors in place of the values that failed. Never rejects for failures of a backend.
 */
export type AskSubschema = (asked: AskedField) => Promise<unknown>;

const MAX_FIELDS = 50;

interface Waiting extends Entry {
  readonly selections: Set<SelectionNode>;
  readonly resolves: ((value: unknown) => void)[];
}

export interface BatchContext {
  readonly subschema: Subschema;
  readonly request: OperationRequest;
  readonly wanted: PlanFor;
  readonly plans: BatchPlans;
  /** Receives each result of the subschema. */
  onResult(result: ApiResult): void;
  /** Receives each error of the subschema that no value is missing for. */
  onElsewhere(error: ResultError): void;
}

export function createBatch(context: BatchContext): AskSubschema {
  let waiting = new Map<string, Waiting>();

  function flush(): void {
    const entries = [...waiting.values()];
    waiting = new Map();
    for (let i = 0; i < entries.length; i += MAX_FIELDS) void send(entries.slice(i, i + MAX_FIELDS), context);
  }

  return (asked) =>
    new Promise((resolve) => {
      const key = keyOf(asked, waiting.size);
      const entry = waiting.get(key) ?? { asked, selections: new Set<SelectionNode>(), resolves: [] };
      for (const selection of asked.selections) entry.selections.add(selection);
      entry.resolves.push(resolve);
      if (waiting.size === 0) setImmediate(flush);
      waiting.set(key, entry);
    });
}

/** Returns the same text for fields with the same key and place, which are asked once; root fields of clients are not joined. */
function keyOf({ field, args }: AskedField, position: number): string {
  return 'values' in args ? `${field.name} ${args.place} ${JSON.stringify(args.values)}` : `#${position}`;
}

/** Returns the objects that are missing only because another one failed: each is requested again on its own. */
function collateral(entries: readonly Waiting[], { data, errors = [] }: ApiResult): readonly Waiting[] {
  if (data !== null || !entries.every(({ asked }) => 'values' in asked.args)) return [];
  const failedAliases = new Set(errors.map(({ path }) => path?.[0]));
  const others = entries.filter((_entry, index) => !failedAliases.has(`_${index}`));
  return others.length < entries.length ? others : [];
}

async function send(entries: readonly Waiting[], context: BatchContext): Promise<void> {
  let valueOf: (rootField: string) => unknown;
  try {
    const result = await run(entries, context);
    context.onResult(result);
    valueOf = withErrors(result, context.onElsewhere);
    const retried = collateral(entries, result);
    await Promise.all(retried.map((entry) => send([entry], context)));
  } catch (error) {
    context.onResult({});
    valueOf = () => error;
  }
  for (const [index, { resolves }] of entries.entries()) {
    const value = valueOf(`_${index}`);
    for (const resolve of resolves) resolve(value);
  }
}

function run(entries: readonly Waiting[], context: BatchContext): ApiResult | Promise<ApiResult> {
  const { subschema, request, wanted, plans } = context;
  const plan = plans.of(wanted, entries);
  const variables = variablesOf(plan, entries, request.variables);
  return subschema.api.execute({ ...request, operation: plan.operation, variables, extensions: {} });
}
