import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { setImmediate } from 'node:timers/promises';

/** Longest time to go on without letting others run. */
const SLICE_MS = 5;
/** Characters that are sent at once. */
const CHUNK_LENGTH = 65_536;

/**
 * Sends pieces while they are made: as fast as the client takes them, in short slices, and no longer than somebody is
 * there to read. Rejects with what making them throws; once something was sent the connection is cut.
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

/** Resolves when the client took enough, or is gone. */
async function writable(res: ServerResponse): Promise<void> {
  if (res.destroyed) return;
  const controller = new AbortController();
  const { signal } = controller;
  const events = ['drain', 'close'].map((event) => once(res, event, { signal }).catch(() => {}));
  await Promise.race(events);
  controller.abort();
}
