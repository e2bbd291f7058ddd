import type { Logger } from '@edge-gateway/core';
import type { GraphQLApiSpec } from '@edge-gateway/core/schema';
import type { GraphQLField, GraphQLObjectType } from 'graphql';
import type { ApiResult, ExecutableApi, OperationRequest } from './executable-api.ts';
import { createEngine, type Executed } from './engine.ts';
import type { ResolveField } from './field-plan.ts';
import { CallBudget, Calls } from '../resolvers/calls.ts';
import { compileResolutions } from '../resolvers/resolutions.ts';
import type { ResolverContext, ResolverRun } from '../resolvers/resolver.ts';
import { traceOf } from '../observe/span.ts';
import { cacheControl, createCachePolicies, type CachePolicy } from './cache-policy.ts';
import { addResolvers } from './executable-schema.ts';
import { logFailure } from '../observe/failure-log.ts';
import { readSchema } from '../schema/read-schema.ts';

export type ExecutableSchema = NonNullable<GraphQLApiSpec['executableSchema']>;

/** `name` is that of the API, for the log. */
type LocalContext = ResolverContext & { readonly log: Logger; readonly name: string };

const ROOT = Object.freeze({});

/** Creates an API that executes operations locally. Throws an `Error` if it is invalid. */
export function createLocalApi(executable: ExecutableSchema, context: LocalContext): ExecutableApi {
  const { schema: declared, resolutions, cacheHints } = readSchema(executable.schemaDefinition ?? '');
  const local = executable.executor?.local ?? {};
  const resolvers = compileResolutions(local.resolutions ?? {}, executable.grpcDescriptorRegistry, context);
  for (const [place, name] of resolutions) {
    if (!resolvers.has(name)) throw new Error(`${place}: there is no resolution '${name}'`);
  }
  const resolverAt = (type: string, field: string) => resolvers.get(resolutions.get(`${type}.${field}`) ?? '');
  const schema = addResolvers(declared, {
    resolverOf: (type, field) => resolverAt(type, field)?.resolve,
    limits: context.limits,
    onFailure: (facts, failure) => logFailure(context, facts, failure),
  });
  const engine = createEngine({
    schema,
    limits: context.limits,
    values: 'json',
    maxDepth: local.options?.maxDepth ?? 0,
    resolverOf(type, field) {
      const resolve = resolverAt(type.name, field.name)?.resolve;
      if (!resolve) return introspect(type, field);
      return (parent, args, { run }) => resolve(parent, args, run.options.context as ResolverRun);
    },
  });
  const policyOf = createCachePolicies(cacheHints, ({ parentType, name }) => {
    return resolverAt(parentType.name, name)?.usesClient === true;
  });

  function execute(request: OperationRequest): ApiResult | Promise<ApiResult> {
    const { operation, facts, signal, retries } = request;
    const calls = new Calls(request.budget ?? new CallBudget(context.limits), signal);
    const own: ResolverRun = {
      facts,
      operation: operation.definition.operation,
      retries,
      calls,
      trace: traceOf(facts),
    };
    const done = engine.execute(request, {
      rootValue: ROOT,
      context: own,
      signal,
      requestId: facts.requestId,
      onFailure: (reason, path) => logFailure(context, facts, { reason, path }),
      afterField: () => calls.forget(),
    });
    return done instanceof Promise ? done.then((result) => resultOf(result, request)) : resultOf(done, request);
  }

  function resultOf({ plan, data, errors }: Executed, request: OperationRequest): ApiResult {
    if (!plan) return { ...(errors && { errors }) };
    if (errors) return { data, errors };
    if (request.operation.definition.operation !== 'query') return { data };
    return { data, ...cachingOf(policyOf(plan), request) };
  }

  return {
    schema,
    introspection: local.enableIntrospection === true,
    execute,
    close: () => resolvers.close(),
  };

  function introspect(type: GraphQLObjectType, field: GraphQLField<unknown, unknown>): ResolveField | undefined {
    const { resolve } = field;
    // Only introspection fields have resolvers here; they read only the schema.
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

function cachingOf({ maxAge, scope }: CachePolicy, { personal }: OperationRequest): Omit<ApiResult, 'data' | 'errors'> {
  const isPublic = scope === 'public' || (scope === 'unset' && personal !== true);
  const control = cacheControl(maxAge, isPublic ? 'public' : 'private');
  if (control === undefined) return {};
  return {
    cacheControl: control,
    ...(isPublic && { sharedForSeconds: maxAge }),
    ...(scope === 'public' && { declaredPublic: true }),
  };
}
