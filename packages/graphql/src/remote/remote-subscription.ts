import type { ApiResult, OperationRequest } from '../api/executable-api.ts';
import { refusal } from '../api/refusal.ts';
import type { Slots } from '../subscriptions/slots.ts';
import { createResultQueue } from '../subscriptions/result-queue.ts';
import { NotTaken, type Stream, type SubscribeAt } from './stream.ts';

type Transport = keyof Transports;

export interface Transports {
  readonly events: SubscribeAt;
  /** Missing if no connections can be opened. */
  readonly webSocket?: SubscribeAt;
}

export interface RemoteSubscriptions {
  readonly transports: Transports;
  readonly maxBytes: number;
  /** For subscriptions at the same time. */
  readonly slots: Slots;
  readonly now: () => number;
  /** Returns the part of a server's result for clients. */
  readonly shown: (result: ApiResult) => ApiResult;
  /** Returns the result that clients get for a failure. */
  readonly failed: (error: unknown, request: OperationRequest) => ApiResult;
}

/** How long the transport that a server accepted is remembered, in milliseconds. */
const REMEMBERED_MS = 5 * 60_000;

/**
 * Creates the subscriptions at one server: by server-sent events, or over WebSocket if the server does not accept those. The transport that it
 * accepted last is tried first for some time.
 */
export function createRemoteSubscriptions({ transports, maxBytes, slots, now, shown, failed }: RemoteSubscriptions) {
  let known: Transport = 'events';
  let until = 0;

  function accept(transport: Transport): void {
    known = transport;
    until = now() + REMEMBERED_MS;
  }

  /** Returns the transports to try, in order. Any other response of a server that is known to send events is about the operation. */
  function order(): readonly Transport[] {
    if (!transports.webSocket || (now() < until && known === 'events')) return ['events'];
    return now() < until ? ['webSocket', 'events'] : ['events', 'webSocket'];
  }

  async function run(stream: Omit<Stream, 'accepted'>): Promise<void> {
    const refusals: NotTaken[] = [];
    for (const transport of order()) {
      try {
        return await transports[transport]!({ ...stream, accepted: () => accept(transport) });
      } catch (error) {
        if (!(error instanceof NotTaken)) throw error;
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
    const queue = createResultQueue({ stop: () => over.abort(), maxBytes, tooSlow });
    run({ request, signal, maxBytes, push: (result, bytes) => queue.push(shown(result), bytes) })
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
