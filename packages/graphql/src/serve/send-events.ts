import { factsOf, watchAuthentication, type ActionExchange } from '@edge-gateway/core';
import { serialize, type Results } from '../http/answer.ts';
import type { ApiResult } from '../execute/executable-api.ts';
import { varyByAccept } from '../http/negotiation.ts';
import { refusal } from '../errors/refusal.ts';
import { timerOf } from './keep-alive.ts';
import type { SocketParts } from './serve-socket.ts';

/** Returns true if the client accepts an event stream. */
export function wantsEvents(accept: string | undefined): boolean {
  return accept !== undefined && /(^|,)\s*text\/event-stream\s*(;|,|$)/i.test(accept);
}

/** Idle time after which a comment is sent, so that no proxy closes the connection. */
const KEEP_ALIVE_MS = 15_000;
/** Maximum time without reading by a client, in milliseconds. */
const STUCK_MS = 60_000;

/**
 * Sends results as events `next`, then `complete` (GraphQL over SSE, distinct connections mode). Ends when the client disconnects or
 * stops reading, with an error after the maximum duration, and without `complete` when draining or when the token or session ends: then clients connect again.
 */
export async function sendEvents(
  exchange: ActionExchange,
  results: Results,
  { limits, drain, now }: Pick<SocketParts, 'limits' | 'drain' | 'now'>,
): Promise<void> {
  const { req, res } = exchange;
  startEvents(exchange);
  res.write(':\n\n');
  const iterator = results[Symbol.asyncIterator]();
  const leave = (): void => void iterator.return?.();
  let isOld = false;
  let isLeft = false;
  const old = timerOf(limits.maxConnectionMs, () => {
    isOld = true;
    leave();
  });
  const depart = (): void => {
    isLeft = true;
    leave();
  };
  const forgetAuthentication = results.lasting ? watchAuthentication(factsOf(req), { now }, depart) : undefined;
  const forget = results.lasting ? drain.onBegin(depart) : undefined;
  const timer = setInterval(() => void (res.writableNeedDrain || res.write(':\n\n')), KEEP_ALIVE_MS);
  res.once('close', leave);
  try {
    for (let next = await iterator.next(); !next.done && !res.destroyed; next = await iterator.next()) {
      if (!res.write(eventOf(next.value))) await drained(res);
    }
    if (isOld) res.write(eventOf(refusal('ERR_GRAPHQL_TIMEOUT', 'The subscription exceeded its maximum duration.')));
    if (!res.destroyed) res.end(isLeft ? undefined : 'event: complete\ndata:\n\n');
  } finally {
    clearInterval(timer);
    clearTimeout(old);
    forgetAuthentication?.();
    forget?.();
    res.removeListener('close', leave);
  }
}

export function startEvents({ res, writeHead }: ActionExchange): void {
  const type = 'text/event-stream; charset=utf-8';
  writeHead(200, ['content-type', type, 'cache-control', 'no-store', 'vary', varyByAccept(res)]);
}

function eventOf(result: ApiResult): string {
  return `event: next\ndata: ${serialize(result)}\n\n`;
}

function drained(res: ActionExchange['res']): Promise<void> {
  return new Promise((resolve) => {
    const stuck = setTimeout(() => res.destroy(), STUCK_MS);
    const done = (): void => {
      clearTimeout(stuck);
      res.removeListener('close', done);
      resolve();
    };
    res.once('drain', done);
    res.once('close', done);
  });
}
