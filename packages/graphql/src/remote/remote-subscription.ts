import type { ApiResult, OperationRequest } from '../execute/executable-api.ts';
import { tooLargeResult } from '../errors/failed-result.ts';
import { refusal } from '../errors/refusal.ts';
import { createSlots } from '../serve/slots.ts';
import { subscribeByEvents } from './event-stream.ts';
import { createResultQueue } from './result-queue.ts';
import { subscribeBySocket } from './socket-stream.ts';
import { TransportRejected, type Stream, type StreamServer } from './stream.ts';

interface SubscriptionServer extends StreamServer {
  readonly now: () => number;
  /** Returns the part of a server's result for clients. */
  shown(result: ApiResult): ApiResult;
  /** Returns the result that clients get for a failure. */
  failed(error: unknown, request: OperationRequest): ApiResult;
}

/** How long the transport that a server accepted is remembered, in milliseconds. */
const REMEMBERED_MS = 5 * 60_000;

/** Creates the subscriptions at a server, over SSE or WebSocket: the transport that it accepted last is tried first. */
export function createRemoteSubscriptions(server: SubscriptionServer) {
  const { callUpstream, limits, now, shown, failed } = server;
  const transports = {
    events: subscribeByEvents(server),
    webSocket: callUpstream.connect && subscribeBySocket(server),
  };
  const slots = createSlots(limits.maxRunningSubscriptions);
  let known: keyof typeof transports = 'events';
  let until = 0;

  /** Returns the transports to try, in order. Any other response of a server that is known to send events is about the operation. */
  function order(): readonly (keyof typeof transports)[] {
    if (!transports.webSocket || (now() < until && known === 'events')) return ['events'];
    return now() < until ? ['webSocket', 'events'] : ['events', 'webSocket'];
  }

  async function run(stream: Omit<Stream, 'accepted'>): Promise<void> {
    const refusals: TransportRejected[] = [];
    for (const transport of order()) {
      const accepted = (): void => {
        known = transport;
        until = now() + REMEMBERED_MS;
      };
      try {
        return await transports[transport]!({ ...stream, accepted });
      } catch (error) {
        if (!(error instanceof TransportRejected)) throw error;
        refusals.push(error);
      }
    }
    until = 0;
    const answered = refusals.find(({ result }) => result)?.result;
    if (!answered) throw refusals[0]!;
    stream.push(answered, 0);
  }

  return (request: OperationRequest): AsyncIterable<ApiResult> | ApiResult => {
    if (!slots.acquire()) return { errors: refusal('ERR_GRAPHQL_CONNECTIONS').errors };
    const over = new AbortController();
    const signal = AbortSignal.any([request.signal, over.signal]);
    const tooSlow = { errors: refusal('ERR_GRAPHQL_SLOW_CLIENT').errors };
    const queue = createResultQueue({ stop: () => over.abort(), maxBytes: limits.maxResponseBytes, tooSlow });
    const { maxResultBytes } = limits;
    const push = (result: ApiResult, bytes: number): void => {
      const isTooLarge = maxResultBytes > 0 && bytes > maxResultBytes;
      queue.push(isTooLarge ? tooLargeResult(maxResultBytes, request.facts.requestId) : shown(result), bytes);
    };
    run({ request, signal, push })
      .catch((error: unknown) => {
        if (!signal.aborted) queue.push(failed(error, request), 0);
      })
      .finally(() => {
        slots.release();
        queue.end();
      });
    return queue.results;
  };
}
