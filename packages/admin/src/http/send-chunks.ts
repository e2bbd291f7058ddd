import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { setImmediate } from 'node:timers/promises';

/** Longest time without a turn of the event loop. */
const SLICE_MS = 5;
/** Number of characters per write. */
const CHUNK_LENGTH = 65_536;

/**
 * Sends chunks while they are created: as fast as the client reads, in short slices, until the client disconnects. Rejects with the
 * error of the iterator; if something was sent, the connection is then closed.
 */
export async function sendChunks(res: ServerResponse, chunks: Iterable<string>): Promise<void> {
  if (res.req.method === 'HEAD') return void res.end();
  let text = '';
  let until = performance.now() + SLICE_MS;
  for (const chunk of chunks) {
    text += chunk;
    if (text.length >= CHUNK_LENGTH) {
      if (!res.write(text)) await writable(res);
      if (res.destroyed) return;
      text = '';
    }
    if (performance.now() < until) continue;
    await setImmediate();
    if (res.destroyed) return;
    until = performance.now() + SLICE_MS;
  }
  res.end(text);
}

/** Resolves when the response can be written again, or the client has disconnected. */
async function writable(res: ServerResponse): Promise<void> {
  if (res.destroyed) return;
  const controller = new AbortController();
  const { signal } = controller;
  const events = ['drain', 'close'].map((event) => once(res, event, { signal }).catch(() => {}));
  await Promise.race(events);
  controller.abort();
}
