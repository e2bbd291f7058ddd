import type { ApiResult } from '../execute/executable-api.ts';

interface ResultQueueOptions {
  /** Called once, when the consumer leaves or is too slow. */
  readonly stop: () => void;
  /** Bytes that may be queued, in addition to one result. */
  readonly maxBytes: number;
  /** Last result for a consumer that is too slow, in place of the queued ones. */
  readonly tooSlow: ApiResult;
}

const MAX_WAITING = 1000;

/** Creates a bounded queue of results between a producer and a consumer: a consumer that is too slow loses its subscription. */
export function createResultQueue({ stop, maxBytes, tooSlow }: ResultQueueOptions) {
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
    /** `bytes` is the size of the result on the wire. */
    push(result: ApiResult, bytes: number): void {
      if (over) return;
      const isSlow = waiting.length >= MAX_WAITING || (waiting.length > 0 && size + bytes > maxBytes);
      if (isSlow) leave();
      waiting.push(isSlow ? { result: tooSlow, bytes: 0 } : { result, bytes });
      size += bytes;
      wake?.();
    },
  };
}
