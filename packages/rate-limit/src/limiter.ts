import type { Descriptor } from './descriptor/descriptor.ts';
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
}

/** What the limits say about one request. */
export interface Decision {
  readonly isAllowed: boolean;
  /** The outcomes of all rules that matched; empty if none did. */
  readonly outcomes: readonly RuleOutcome[];
}

/** Counts requests: embedded in this process, or by asking a rate limit service. */
export interface Limiter {
  /** Returns the decision; a value if the counters are in memory. Rejects when nobody can decide within `deadlineMs`. */
  check(domain: Domain, descriptors: readonly Descriptor[], deadlineMs: number): Decision | Promise<Decision>;
}
