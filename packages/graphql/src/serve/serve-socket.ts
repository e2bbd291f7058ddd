import type { IncomingMessage } from 'node:http';
import {
  chargeOperation,
  factsOf,
  GatewayError,
  nodeDelay,
  parseJson,
  watchAuthentication,
  type AuthenticationEnd,
} from '@edge-gateway/core';
import { GraphQLError, parse } from 'graphql';
import { CloseCode, makeServer, type Server, type SubscribePayload } from 'graphql-ws';
import type { WebSocket } from 'ws';
import type { ApiResult, ResultError } from '../execute/executable-api.ts';
import type { Answerer, OperationInput, Results } from '../http/answer.ts';
import { isTextDeeper, MAX_REQUEST_DEPTH } from '../document/json.ts';
import type { Limits } from '../document/limits.ts';
import { isRefusal, refusal, type Refusal } from '../errors/refusal.ts';
import type { Drain } from './drain.ts';
import { keepAlive, timerOf } from './keep-alive.ts';

export interface SocketParts {
  readonly answerer: Answerer;
  readonly limits: Limits;
  readonly drain: Drain;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** Makes the library treat the result of every operation as a stream: it reads only the operation type of a document. */
const ANY = parse('subscription { any }');

/** Serves `graphql-transport-ws` to one client, until it disconnects or the maximum duration is reached. */
export function serveSocket(webSocket: WebSocket, req: IncomingMessage, parts: SocketParts): void {
  const { answerer, limits, drain } = parts;
  const running = new Set<AbortController>();
  const lasting = new Set<AbortController>();
  let departing = false;
  /** Queries and mutations finish first: a client would send an interrupted mutation again. */
  const leave = (): void => {
    if (departing && running.size === lasting.size) webSocket.close(1001, 'Going away');
  };
  const execute = async (payload: SubscribePayload, signal: AbortSignal): Promise<Results | Refusal> => {
    await chargeOperation(factsOf(req));
    return answerer.subscribe(askedBy(payload, req, signal));
  };
  const server = makeServer({
    jsonMessageReviver: keepDigits as (this: unknown, key: string, value: unknown) => unknown,
    connectionInitWaitTimeout: nodeDelay(limits.connectionInitTimeoutMs),
    // Operations are executed here: the library only implements the protocol.
    async onSubscribe(_context, _id, payload) {
      const refused = [new GraphQLError('Too many operations.', { extensions: { code: 'ERR_GRAPHQL_LIMIT' } })];
      if (limits.maxSubscriptions > 0 && running.size >= limits.maxSubscriptions) return refused;
      const over = new AbortController();
      running.add(over);
      const end = (): void => {
        over.abort();
        running.delete(over);
        lasting.delete(over);
        // After the message to the client.
        if (departing) setImmediate(leave);
      };
      const results = await execute(payload, over.signal).catch(deniedBy);
      if (results instanceof GraphQLError) {
        end();
        return [results];
      }
      if (!isRefusal(results)) {
        if (results.lasting) lasting.add(over);
        leave();
        return { document: ANY, results: untilError(results, end) } as never;
      }
      end();
      return wrapErrors(results.errors);
    },
    subscribe: (({ results }: { readonly results: AsyncIterable<ApiResult> }) => results) as never,
    onNext: (...[, , , , result]) => payloadOf(result as ApiResult) as never,
    onError: (_context, _id, _payload, errors) => errors.flatMap(formatted),
  });
  attach(webSocket, server, limits, () => departing);
  closeUnauthenticated(webSocket, req, parts.now);
  const depart = (): void => {
    departing = true;
    leave();
  };
  webSocket.once('close', drain.onBegin(depart));
}

/** Keeps the digits of numbers that JavaScript cannot represent. */
function keepDigits(_key: string, value: unknown, { source }: { readonly source?: string }): unknown {
  return typeof value === 'number' && source !== undefined ? parseJson(source) : value;
}

function askedBy(payload: SubscribePayload, req: IncomingMessage, signal: AbortSignal): OperationInput {
  const { query, operationName, variables, extensions } = payload;
  return {
    request: {
      query,
      operationName: operationName ?? undefined,
      variables: variables ?? {},
      extensions: extensions ?? {},
    },
    wanted: { type: 'application/json', lenient: false },
    facts: factsOf(req),
    method: 'POST',
    signal,
  };
}

/** Returns the error of an operation that a concern denied. Throws other errors. */
function deniedBy(error: unknown): GraphQLError {
  if (!(error instanceof GatewayError)) throw error;
  const { code, message, status } = error;
  return new GraphQLError(status < 500 ? message : 'The operation cannot be checked.', { extensions: { code } });
}

function attach(webSocket: WebSocket, server: Server<unknown>, limits: Limits, ignoresMessages: () => boolean): void {
  const closed = server.opened(
    {
      protocol: webSocket.protocol,
      send: (data) => send(webSocket, data, limits.maxResponseBytes),
      close: (code, reason) => webSocket.close(code, reason),
      onMessage: (listener) =>
        webSocket.on('message', (data, isBinary) => {
          if (ignoresMessages()) return;
          const text = String(data);
          if (isBinary || isTextDeeper(text, MAX_REQUEST_DEPTH)) return webSocket.close(CloseCode.BadRequest);
          listener(text).catch(() => webSocket.close(1011));
        }),
    },
    {},
  );
  keepAlive(webSocket, limits.pingIntervalMs);
  const old = timerOf(limits.maxConnectionMs, () => webSocket.close(1001, 'The connection is too old.'));
  webSocket.on('error', () => {});
  webSocket.once('close', (code, reason) => {
    clearTimeout(old);
    void closed(code, String(reason));
  });
}

/** Waits until the text is sent. A client with too much unsent data is disconnected. */
function send(webSocket: WebSocket, data: string, maxWaiting: number): Promise<void> {
  if (webSocket.bufferedAmount > maxWaiting) webSocket.terminate();
  return new Promise((resolve, reject) => webSocket.send(data, (error) => (error ? reject(error) : resolve())));
}

const ENDS: Readonly<Record<AuthenticationEnd, string>> = {
  expired: 'The token has expired.',
  ended: 'The session has ended.',
};

/** Closes a WebSocket when the token or session ends that its upgrade was authenticated with. */
function closeUnauthenticated(webSocket: WebSocket, req: IncomingMessage, now: () => number): void {
  const stop = watchAuthentication(factsOf(req), { now }, (reason) =>
    webSocket.close(CloseCode.Forbidden, ENDS[reason]),
  );
  webSocket.once('close', stop);
}

class RequestErrors extends Error {
  readonly errors: readonly ResultError[];

