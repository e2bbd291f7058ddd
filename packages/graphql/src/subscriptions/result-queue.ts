import type { ApiResult } from '../api/executable-api.ts';

/** Results that come from one side and are taken by the other. */
export interface ResultQueue {
  readonly results: AsyncIterableIterator<ApiResult>;
  /** `bytes` is what the result took on the wire. */
  push(result: ApiResult, bytes: number): void;
  end(): void;
}

export interface ResultQueueOptions {
  /** Called once, when the taker has left or is too slow. */
  readonly stop: () => void;
  /** Bytes that may wait, beside one result. */
  readonly maxBytes: number;
  /** What a taker that is too slow gets in place of what waits; the end comes behind it. */
  readonly tooSlow: ApiResult;
}

/** Results that may wait. */
const MAX_WAITING = 1000;

/** Makes a queue with a bound: a taker that is slower than the results loses its subscription. */
export function createResultQueue({ stop, maxBytes, tooSlow }: ResultQueueOptions): ResultQueue {
  const waiting: { readonly result: ApiResult; readonly bytes: number }[] = [];
  let size = 0;
  let wake: (() => void) | undefined;
  let over = false;

  const end = (): void => {
    over = true;
    wake?.();
  };
  const leave = (): void => {
    if (!over) stop();
    waiting.length = 0;
    end();
  };
  const results: AsyncIterableIterator<ApiResult> = {
    [Symbol.asyncIterator]: () => results,
    async next() {
      if (waiting.length === 0 && !over) await new Promise<void>((resolve) => (wake = resolve));
      const first = waiting.shift();
      if (!first) return { done: true, value: undefined };
      size -= first.bytes;
      return { done: false, value: first.result };
    },
    async return() {
      leave();
      return { done: true, value: undefined };
    },
  };
  return {
    results,
    end,
    push(result, bytes) {
      if (over) return;
      const isSlow = waiting.length >= MAX_WAITING || (waiting.length > 0 && size + bytes > maxBytes);
      if (isSlow) leave();
      waiting.push(isSlow ? { result: tooSlow, bytes: 0 } : { result, bytes });
      size += bytes;
      wake?.();
    },
  };
}
