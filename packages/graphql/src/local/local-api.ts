import type { Logger } from '@edge-gateway/core';
import type { GraphQLApiSpec } from '@edge-gateway/core/schema';
import type { GraphQLField, GraphQLObjectType } from 'graphql';
import type { ApiResult, ExecutableApi, OperationRequest } from '../api.ts';
import { completeFields, completeSerially } from '../execute/execute.ts';
import type { ResolveField } from '../execute/plan.ts';
import { Located, note, type Run } from '../execute/run.ts';
import { coerceVariables } from '../execute/variables.ts';
import { isRefusal, refusedResult } from '../refusal.ts';
import { createCallBudget } from '../resolvers/call-budget.ts';
import { createCalls } from '../resolvers/calls.ts';
import { compileResolutions } from '../resolvers/resolutions.ts';
import type { ResolverContext } from '../resolvers/resolver.ts';
import { traceOf } from '../trace/span.ts';
import { cacheControl } from './cache-policy.ts';
import { createPlans, type Plan } from './plans.ts';
import { readSchema } from './schema.ts';

export type ExecutableSchema = NonNullable<GraphQLApiSpec['executableSchema']>;

/** What a local API is made with. */
export interface LocalContext extends ResolverContext {
  readonly log: Logger;
  /** Name of the API, for the log. */
  readonly name: string;
}

const ROOT = Object.freeze({});

/** Makes an API that runs operations here. Throws an `Error` that says what cannot be served. */
export function createLocalApi(executable: ExecutableSchema, context: LocalContext): ExecutableApi {
  const { schema, resolutions, cacheHints } = readSchema(executable.schemaDefinition ?? '');
  const local = executable.executor?.local ?? {};
  const resolvers = compileResolutions(local.resolutions ?? {}, executable.grpcDescriptorRegistry, context);
  for (const [place, name] of resolutions) {
    if (!resolvers.has(name)) throw new Error(`${place}: there is no resolution '${name}'`);
  }
  const resolverAt = (place: string) => resolvers.get(resolutions.get(place) ?? '');
  const planOf = createPlans({
    context: {
      schema,
      maxDepth: local.options?.maxDepth ?? 0,
      resolverOf: (type, field) => resolverAt(`${type.name}.${field.name}`)?.resolve ?? introspect(type, field),
    },
    cacheHints,
    usesClient: (place) => resolverAt(place)?.usesClient === true,
  });

  function execute(request: OperationRequest): ApiResult | Promise<ApiResult> {
    const { definition } = request.operation;
    const variables = coerceVariables(schema, request);
    if (variables && !('coerced' in variables)) return variables;
    const plan = planOf(request.operation, variables);
    if (isRefusal(plan)) return refusedResult(plan);
    const run: Run = {
      request,
      variables,
      calls: createCalls(request.budget ?? createCallBudget(context.limits), request.signal),
      trace: traceOf(request.facts),
      errors: [],
      onFailure: (reason, path) => logFailure(context, request, { reason, path }),
    };
    return definition.operation === 'mutation' ? mutate(plan, run) : query(plan, run);
  }

  return {
    schema,
    introspection: local.enableIntrospection === true,
    execute,
    close: () => resolvers.close(),
  };

  function introspect(type: GraphQLObjectType, field: GraphQLField<unknown, unknown>): ResolveField | undefined {
    const { resolve } = field;
    // Only the fields of the introspection system bring a resolver of their own, which reads no more than the schema.
    if (!resolve || !(type.name.startsWith('__') || field.name.startsWith('__'))) return undefined;
    const info = { schema } as Parameters<typeof resolve>[3];
    return (parent, args) => {
      const value = resolve(parent, args, undefined, info);
      return isIterable(value) ? [...value] : value;
    };
  }
}

function isIterable(value: unknown): value is Iterable<unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && Symbol.iterator in value;
}

function query(plan: Plan, run: Run): ApiResult | Promise<ApiResult> {
  try {
    const data = completeFields(plan.selection, ROOT, { path: undefined, run });
    if (!(data instanceof Promise)) return resultOf(data, plan, run);
    return data.then(
      (done: unknown) => resultOf(done, plan, run),
      (error: unknown) => withoutData(error, run),
    );
  } catch (error) {
    return withoutData(error, run);
  }
}

async function mutate(plan: Plan, run: Run): Promise<ApiResult> {
  try {
    const data = await completeSerially(plan.selection, ROOT, { path: undefined, run });
    return { data, errors: run.errors };
  } catch (error) {
    return withoutData(error, run);
  }
}

function resultOf(data: unknown, { policy }: Plan, { errors, request }: Run): ApiResult {
  if (errors.length > 0) return { data, errors };
  const { maxAge, scope } = policy;
  const isPublic = scope === 'public' || (scope === 'unset' && request.personal !== true);
  const control = cacheControl(maxAge, isPublic ? 'public' : 'private');
  if (control === undefined) return { data };
  return {
    data,
    cacheControl: control,
    ...(isPublic && { sharedForSeconds: maxAge }),
    ...(scope === 'public' && { declaredPublic: true }),
  };
}

/** A field that must have a value had none, up to the operation itself. */
function withoutData(error: unknown, run: Run): ApiResult {
  if (!(error instanceof Located)) throw error;
  note(run, error);
  return { data: null, errors: run.errors };
}

interface Failure {
  readonly reason: string;
  readonly path: readonly (string | number)[];
}

function logFailure({ log, name }: LocalContext, { facts }: OperationRequest, { reason, path }: Failure): void {
  log.warn({ api: name, requestId: facts.requestId, path: path.join('.'), reason }, 'a field could not be resolved');
}
