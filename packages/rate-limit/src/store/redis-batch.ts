import { UnexpectedReply } from '@edge-gateway/core';
import { rateLimitError } from '../error-codes.ts';
import type { Algorithm, Limit, Unit } from '../rules/limit.ts';
import { windowAt } from '../rules/window.ts';
import type { Charge, Count } from './store.ts';

/** The counts of one call of the store, until all are known. */
export interface PendingCall {
  readonly counts: Count[];
  /** Charges without a count. */
  left: number;
  resolve(counts: readonly Count[]): void;
  reject(error: unknown): void;
}

const ALGORITHMS: Readonly<Record<Algorithm, string>> = { FIXED_WINDOW: 'f', SLIDING_WINDOW: 's', TOKEN_BUCKET: 'b' };
const UNITS: Readonly<Record<Unit, string>> = {
  SECOND: 's',
  MINUTE: 'm',
  HOUR: 'h',
  DAY: 'd',
  WEEK: 'w',
  MONTH: 'M',
  YEAR: 'Y',
};

/** Returns the algorithm and unit of a limit, as the script reads them. They are part of keys. */
export function kindOf({ algorithm, unit }: Limit): string {
  return ALGORITHMS[algorithm] + UNITS[unit];
}

/** Charges that go to Redis in one command. */
export class Batch {
  /** KEYS of the script. */
  readonly keys: string[] = [];
  /** ARGV of the script: equal charges are one run. */
  readonly runs: string[] = [];
  readonly #limits: Limit[] = [];
  readonly #calls: PendingCall[] = [];
  readonly #places: number[] = [];
  #limit: Limit | undefined;
  #cost = 0;
  #start = '';
  #length = 0;

  /** Adds the charge at `place` of a call. */
  add(key: string, { limit, cost }: Charge, call: PendingCall, place: number): void {
    this.keys.push(key);
    this.#limits.push(limit);
    this.#calls.push(call);
    this.#places.push(place);
    if (limit === this.#limit && cost === this.#cost) {
      this.#length++;
      return;
    }
    this.#endRun();
    this.#limit = limit;
    this.#cost = cost;
    this.#length = 1;
    const { requests, burst, unitMs } = limit;
    this.#start = `${kindOf(limit)} ${requests} ${burst} ${unitMs} ${Math.min(cost, Number.MAX_SAFE_INTEGER)} `;
  }

  /** Returns the arguments of the script; nothing may be added afterwards. */
  seal(): { readonly keys: string[]; readonly arguments: string[] } {
    this.#endRun();
    return { keys: this.keys, arguments: this.runs };
  }

  /** Returns the reply of the script. Throws an {@link UnexpectedReply} for one that is not of this batch. */
  checked(reply: unknown): readonly unknown[] {
    if (!Array.isArray(reply) || !Number.isSafeInteger(reply[0])) throw unexpected();
    const parts: readonly unknown[] = reply;
    let expected = 1;
    for (let i = 0; i < this.keys.length; i++) {
      const left = parts[expected];
      if (!Number.isSafeInteger(left) && typeof left !== 'string') throw unexpected();
      expected += this.#limits[i]!.algorithm === 'TOKEN_BUCKET' ? 2 : 1;
      if (!Number.isSafeInteger(parts[expected - 1]) && typeof left !== 'string') throw unexpected();
    }
    if (parts.length !== expected) throw unexpected();
    return parts;
  }

  /** Passes a checked reply to the calls. */
  resolve(parts: readonly unknown[]): void {
    const clock = new Clock(parts[0] as number);
    let at = 1;
    for (let i = 0; i < this.keys.length; i++) {
      const limit = this.#limits[i]!;
      const left = parts[at++];
      const isBucket = limit.algorithm === 'TOKEN_BUCKET';
      const resetMs = isBucket ? (parts[at++] as number) : clock.untilEnd(limit.unit);
      if (typeof left === 'number') {
        this.#settle(
          i,
          left < 0 ? { isOver: true, remaining: -1 - left, resetMs } : { isOver: false, remaining: left, resetMs },
        );
      } else this.#calls[i]!.reject(rateLimitError('ERR_RATE_LIMIT_STORE', `rate limits on Redis: ${String(left)}`));
    }
  }

  reject(error: unknown): void {
    for (const call of this.#calls) call.reject(error);
  }

  #settle(i: number, count: Count): void {
    const call = this.#calls[i]!;
    call.counts[this.#places[i]!] = count;
    if (--call.left === 0) call.resolve(call.counts);
  }

  #endRun(): void {
    if (this.#length > 0) this.runs.push(this.#start + this.#length);
    this.#length = 0;
  }
}

/** The ends of the windows at one time. */
class Clock {
  readonly #nowMs: number;
  readonly #ends: Partial<Record<Unit, number>> = {};
  #unit: Unit | undefined;
  #left = 0;

  constructor(nowMs: number) {
    this.#nowMs = nowMs;
  }

  untilEnd(unit: Unit): number {
    if (unit !== this.#unit) {
      this.#unit = unit;
      this.#left = (this.#ends[unit] ??= windowAt(unit, this.#nowMs).endMs) - this.#nowMs;
    }
    return this.#left;
  }
}

function unexpected(): UnexpectedReply {
  return new UnexpectedReply('unexpected response of the script');
}
