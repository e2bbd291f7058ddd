import type { ApiResult, OperationRequest } from '../api/executable-api.ts';
import { refusal } from '../api/refusal.ts';
import type { Places } from '../subscriptions/slots.ts';
import { createResultQueue } from '../subscriptions/result-queue.ts';
import { NotTaken, type Stream, type SubscribeAt } from './stream.ts';

type Way = keyof Ways;

export interface Ways {
  readonly events: SubscribeAt;
  /** Missing where no connection can be made. */
  readonly webSocket?: SubscribeAt;
}

export interface RemoteSubscriptions {
  readonly ways: Ways;
  readonly maxBytes: number;
  /** For subscriptions at the same time. */
  readonly places: Places;
  readonly now: () => number;
  /** Returns the part of a server's result for clients. */
  readonly shown: (result: ApiResult) => ApiResult;
  /** The result that clients get for a failure. */
  readonly failed: (error: unknown, request: OperationRequest) => ApiResult;
}

/** How long it is remembered by which way a server takes subscriptions, in milliseconds. */
const REMEMBERED_MS = 5 * 60_000;

/**
 * Makes what subscribes at one server: by server-sent events, and where it does not take that over WebSocket. The way that it took
 * last is tried first for some time.
 */
export function createRemoteSubscriptions({ ways, maxBytes, places, now, shown, failed }: RemoteSubscriptions) {
  let known: Way = 'events';
  let until = 0;

  function accept(way: Way): void {
    known = way;
    until = now() + REMEMBERED_MS;
  }

  /** The ways to try, in order. A server that is known to send events says by other answers what it thinks of the operation. */
  function order(): readonly Way[] {
    if (!ways.webSocket || (now() < until && known === 'events')) return ['events'];
    return now() < until ? ['webSocket', 'events'] : ['events', 'webSocket'];
  }

  async function run(stream: Omit<Stream, 'accepted'>): Promise<void> {
    const refusals: NotTaken[] = [];
    for (const way of order()) {
      try {
        return await ways[way]!({ ...stream, accepted: () => accept(way) });
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
    if (!places.take()) return { errors: refusal('ERR_GRAPHQL_CONNECTIONS').errors };
    const over = new AbortController();
    const signal = AbortSignal.any([request.signal, over.signal]);
    const tooSlow = { errors: refusal('ERR_GRAPHQL_SLOW_CLIENT').errors };
    const queue = createResultQueue({ stop: () => over.abort(), maxBytes, tooSlow });
    run({ request, signal, maxBytes, push: (result, bytes) => queue.push(shown(result), bytes) })
      .catch((error: unknown) => {
        if (!signal.aborted) queue.push(failed(error, request), 0);
      })
      .finally(() => {
        places.leave();
        queue.end();
      });
    return queue.results;
  };
}
