import { randomUUID } from 'node:crypto';
import type { Facts, Logger, RetryPolicy } from '@edge-gateway/core';
import { ERROR_CODES, type GraphQLErrorCode } from '../error-codes.ts';
import type { ApiResult, ExecutableApi, Operation, OperationRequest } from '../api/executable-api.ts';
import { createDocuments } from '../document/documents.ts';
import type { GraphQLRequest } from './graphql-request.ts';
import { statusOf, type Wanted } from './negotiation.ts';
import { serialize } from './serialize.ts';
import type { Limits } from '../api/limits.ts';
import { createPersisted, type PersistedOptions } from '../document/persisted.ts';
import { isRefusal, refusal, type Refusal } from '../api/refusal.ts';
import { createResultCache, type CachedResult, type ResultCache } from '../cache/result-cache.ts';
import type { ApiCounts } from '../api/statistics.ts';

/** Options of an answerer. */
export interface AnswerOptions {
  readonly api: ExecutableApi;
  readonly limits: Limits;
  readonly persisted: PersistedOptions;
  readonly counts: ApiCounts;
  readonly log: Logger;
  /** Logs requests and results at level debug. */
  readonly logSensitiveInfo: boolean;
  readonly now: () => number;
  /** Default: in memory. */
  readonly cache?: ResultCache | undefined;
}

/** One request, and the wanted form of its response. */
export interface Asked {
  readonly request: GraphQLRequest;
  readonly wanted: Wanted;
  readonly facts: Facts;
  readonly method: string;
  readonly signal: AbortSignal;
  /** True if the request identifies its client. */
  readonly personal?: boolean | undefined;
  /** Retries of requests to upstreams. */
  readonly retries?: RetryPolicy | undefined;
}

/** One response as it is sent. */
export interface Answer {
  readonly status: number;
  readonly body: string;
  readonly headers: readonly string[];
}

/** A stream of results. */
export interface Results extends AsyncIterable<ApiResult> {
  /** True for results of a subscription, which may be endless. */
  readonly lasting: boolean;
}

/** Executes the requests of one API. */
export interface Answerer {
  answer(asked: Asked): Promise<Answer>;
  /** The validated operation of a request. */
  operation(asked: Asked): Promise<Operation | Refusal>;
  /** Returns the response for a rejected request. */
  refuse(refused: Refusal, wanted: Wanted): Answer;
  /** Returns the results of an operation as a stream: many of a subscription, one of others. */
  subscribe(asked: Asked): Promise<Results | Refusal>;
}

const NO_HEADERS: readonly string[] = [];

