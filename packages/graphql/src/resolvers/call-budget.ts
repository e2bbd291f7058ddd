import { FieldFailure } from '../api/field-failure.ts';
import type { Limits } from '../api/limits.ts';

/** Limits the requests to upstreams of one operation of a client, over all APIs that take part. */
export interface CallBudget {
  /** Makes a request. Waits while too many are in progress. Rejects if there were too many in total, or the operation has ended. */
  run<T>(make: () => Promise<T>, signal: AbortSignal): Promise<T>;
}

/** Creates the budget of one operation. */
export function createCallBudget(limits: Limits): CallBudget {
  return new OperationBudget(limits);
}

class OperationBudget implements CallBudget {
  readonly #limits: Limits;
  #made = 0;
  #underWay = 0;
  readonly #waiting: (() => void)[] = [];

  constructor(limits: Limits) {
    this.#limits = limits;
  }

  run<T>(make: () => Promise<T>, signal: AbortSignal): Promise<T> {
    const { maxUpstreamCalls, maxConcurrentCalls } = this.#limits;
    if (maxUpstreamCalls > 0 && this.#made >= maxUpstreamCalls) {
      const shown = `The operation needs more than ${maxUpstreamCalls} requests to upstreams.`;
      return Promise.reject(new FieldFailure(shown, { code: 'ERR_GRAPHQL_LIMIT', shown }));
    }
    this.#made++;
    if (maxConcurrentCalls === 0 || this.#underWay < maxConcurrentCalls) return this.#start(make, signal);
    return new Promise((resolve, reject) => {
      this.#waiting.push(() => void this.#start(make, signal).then(resolve, reject));
    });
  }

  #start<T>(make: () => Promise<T>, signal: AbortSignal): Promise<T> {
    this.#underWay++;
    const made = begin(make, signal);
    made.then(this.#leave, this.#leave);
    return made;
  }

  readonly #leave = (): void => {
    this.#underWay--;
    this.#waiting.shift()?.();
  };
}

/** Never throws. */
function begin<T>(make: () => Promise<T>, signal: AbortSignal): Promise<T> {
  try {
    if (signal.aborted) throw new FieldFailure('the operation has ended', { code: 'ERR_GRAPHQL_TIMEOUT' });
    return make();
  } catch (error) {
    return Promise.reject(error as Error);
  }
}
