import type { CallUpstream, Facts, Logger, ResourceRef, SnapshotUpstream, UpstreamCall } from '@edge-gateway/core';
import type { GraphQLApiSpec } from '@edge-gateway/core/schema';
import { buildSchema, type GraphQLSchema } from 'graphql';
import type { ApiResult, ExecutableApi, OperationRequest } from '../execute/executable-api.ts';
import { coerceVariables } from '../execute/variables.ts';
import { recorded } from '../observe/http-call.ts';
import { callKind, traced, traceOf, type TracedCall } from '../observe/span.ts';
import { failedResult, tooLargeResult } from '../errors/failed-result.ts';
import { FieldFailure } from '../errors/field-failure.ts';
import type { Limits } from '../document/limits.ts';
import { followSchema } from './followed-schema.ts';
import { readServerSchema } from './introspect.ts';
import type { ChangePolicy } from './judge-schema.ts';
import { readRemoteAnswer } from './remote-answer.ts';
import { bodyOf, compileRemoteHead, type RemoteHead } from './remote-request.ts';
import { createResultFilter } from './shown-result.ts';
import { createSchemaQuestions } from './schema-questions.ts';
import { createRemoteSubscriptions } from './remote-subscription.ts';

export type RemoteExecutor = NonNullable<
  NonNullable<NonNullable<GraphQLApiSpec['executableSchema']>['executor']>['remote']
>;

export interface RemoteContext {
  readonly namespace: string;
  readonly callUpstream: CallUpstream;
  readonly findUpstream?: ((ref: ResourceRef) => SnapshotUpstream | undefined) | undefined;
  readonly limits: Limits;
  readonly log: Logger;
  readonly now: () => number;
  /** Returns the path on the server for a request. Default: that of the request, without its query. */
  readonly pathOf?: (facts: Facts) => string;
  readonly changes?: ChangePolicy;
}

/**
 * Creates an API that forwards operations to a GraphQL server unchanged. They are validated against `schema` before; if it
 * is missing, the schema of the server is used. Introspection is answered from it, and variables must match it, so
 * that what it leaves out stays hidden. The server receives only the client's headers in `headers`, and the request id. Throws an `Error` if the executor is invalid.
 */
export function createRemoteApi(
  schema: GraphQLSchema | undefined,
  remote: RemoteExecutor,
  context: RemoteContext,
): ExecutableApi {
  const headOf = compileRemoteHead(remote);
  const upstream = upstreamOf(remote, context.namespace);
  const pathOf = context.pathOf ?? pathnameOf;
  const { callUpstream, limits, log } = context;
  const forward = createForward(upstream, remote, context);
  const followed = followSchema({
    ...context,
    name: `${upstream.namespace}.${upstream.name}`,
    ask: (facts) => {
      const { path, headers } = headOf(pathOf(facts), NOBODY);
      return readServerSchema(callUpstream, upstream, { path, headers, timeoutMs: limits.operationTimeoutMs });
    },
  });

  const shown = createResultFilter(remote);
  const schemaOf = (): GraphQLSchema => schema ?? followed.schema ?? UNKNOWN;

  async function ask(request: OperationRequest): Promise<ApiResult> {
    const { facts, signal, budget } = request;
    try {
      const { path, headers } = headOf(pathOf(facts), facts);
      const head = { path, headers: [...HEADERS, ...requestId(facts), ...headers] };
      const call = () => forward(request, head);
      return shown(await (budget ? budget.run(call, signal) : call()));
    } catch (error) {
      if (error instanceof FieldFailure && error.shown) return failedResult(error.code, facts.requestId, error.shown);
      log.warn({ upstream: upstream.name, requestId: facts.requestId, reason: reasonOf(error) }, 'no result');
      return failedResult(signal.aborted ? 'ERR_GRAPHQL_TIMEOUT' : 'ERR_GRAPHQL_UPSTREAM', facts.requestId);
    }
  }

  const answer = createSchemaQuestions(schemaOf, ask, limits);
  const subscribe = createRemoteSubscriptions({
    ...context,
    upstream,
    shown,
    targetOf({ facts }) {
      const { path, headers } = headOf(pathOf(facts), facts);
      return { path, headers: [...requestId(facts), ...headers] };
    },
    failed: (error, { facts }) => {
      const reason = reasonOf(error);
      log.warn({ upstream: upstream.name, requestId: facts.requestId, reason }, 'subscription failed');
      return { errors: failedResult('ERR_GRAPHQL_UPSTREAM', facts.requestId).errors ?? [] };
    },
  });
  const served = {
    introspection: remote.enableIntrospection === true,
    async execute(request: OperationRequest) {
      return invalidVariables(schemaOf(), request) ?? answer(request);
    },
    async subscribe(request: OperationRequest) {
      return invalidVariables(schemaOf(), request) ?? subscribe(request);
    },
  };

  if (schema) return { schema, ...served };
  return {
    get schema() {
      return schemaOf();
    },
    ready: followed.ready,
    ...served,
  };
}

