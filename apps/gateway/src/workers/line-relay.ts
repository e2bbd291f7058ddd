import type { Readable } from 'node:stream';
import type { LineSink } from '@edge-gateway/core';

const NEW_LINE = 10;
/** A longer line is passed on in pieces. */
const MAX_LINE_BYTES = 4 * 1024 * 1024;

/** Calls `onLines` with the whole lines of a stream as they arrive, several at a time. An incomplete last line is dropped. */
export function relayLines(stream: Readable, onLines: (lines: string) => void): void {
  let pending: Buffer[] = [];
  let length = 0;
  stream.on('data', (chunk: Buffer) => {
    const end = length + chunk.length > MAX_LINE_BYTES ? chunk.length : chunk.lastIndexOf(NEW_LINE) + 1;
    if (end > 0) {
      const head = chunk.subarray(0, end);
      onLines((pending.length === 0 ? head : Buffer.concat([...pending, head])).toString('utf8'));
      pending = [];
      length = 0;
    }
    if (end === chunk.length) return;
    pending.push(chunk.subarray(end));
    length += chunk.length - end;
  });
  // The worker has ended.
  stream.on('error', () => {});
}

/** Characters in the queue from which on the streams wait. */
const MAX_QUEUED = 1024 * 1024;

/**
 * Writes the lines of streams to a sink, each line whole. While the reader of the sink is too slow, the streams wait, so that their writers
 * drop lines or delay requests. `onProgress` must be called after each write of the sink.
 */
export function createSinkRelay(sink: LineSink): { add(stream: Readable): void; onProgress(): void } {
  const waiting = new Set<Readable>();
  return {
    add(stream) {
      relayLines(stream, (lines) => {
        sink.write(lines);
        if (sink.queued < MAX_QUEUED) return;
        stream.pause();
        waiting.add(stream);
      });
      stream.once('close', () => waiting.delete(stream));
    },
    onProgress() {
      if (waiting.size === 0 || sink.queued >= MAX_QUEUED) return;
      for (const stream of waiting) stream.resume();
      waiting.clear();
    },
  };
}