  constructor(errors: readonly ResultError[]) {
    super('a request error');
    this.errors = errors;
  }
}

/** Throws for a result without data, which the library sends as the message `error`. `end` is called once it has ended. */
function untilError(results: AsyncIterable<ApiResult>, end: () => void): AsyncIterableIterator<ApiResult> {
  const iterator = results[Symbol.asyncIterator]();
  const taken: AsyncIterableIterator<ApiResult> = {
    [Symbol.asyncIterator]: () => taken,
    async next() {
      const next = await iterator.next();
      if (next.done) end();
      else if (next.value.data === undefined) {
        end();
        void iterator.return?.();
        throw new RequestErrors(next.value.errors ?? refusal('ERR_GRAPHQL_UPSTREAM').errors);
      }
      return next;
    },
    async return() {
      end();
      await iterator.return?.();
      return { done: true, value: undefined };
    },
  };
  return taken;
}

/** The errors were sent already, which the library does not expect. */
function payloadOf({ data, errors = [], extensions }: ApiResult): ApiResult {
  return { data, ...(errors.length > 0 && { errors }), ...(extensions && { extensions }) };
}

function wrapErrors(errors: readonly ResultError[]): GraphQLError[] {
  return [new GraphQLError('', { cause: new RequestErrors(errors) })];
}

function formatted(error: GraphQLError): readonly ResultError[] {
  return error.cause instanceof RequestErrors ? error.cause.errors : [error.toJSON()];
}