/** Creates the forwarder of operations, with the retries of the route for queries. It rejects if there is no result. */
function createForward(upstream: ResourceRef, { spanName }: RemoteExecutor, context: RemoteContext) {
  const { callUpstream, findUpstream, limits } = context;
  const kind = callKind(spanName || upstream.name);
  const place = { upstream, find: findUpstream };

  async function forward(request: OperationRequest, { path, headers }: RemoteHead, trace: TracedCall | undefined) {
    const { operation, name } = request.operation.definition;
    const attributes = { 'graphql.operation.type': operation, ...(name && { 'graphql.operation.name': name.value }) };
    trace?.tag(attributes);
    const call: UpstreamCall = {
      method: 'POST',
      path,
      headers,
      body: bodyOf(request),
      timeoutMs: limits.operationTimeoutMs,
      maxBodyBytes: limits.maxResponseBytes,
      signal: request.signal,
      retry: request.retries && { policy: request.retries, repeatable: operation === 'query' },
    };
    const answer = await callUpstream(upstream, recorded(call, trace, place));
    trace?.tag({ 'http.response.status_code': answer.status });
    if (isTooLarge(answer.body.length, limits)) return tooLargeResult(limits.maxResultBytes, request.facts.requestId);
    return readRemoteAnswer(upstream.name, answer, limits.maxResponseBytes);
  }

  return (request: OperationRequest, head: RemoteHead): Promise<ApiResult> =>
    traced(kind, traceOf(request.facts), (trace) => forward(request, head, trace));
}

function isTooLarge(bytes: number, { maxResultBytes }: Limits): boolean {
  return maxResultBytes > 0 && bytes > maxResultBytes;
}

/** Returns the result for variables that are invalid for the schema; the server may accept more, e.g. hidden input fields. */
function invalidVariables(schema: GraphQLSchema, request: OperationRequest): ApiResult | undefined {
  const variables = coerceVariables(schema, request);
  return variables && !('coerced' in variables) ? variables : undefined;
}

export const NOBODY = { header: () => undefined, metadata: new Map() } as unknown as Facts;

/** Placeholder for a schema that is not known yet: `ready` rejects before it is used. */
const UNKNOWN = buildSchema('type Query { unknown: Boolean }');

const HEADERS = [
  'content-type',
  'application/json',
  'accept',
  'application/graphql-response+json, application/json;q=0.9',
  'accept-encoding',
  'identity',
];

/** Returns the upstream of a remote executor. Throws an `Error` if it names none. */
export function upstreamOf({ upstreamRef }: RemoteExecutor, namespace: string): ResourceRef {
  if (!upstreamRef?.name) throw new Error('executor.remote needs upstreamRef');
  return { name: upstreamRef.name, namespace: upstreamRef.namespace || namespace };
}

export function pathnameOf({ path }: Facts): string {
  const cut = path.indexOf('?');
  return cut < 0 ? path : path.slice(0, cut);
}

function requestId({ requestId }: Facts): string[] {
  return requestId === '' ? [] : ['x-request-id', requestId];
}

/** Returns the reason of a failure for the log, without bodies. */
export function reasonOf(error: unknown): string {
  if (error instanceof FieldFailure) return error.message;
  const { message, cause } = error as { message?: string; cause?: { message?: string } };
  return [message, cause?.message].filter((each) => typeof each === 'string').join(': ');
}
