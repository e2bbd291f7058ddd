import type { CompiledDescriptor } from './descriptor/compile-actions.ts';
import type { Descriptor } from './descriptor/descriptor.ts';
import type { DescribedRequest } from './descriptor/request.ts';
import type { Limit } from './rules/limit.ts';
import type { Count } from './store/store.ts';

/** The rules that descriptors are matched with: those of the Settings, or of one resource. */
export type Domain = 'custom' | 'basic' | 'vendor.io';

/** The outcome of one rule for one request. */
export interface RuleOutcome extends Count {
  /** Name of the rule, as in `/rlconfig`; labels its metrics. */
  readonly rule: string;
  readonly limit: Limit;
  /** True if the rule only counts. */
  readonly isShadow: boolean;
  /** The descriptor that matched; unset if a rate limit server decided, or a prepared check. */
  readonly descriptor?: Descriptor | undefined;
  /** True if only a rate limit server knows the rule. */
  readonly isForeign?: boolean | undefined;
}

/** What limits are compared by. */
export type Strictness = Pick<RuleOutcome, 'isOver' | 'remaining' | 'resetMs'>;

/** What the limits say about one request. */
export interface Decision {
  readonly isAllowed: boolean;
  /** The outcomes of all rules that matched; empty if none did. */
  readonly outcomes: readonly RuleOutcome[];
}

/** Counts requests: embedded in this process, or by calls of a rate limit server. */
export interface Limiter {
  /** Returns the decision; a value if the counters are in memory. Rejects if there is no decision within `deadlineMs`. */
  check(domain: Domain, descriptors: readonly Descriptor[], deadlineMs: number): Decision | Promise<Decision>;
  /**
   * Compiles the descriptors of a route and the rules of a domain into one step, with the same decisions as `check`. `undefined` if these
   * must be checked by `check`; limiters that call a server do not have it.
   */
  prepare?(domain: Domain, descriptors: readonly CompiledDescriptor[]): PreparedCheck | undefined;
}

/**
 * Counts a request; returns `undefined` if it has no descriptor. A decision that is not a promise may change with the next call, so that
 * it needs no memory: read it at once. Store failures reject, they do not throw.
 */
export type PreparedCheck = (request: DescribedRequest, deadlineMs: number) => Decision | Promise<Decision> | undefined;

/**
 * Returns the outcome that response headers state: one over its limit, then the one with the least requests left, then the one that
 * resets last. `undefined` if there is none; rules that only count are left out.
 */
export function strictestOutcome({ outcomes }: Decision): RuleOutcome | undefined {
  let strictest: RuleOutcome | undefined;
  for (const outcome of outcomes) {
    if (!outcome.isShadow && (!strictest || isStricter(outcome, strictest))) strictest = outcome;
  }
  return strictest;
}

/** Returns true if responses state `a` rather than `b`; see {@link strictestOutcome}. */
export function isStricter(a: Strictness, b: Strictness): boolean {
  if (a.isOver !== b.isOver) return a.isOver;
  return a.remaining === b.remaining ? a.resetMs > b.resetMs : a.remaining < b.remaining;
}