/** Creates the answerer of one API: persisted queries, documents, limits, execution, cached results. */
export function createAnswerer(options: AnswerOptions): Answerer {
  const { api, limits, counts, log } = options;
  const documents = createDocuments(api, limits);
  const findQuery = createPersisted(options.persisted);
  const cache = options.cache ?? createResultCache(options.now);

  async function notReady(facts: Facts): Promise<Refusal | undefined> {
    try {
      await api.ready?.(facts);
      return undefined;
    } catch {
      return refusal('ERR_GRAPHQL_UPSTREAM');
    }
  }

  function operationOf({ request, method }: Pick<Asked, 'request' | 'method'>): Operation | Refusal {
    const query = findQuery(request);
    if (isRefusal(query)) return query;
    const operation = documents.operation(query.text, request.operationName);
    if (isRefusal(operation)) {
      if ('problem' in operation)
        (operation.problem === 'parse' ? counts.parseQueryError : counts.invalidQueryError).value++;
      return operation;
    }
    query.keep();
    const kind = operation.definition.operation;
    if (method !== 'POST' && kind === 'mutation') {
      return refusal('ERR_GRAPHQL_METHOD', 'A mutation must not be sent by GET.', { allow: 'POST' });
    }
    return operation;
  }

  function refuse(refused: Refusal, wanted: Wanted): Answer {
    counts.error.value++;
    if (refused.code === 'ERR_GRAPHQL_BODY') counts.parseJsonError.value++;
    const headers = Object.entries(refused.headers ?? {}).flat();
    return { status: statusOf(refused, wanted), body: serialize({ errors: refused.errors }), headers };
  }

  function answered(result: ApiResult, asked: OperationRequest, wanted: Wanted): Answer {
    if (result.data === undefined) return refuse(asRefusal(result), wanted);
    if (result.errors && result.errors.length > 0) counts.error.value++;
    const body = serialize(result);
    cache.set(asked, result, body);
    return { status: 200, body, headers: cacheHeaders(result.cacheControl) };
  }

  return {
    async operation(asked) {
      return (await notReady(asked.facts)) ?? operationOf(asked);
    },
    refuse(refused, wanted) {
      counts.total.value++;
      return refuse(refused, wanted);
    },
    async answer(asked) {
      counts.total.value++;
      const { request, wanted, facts, signal, personal, retries } = asked;
      facts.requestId ||= randomUUID();
      const operation = (await notReady(facts)) ?? operationOf(asked);
      if (isRefusal(operation)) return refuse(operation, wanted);
      if (operation.definition.operation === 'subscription') {
        return refuse(refusal('ERR_GRAPHQL_OPERATION', api.subscribe ? STREAMS_ONLY : NO_SUBSCRIPTIONS), wanted);
      }
      const { variables, extensions } = request;
      const operationRequest: OperationRequest = { operation, variables, extensions, facts, signal, personal, retries };
      const kept = cache.get(operationRequest);
      const known = kept instanceof Promise ? await kept : kept;
      if (known) return { status: 200, body: known.body, headers: keptHeaders(known) };
      const result = await api.execute(operationRequest);
      if (options.logSensitiveInfo) {
        log.debug({ requestId: facts.requestId, query: operation.text, variables, result }, 'operation');
      }
      return answered(result, operationRequest, wanted);
    },
    async subscribe(asked) {
      counts.total.value++;
      const { request, facts, signal, personal, retries } = asked;
      facts.requestId ||= randomUUID();
      const operation = (await notReady(facts)) ?? operationOf(asked);
      if (isRefusal(operation)) return operation;
      const { variables, extensions } = request;
      const operationRequest: OperationRequest = { operation, variables, extensions, facts, signal, personal, retries };
      if (operation.definition.operation !== 'subscription') {
        const limited = AbortSignal.any([signal, AbortSignal.timeout(limits.operationTimeoutMs)]);
        return once(api.execute({ ...operationRequest, signal: limited }));
      }
      if (!api.subscribe) return refusal('ERR_GRAPHQL_OPERATION', NO_SUBSCRIPTIONS);
      const results = await api.subscribe(operationRequest);
      if (!(Symbol.asyncIterator in results)) return once(results);
      return { lasting: true, [Symbol.asyncIterator]: () => results[Symbol.asyncIterator]() };
    },
  };
}

const NO_SUBSCRIPTIONS = 'This API has no subscriptions.';
const STREAMS_ONLY = 'Subscriptions require a WebSocket, or accept: text/event-stream.';

function once(result: ApiResult | Promise<ApiResult>): Results {
  return {
    lasting: false,
    async *[Symbol.asyncIterator]() {
      yield await result;
    },
  };
}

function cacheHeaders(value: string | undefined): readonly string[] {
  return value === undefined ? NO_HEADERS : ['cache-control', value];
}

/** Adds `Age`, so that no cache of a client keeps a result longer than declared. */
function keptHeaders({ cacheControl, age }: CachedResult): readonly string[] {
  const headers = cacheHeaders(cacheControl);
  return age > 0 ? [...headers, 'age', String(age)] : headers;
}

/** Returns a result without data, i.e. of a request that cannot be executed, as a refusal. */
function asRefusal({ errors = [] }: ApiResult): Refusal {
  const code = errors[0]?.extensions?.['code'];
  const known = typeof code === 'string' && Object.hasOwn(ERROR_CODES, code);
  return { code: known ? (code as GraphQLErrorCode) : 'ERR_GRAPHQL_DOCUMENT', errors };
}
