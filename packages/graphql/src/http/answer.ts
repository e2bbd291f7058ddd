import { randomUUID } from 'node:crypto';
import { chargeComplexity, type Context, type Facts, type RetryPolicy, timeoutSignal } from '@edge-gateway/core';
import type { GraphQLApiSpec } from '@edge-gateway/core/schema';
import { ERROR_CODES, type GraphQLErrorCode } from '../error-codes.ts';
import type { ApiResult, ExecutableApi, OperationRequest } from '../execute/executable-api.ts';
import { leaveIterator } from '../execute/iterables.ts';
import { complexityOf } from '../document/complexity.ts';
import { MAX_COMPLEXITY } from '../document/list-size.ts';
import type { Operation } from '../document/documents.ts';
import { failedResult, tooLargeResult } from '../errors/failed-result.ts';
import { createDocuments } from '../document/documents.ts';
import type { GraphQLRequest } from './graphql-request.ts';
import { statusOf, type NegotiatedType } from './negotiation.ts';
import type { Limits } from '../document/limits.ts';
import { createPersisted } from './persisted.ts';
import { untilEnded } from '../execute/until-ended.ts';
import { isRefusal, refusal, type Refusal } from '../errors/refusal.ts';
import { createResultCache, type CachedResult } from '../cache/result-cache.ts';
import { createResultsKey } from '../cache/results-key.ts';
import { createSharedResults, type SharedResultsOptions } from '../cache/shared-results.ts';
import type { ApiCounts } from '../observe/statistics.ts';

/** An API and how it is served. */
export interface ServedApi {
  readonly api: ExecutableApi;
  readonly limits: Limits;
  readonly counts: ApiCounts;
  readonly spec: Pick<GraphQLApiSpec, 'allowedQueryHashes' | 'options' | 'persistedQueryCacheConfig'>;
  /** True if browsers get an editor for queries. Default false. */
  readonly explorer?: boolean | undefined;
  /** Results that are shared with other processes. Default: results are cached in memory. */
  readonly shared?: Pick<SharedResultsOptions, 'store' | 'scope'> & { readonly key?: string };
}

export interface OperationInput {
  readonly request: GraphQLRequest;
  readonly wanted: NegotiatedType;
  readonly facts: Facts;
  readonly method: string;
  readonly signal: AbortSignal;
  /** True if the request identifies its client. */
  readonly personal?: boolean | undefined;
  readonly retries?: RetryPolicy | undefined;
}

export interface Answer {
  readonly status: number;
  readonly body: string;
  readonly headers: readonly string[];
}

export interface Results extends AsyncIterable<ApiResult> {
  /** True for results of a subscription, which may be endless. */
  readonly lasting: boolean;
}

/** Returns a result as JSON, with its fields in the order that the specification recommends. */
export function serialize({ data, errors, extensions }: ApiResult): string {
  return JSON.stringify(errors && errors.length > 0 ? { errors, data, extensions } : { data, extensions });
}

const NO_HEADERS: readonly string[] = [];

