import type { ServerResponse } from 'node:http';
import {
  factsOf,
  httpStat,
  parseDuration,
  type Concern,
  type Context,
  type GatewayError,
  type Handler,
  type Next,
  startTimer,
} from '@edge-gateway/core';
import type { Faults } from '@edge-gateway/core/schema';
import { replyError, routingError } from '../../error-codes.ts';
import { isChosen } from './fraction.ts';

/** `faults`: delays a share of requests, and aborts a share of requests, also of delayed ones. */
export const faultConcern: Concern<Faults> = { name: 'faults', option: 'faults', stage: 'fault', compile };

function compile({ abort, delay }: Faults, { metrics }: Context): Handler | undefined {
  const abortShare = (abort?.percentage ?? 0) / 100;
  const delayShare = (delay?.percentage ?? 0) / 100;
  const delayMs = delayOf(delay);
  const aborts = metrics.counter(httpStat('fault.aborts_injected'));
  const delays = metrics.counter(httpStat('fault.delays_injected'));
  const active = metrics.gauge(httpStat('fault.active_faults'));
  const aborted = abort && abortOf(abort);
  const pending = new Set<Delay>();

  function proceed(next: Next): void {
    if (!aborted || !isChosen(abortShare)) return next();
    aborts.value++;
    next(aborted);
  }

  const handler: Handler = function faults(req, res, next) {
    if (!delay || !isChosen(delayShare)) return proceed(next);
    delays.value++;
    active.value++;
    factsOf(req).responseFlags = 'DI';
    const delayed: Delay = new Delay(res, delayMs, (isOver) => {
      pending.delete(delayed);
      active.value--;
      if (isOver) proceed(next);
    });
    pending.add(delayed);
  };
  handler.drain = () => pending.forEach((each) => each.end(true));
  return handler;
}

const ABORTED = { details: 'fault_filter_abort', flags: 'FI', isFinal: true } as const;

/** Returns the response to aborted requests. */
export function abortOf({ httpStatus }: NonNullable<Faults['abort']>): GatewayError {
  return replyError('ERR_ROUTING_FAULT', { status: httpStatus, ...ABORTED });
}

function delayOf(delay: Faults['delay']): number {
  if (!delay) return 0;
  if (delay.fixedDelay === undefined) throw routingError('ERR_ROUTING_OPTION', 'a delay needs fixedDelay');
  return parseDuration(delay.fixedDelay);
}

/** The delay of one request. It ends when its time is over, or when the client disconnects. */
class Delay {
  readonly #res: ServerResponse;
  readonly #onEnd: (isOver: boolean) => void;
  readonly #timer: NodeJS.Timeout;
  #ended = false;

  constructor(res: ServerResponse, ms: number, onEnd: (isOver: boolean) => void) {
    this.#res = res;
    this.#onEnd = onEnd;
    this.#timer = startTimer(() => this.end(true), ms);
    res.once('close', this.#left);
  }

  readonly #left = (): void => this.end(false);

  end(isOver: boolean): void {
    if (this.#ended) return;
    this.#ended = true;
    clearTimeout(this.#timer);
    this.#res.off('close', this.#left);
    this.#onEnd(isOver);
  }
}
