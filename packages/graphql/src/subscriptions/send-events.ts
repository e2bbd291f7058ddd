import type { ApiResult } from '../api.ts';
import { serialize } from '../http.ts';
import type { ActionExchange } from '@edge-gateway/core';

/** True when a client asks for results as they come. */
export function wantsEvents(accept: string | undefined): boolean {
  return accept !== undefined && /(^|,)\s*text\/event-stream\s*(;|,|$)/i.test(accept);
}

/** Silence after which a comment is sent, so that nobody between takes the connection for dead. */
const KEEP_ALIVE_MS = 15_000;

/** Sends results as events `next`, then `complete` (GraphQL over SSE, distinct connections mode). Ends when the client leaves. */
export async function sendEvents({ res, writeHead }: ActionExchange, results: AsyncIterable<ApiResult>): Promise<void> {
  writeHead(200, ['content-type', 'text/event-stream; charset=utf-8', 'cache-control', 'no-store']);
  res.write(':\n\n');
  const timer = setInterval(() => res.write(':\n\n'), KEEP_ALIVE_MS);
  const iterator = results[Symbol.asyncIterator]();
  const left = (): void => void iterator.return?.();
  res.once('close', left);
  try {
    for (let next = await iterator.next(); !next.done && !res.destroyed; next = await iterator.next()) {
      if (!res.write(`event: next\ndata: ${serialize(next.value)}\n\n`)) await drained(res);
    }
    if (!res.destroyed) res.end('event: complete\ndata:\n\n');
  } finally {
    clearInterval(timer);
    res.removeListener('close', left);
  }
}

function drained(res: ActionExchange['res']): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      res.removeListener('drain', done);
      res.removeListener('close', done);
      resolve();
    };
    res.once('drain', done);
    res.once('close', done);
  });
}
