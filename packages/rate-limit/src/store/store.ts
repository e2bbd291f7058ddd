import type { Limit } from '../rules/limit.ts';

/** The counters of one rule. */
export interface CounterGroup {
  /** Prefix of their keys; unique per rule. */
  readonly id: string;
  /** For a store in memory: what it has computed for the group. */
  memo?: object | undefined;
}

/** A counter to increase. */
export interface Charge {
  /** Unique per rule and distinct values; contains no raw value longer than 64 bytes. May be computed when it is read. */
  readonly key: string;
  /** With `values`, the same as the key for stores in memory, which need not compute it. A counter always has a group or never. */
  readonly group?: CounterGroup | undefined;
  /** The distinct values of the counter in its group, as they are in the request. */
  readonly values?: string | undefined;
  /** True if the values are a secret, which stores must not keep. */
  readonly isSecret?: boolean | undefined;
  readonly limit: Limit;
  /** An integer of 0 or more; 0 reads the counter only, and is over only if the counter is. */
  readonly cost: number;
}

/** The state of one counter after a {@link Charge}. */
export interface Count {
  /** True if the counter with the charge is greater than the limit. */
  readonly isOver: boolean;
  /** Requests left, 0 or more. */
  readonly remaining: number;
  /**
   * Milliseconds until more requests are left: the end of the window; of a bucket, the time of the next token or of those that a rejected
   * charge needs.
   */
  readonly resetMs: number;
}

/** A charge that contains the state of its counter, once it is counted. */
export interface Tally extends Charge {
  isOver: Count['isOver'];
  remaining: Count['remaining'];
  resetMs: Count['resetMs'];
}

/**
 * Counts. A store is shared by all limits of a process, or by several processes. All charges of one call are counted even if one is over
 * its limit. Fixed windows are charged when they are over, sliding windows and token buckets are not. The same key with another unit or
 * algorithm is another counter.
 */
export interface Store {
  /**
   * Increases the counters and returns their states in the same order; a value if they are in memory. Rejects when the counters cannot be
   * reached within the deadline.
   */
  count(charges: readonly Charge[], deadlineMs: number): readonly Count[] | Promise<readonly Count[]>;
  /**
   * The same without objects for the states, which are written into the tallies; only stores in memory have it. The tallies belong to the
   * caller: the store does not keep them.
   */
  tally?(tallies: readonly Tally[]): void;
  close(): void;
}
