import type { UpstreamAnswer } from '@edge-gateway/core';
import type { ApiResult } from '../api.ts';
import { createEventReader, type StreamEvent } from '../subscriptions/event-reader.ts';
import { createResultQueue } from '../subscriptions/result-queue.ts';
import { isRecord, readRemoteAnswer, resultOf } from './remote-answer.ts';

/** Head of an answer whose body comes piece by piece. */
export type StreamHead = Omit<UpstreamAnswer, 'body'>;

export interface RemoteStream {
  readonly upstream: string;
  /** Makes the request; what it gives to `onData` is the body. */
  readonly open: (onData: (chunk: Buffer, head: StreamHead) => void, signal: AbortSignal) => Promise<UpstreamAnswer>;
  readonly maxBytes: number;
  readonly signal: AbortSignal;
  /** The result that clients get for a failure. */
  readonly failed: (error: unknown) => ApiResult;
}

/**
 * Subscribes at a server over `text/event-stream` (GraphQL over SSE, distinct connections mode). A server that answers with one result
 * gives that one.
 */
export function subscribeRemote({ upstream, open, maxBytes, signal, failed }: RemoteStream): AsyncIterable<ApiResult> {
  const over = new AbortController();
  const stop = (): void => over.abort();
  signal.addEventListener('abort', stop, { once: true });
  const queue = createResultQueue(stop);
  const read = createEventReader(maxBytes);
  const plain: Buffer[] = [];
  let size = 0;
  let broken: unknown;

  function take(chunk: Buffer, { headers, status }: StreamHead): void {
    if (status === 200 && /^text\/event-stream\b/i.test(headers['content-type'] ?? '')) {
      for (const event of read(chunk)) push(event);
    } else if ((size += chunk.length) <= maxBytes) plain.push(chunk);
    else throw new Error(`more than ${maxBytes} bytes`);
  }

  function push({ event, data }: StreamEvent): void {
    if (event === 'complete') return finish();
    const parsed = JSON.parse(data) as unknown;
    if (!isRecord(parsed)) throw new TypeError('an event is no result');
    queue.push(resultOf(parsed));
  }

  function finish(): void {
    signal.removeEventListener('abort', stop);
    queue.end();
    over.abort();
  }

  function onData(chunk: Buffer, head: StreamHead): void {
    try {
      if (!over.signal.aborted) take(chunk, head);
    } catch (error) {
      broken = error;
      over.abort();
    }
  }

  open(onData, over.signal)
    .then((answer) => {
      if (size > 0) queue.push(readRemoteAnswer(upstream, { ...answer, body: Buffer.concat(plain) }));
    })
    .catch((error: unknown) => {
      if (!over.signal.aborted || broken !== undefined) queue.push(failed(broken ?? error));
    })
    .finally(finish);
  return queue.results;
}
