import type { ApiResult, OperationRequest } from './executable-api.ts';
import { isRefusal } from '../errors/refusal.ts';
import { Located, note, stoppedBy } from './errors.ts';
import { completeFields, completeSerially } from './execute.ts';
import type { Plan, PlanContext, Run, RunOptions } from './field-plan.ts';
import { createPlans } from './plans.ts';
import { ExecutionStopped, ResultSize, type ResultLimits } from './result-size.ts';
import { coerceVariables } from './variables.ts';

/** The result of an operation, and its plan, which is missing if the operation was rejected. */
export interface Executed extends Pick<ApiResult, 'data' | 'errors'> {
  readonly plan?: Plan;
}

export interface EngineContext extends PlanContext {
  readonly limits: ResultLimits;
}

/** Creates the engine of a schema: each operation object is planned once. */
export function createEngine(context: EngineContext) {
  const planOf = createPlans(context);
  return {
    /** Returns at once unless a resolver is asynchronous. Never rejects for failures of resolvers. */
    execute(
      request: Pick<OperationRequest, 'operation' | 'variables'>,
      options: RunOptions,
    ): Executed | Promise<Executed> {
      const { operation } = request;
      const variables = coerceVariables(context.schema, request);
      if (variables && !('coerced' in variables)) return variables;
      const plan = planOf(operation, variables);
      if (isRefusal(plan)) return { errors: plan.errors };
      const size = new ResultSize(context.limits);
      const run: Run = { operation, plan, variables, options, errors: [], size, paused: [] };
      return operation.definition.operation === 'mutation' ? inTurn(run) : atOnce(run);
    },
  };
}

/** Executes operations on one schema. */
export type Engine = ReturnType<typeof createEngine>;

function atOnce(run: Run): Executed | Promise<Executed> {
  try {
    const data = completeFields(run.plan.selection, run.options.rootValue, { path: undefined, run });
    if (!(data instanceof Promise)) return executed(data, run);
    return data.then(
      (done: unknown) => executed(done, run),
      (error: unknown) => withoutData(error, run),
    );
  } catch (error) {
    return withoutData(error, run);
  }
}

async function inTurn(run: Run): Promise<Executed> {
  try {
    const data = await completeSerially(run.plan.selection, run.options.rootValue, { path: undefined, run });
    return executed(data, run);
  } catch (error) {
    return withoutData(error, run);
  }
}

function executed(data: unknown, { plan, errors }: Run): Executed {
  return errors.length > 0 ? { plan, data, errors } : { plan, data };
}

/** Returns the result if a non-null violation propagated to the root, or the execution was stopped. */
function withoutData(error: unknown, run: Run): Executed {
  if (error instanceof ExecutionStopped) return { plan: run.plan, data: null, errors: [stoppedBy(error, run)] };
  if (!(error instanceof Located)) throw error;
  note(run, error);
  return { plan: run.plan, data: null, errors: run.errors };
}
