import { GatewayError, parseJson, type ResourceRef, type UpstreamResponse } from '@edge-gateway/core';
import { FieldFailure } from '../errors/field-failure.ts';
import type { Limits } from '../document/limits.ts';
import { bodyText } from './body-text.ts';

/** Limits the requests to upstreams of one operation of a client, over all APIs involved. */
export class CallBudget {
  readonly #limits: Limits;
  #made = 0;
  #running = 0;
  readonly #waiting: (() => void)[] = [];

  constructor(limits: Limits) {
    this.#limits = limits;
  }

  /** Makes a request. Waits while too many are in progress. Rejects if there were too many in total, or the operation has ended. */
  run<T>(make: () => Promise<T>, signal: AbortSignal): Promise<T> {
    const { maxUpstreamCalls, maxConcurrentCalls } = this.#limits;
    if (maxUpstreamCalls > 0 && this.#made >= maxUpstreamCalls) {
      const shown = `The operation needs more than ${maxUpstreamCalls} requests to upstreams.`;
      return Promise.reject(new FieldFailure(shown, { code: 'ERR_GRAPHQL_LIMIT', shown }));
    }
    this.#made++;
    if (maxConcurrentCalls === 0 || this.#running < maxConcurrentCalls) return this.#start(make, signal);
    return new Promise((resolve, reject) => {
      this.#waiting.push(() => void this.#start(make, signal).then(resolve, reject));
    });
  }

  #start<T>(make: () => Promise<T>, signal: AbortSignal): Promise<T> {
    this.#running++;
    const made = begin(make, signal);
    made.then(this.#leave, this.#leave);
    return made;
  }

  readonly #leave = (): void => {
    this.#running--;
    this.#waiting.shift()?.();
  };
}

function begin<T>(make: () => Promise<T>, signal: AbortSignal): Promise<T> {
  try {
    if (signal.aborted) throw operationEnded();
    return make();
  } catch (error) {
    return Promise.reject(error as Error);
  }
}

/** Creates the failure of requests after the end of their operation. */
export function operationEnded(): FieldFailure {
  return new FieldFailure('the operation has ended', { code: 'ERR_GRAPHQL_TIMEOUT' });
}

/** The requests to upstreams of one operation, within a budget. */
export class Calls {
  readonly signal: AbortSignal;
  readonly #budget: CallBudget;
  #known: Map<string, Map<string, Promise<unknown>>> | undefined;
  #states: Map<object, unknown> | undefined;

  constructor(budget: CallBudget, signal: AbortSignal) {
    this.#budget = budget;
    this.signal = signal;
  }

  /** Makes a request. Waits while too many are in progress. Rejects if there were too many in total. */
  make<T>(make: () => Promise<T>): Promise<T> {
    return this.#budget.run(make, this.signal);
  }

  /** Makes equal requests of one operation once. `where` is their common part, `what` the rest. */
  once<T>(where: string, what: string, make: () => Promise<T>): Promise<T> {
    this.#known ??= new Map();
    let there = this.#known.get(where);
    if (!there) this.#known.set(where, (there = new Map()));
    let made = there.get(what);
    if (!made) there.set(what, (made = this.make(make)));
    return made as Promise<T>;
  }

  /** Forgets the results, so that requests after a change are made again. */
  forget(): void {
    this.#known = undefined;
    this.#states = undefined;
  }

  /** Returns the state of a resolver for this operation, created at its first use. */
  state<T>(owner: object, create: () => T): T {
    this.#states ??= new Map();
    if (!this.#states.has(owner)) this.#states.set(owner, create());
    return this.#states.get(owner) as T;
  }
}

/** Reads the response of an upstream. Throws a `FieldFailure` unless it is 2xx with JSON or without a body. */
export function jsonOf({ status, headers, body }: UpstreamResponse, { name }: ResourceRef, maxBytes: number): unknown {
  if (status < 200 || status > 299) {
    throw new FieldFailure(`${name} returned status ${status}`, { type: String(status) });
  }
  if (body.length === 0) return null;
  try {
    return parseJson(bodyText({ headers, body }, maxBytes));
  } catch {
    throw new FieldFailure(`${name} returned a response that is not JSON`);
  }
}

/** Returns why an upstream gave no response. */
export function callFailure(error: unknown, { name }: ResourceRef, signal: AbortSignal): FieldFailure {
  const code = signal.aborted ? 'ERR_GRAPHQL_TIMEOUT' : 'ERR_GRAPHQL_RESOLVER';
  const type = error instanceof GatewayError ? error.code : code;
  const reason = error instanceof Error ? error.message : String(error);
  return new FieldFailure(`${name}: ${reason}`, { code, type });
}