/** Creates the answerer of one API: persisted queries, documents, limits, execution, cached results. */
export function createAnswerer({ api, limits, counts, spec, shared }: ServedApi, context: Context) {
  const { now } = context;
  const log = context.log.get('graphql');
  const documents = createDocuments(api, limits);
  const findQuery = createPersisted(spec);
  const cache = shared
    ? createSharedResults({
        ...shared,
        key: createResultsKey(shared.key, context),
        rejected: counts.cacheRejected,
        now,
      })
    : createResultCache(now);

  async function notReady(facts: Facts): Promise<Refusal | undefined> {
    try {
      await api.ready?.(facts);
      return undefined;
    } catch {
      return refusal('ERR_GRAPHQL_UPSTREAM');
    }
  }

  function operationOf({ request, method }: Pick<OperationInput, 'request' | 'method'>): Operation | Refusal {
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

  async function requestOf(asked: OperationInput): Promise<OperationRequest | Refusal> {
    const { facts, signal, personal, retries } = asked;
    const { variables, extensions } = asked.request;
    facts.requestId ||= randomUUID();
    const operation = (api.ready && (await notReady(facts))) ?? operationOf(asked);
    if (isRefusal(operation)) return operation;
    return { operation, variables, extensions, facts, signal, personal, retries };
  }

  /** Charges requests of one HTTP request for their complexity, together. A rejected one counts 1. Throws the error of a denial. */
  function charge(requests: readonly (OperationRequest | Refusal)[], facts: Facts): Promise<void> | undefined {
    if (!facts.complexityCharges || facts.complexityCharges.length === 0) return undefined;
    const { schema } = api;
    const sum = requests.reduce((total, each) => total + (isRefusal(each) ? 1 : complexityOf({ schema, ...each })), 0);
    return chargeComplexity(facts, Math.min(MAX_COMPLEXITY, sum));
  }

  /** Returns a request that is charged. */
  async function chargedRequest(asked: OperationInput): Promise<OperationRequest | Refusal> {
    const request = await requestOf(asked);
    const charging = charge([request], asked.facts);
    if (charging) await charging;
    return request;
  }

  async function execute(request: OperationRequest | Refusal, wanted: NegotiatedType): Promise<Answer> {
    if (isRefusal(request)) return refuse(request, wanted);
    const { operation, variables, facts } = request;
    if (operation.definition.operation === 'subscription') {
      return refuse(refusal('ERR_GRAPHQL_OPERATION', api.subscribe ? STREAMS_ONLY : NO_SUBSCRIPTIONS), wanted);
    }
    const kept = cache.get(request);
    const known = kept instanceof Promise ? await kept : kept;
    if (known) return { status: 200, body: known.body, headers: keptHeaders(known) };
    const result = await executed(request);
    if (spec.options?.logSensitiveInfo === true) {
      log.debug({ requestId: facts.requestId, query: operation.text, variables, result }, 'operation');
    }
    return answered(result, request, wanted);
  }

  function executed(request: OperationRequest): ApiResult | Promise<ApiResult> {
    return untilEnded(api.execute(request), request.signal, () => timedOut(request));
  }

  function refuse(refused: Refusal, wanted: NegotiatedType): Answer {
    counts.error.value++;
    if (refused.code === 'ERR_GRAPHQL_BODY') counts.parseJsonError.value++;
    const headers = Object.entries(refused.headers ?? {}).flat();
    return { status: statusOf(refused, wanted), body: serialize({ errors: refused.errors }), headers };
  }

  function answered(result: ApiResult, asked: OperationRequest, wanted: NegotiatedType): Answer {
    if (result.data === undefined) return refuse(asRefusal(result), wanted);
    const body = serialize(result);
    if (isLarger(body, limits.maxResultBytes)) {
      return answered(tooLargeResult(limits.maxResultBytes, asked.facts.requestId), asked, wanted);
    }
    if (result.errors && result.errors.length > 0) counts.error.value++;
    cache.set(asked, result, body);
    return { status: 200, body, headers: cacheHeaders(result.cacheControl) };
  }

  /** Returns the events of a subscription, or an error if they do not begin in time. */
  function subscribed(beginning: Subscribed, request: OperationRequest): Subscribed {
    const late = timeoutSignal(limits.operationTimeoutMs);
    const signal = AbortSignal.any([request.signal, late]);
    let isOver = false;
    void beginning.then(
      (results) => {
        if (isOver && Symbol.asyncIterator in results) leaveIterator(results[Symbol.asyncIterator]());
      },
      () => {},
    );
    return Promise.resolve(
      untilEnded<Awaited<Subscribed>>(beginning, signal, () => {
        isOver = true;
        return { errors: timedOut(request).errors ?? [] };
      }),
    );
  }

  return {
    /** Returns the request with its validated operation. */
    request: requestOf,
    /** Returns the response for a rejected request. */
    refuse(refused: Refusal, wanted: NegotiatedType): Answer {
      counts.total.value++;
      return refuse(refused, wanted);
    },
    async answer(asked: OperationInput): Promise<Answer> {
      counts.total.value++;
      return execute(await chargedRequest(asked), asked.wanted);
    },
    /** Returns the responses of a batch, which is charged before any operation is executed. */
    async answerBatch(batch: readonly OperationInput[], facts: Facts): Promise<Answer[]> {
      counts.total.value += batch.length;
      const requests = await Promise.all(batch.map(requestOf));
      await charge(requests, facts);
      return Promise.all(requests.map((request, i) => execute(request, batch[i]!.wanted)));
    },
    /** Returns the results of an operation as a stream: many of a subscription, one of others. */
    async subscribe(asked: OperationInput): Promise<Results | Refusal> {
      counts.total.value++;
      const request = await chargedRequest(asked);
      if (isRefusal(request)) return request;
      if (request.operation.definition.operation !== 'subscription') {
        const signal = AbortSignal.any([asked.signal, timeoutSignal(limits.operationTimeoutMs)]);
        return once(executed({ ...request, signal }));
      }
      if (!api.subscribe) return refusal('ERR_GRAPHQL_OPERATION', NO_SUBSCRIPTIONS);
      const results = await subscribed(api.subscribe(request), request);
      if (!(Symbol.asyncIterator in results)) return once(results);
      return { lasting: true, [Symbol.asyncIterator]: () => results[Symbol.asyncIterator]() };
    },
  };
}

export type Answerer = ReturnType<typeof createAnswerer>;

type Subscribed = Promise<AsyncIterable<ApiResult> | ApiResult>;

function timedOut({ facts }: OperationRequest): ApiResult {
  return failedResult('ERR_GRAPHQL_TIMEOUT', facts.requestId);
}

/** Counts bytes only where characters leave it open. */
function isLarger(text: string, maxBytes: number): boolean {
  if (maxBytes === 0 || text.length * 3 <= maxBytes) return false;
  return Buffer.byteLength(text) > maxBytes;
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
