import type { ApiResult } from '../api.ts';

/** Results that come from one side and are taken by the other. */
export interface ResultQueue {
  readonly results: AsyncIterableIterator<ApiResult>;
  push(result: ApiResult): void;
  end(): void;
}

/** Results that may wait; a client that is slower loses its subscription. */
const MAX_WAITING = 1000;

/** Makes a queue; `stop` is called once, when the taker has left or is too slow. */
export function createResultQueue(stop: () => void): ResultQueue {
  const waiting: ApiResult[] = [];
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
      const value = waiting.shift();
      return value === undefined ? { done: true, value } : { done: false, value };
    },
    async return() {
      leave();
      return { done: true, value: undefined };
    },
  };
  return {
    results,
    end,
    push(result) {
      if (over) return;
      if (waiting.push(result) > MAX_WAITING) return leave();
      wake?.();
    },
  };
}
