import type { Counter, Metrics, StatName } from '@edge-gateway/core';
import type { Decision, RuleOutcome } from '../limiter.ts';

/** Share of a limit from which requests are near it. */
const NEAR = 0.8;

/** The numbers of one rule. */
interface RuleStats {
  readonly hits: Counter;
  readonly near: Counter;
  readonly over: Counter;
  readonly shadow: Counter;
}

/** Counts decisions by rule (reference: security-graphql 7.6). */
export interface DecisionStats {
  count(decision: Decision): void;
  /** A request whose descriptors match no rule. */
  missed(): void;
  /** A decision that failed, by the code of its error. */
  failed(type: string): void;
}

/** Most rules with statistics of their own of those that only rate limit servers name; the others are counted as one. */
const MAX_FOREIGN = 1000;
/** Longest name with statistics of its own. */
const MAX_NAME = 256;
/** Name of the others; rules start with a domain. */
const OTHER = 'other';

/**
 * Creates the statistics of rules; those of one rule are created at its first request. Rate limit servers may name other rules in each
 * response: only {@link MAX_FOREIGN} of them have statistics of their own.
 */
export function createDecisionStats(metrics: Metrics): DecisionStats {
  const rules = new Map<string, RuleStats>();
  const foreign = new Set<string>();
  const missed = metrics.counter(stat('descriptor_miss'));

  /** Returns the name that an outcome is counted under. */
  function countedName({ rule, isForeign }: RuleOutcome): string {
    if (!isForeign || foreign.has(rule)) return rule;
    if (foreign.size >= MAX_FOREIGN || rule.length > MAX_NAME) return OTHER;
    foreign.add(rule);
    return rule;
  }

  function statsOf(rule: string): RuleStats {
    let stats = rules.get(rule);
    if (!stats) {
      const counter = (name: string): Counter => metrics.counter(stat(name, { descriptor: rule }));
      stats = {
        hits: counter('total_hits'),
        near: counter('near_limit'),
        over: counter('over_limit'),
        shadow: counter('shadow_mode'),
      };
      rules.set(rule, stats);
    }
    return stats;
  }

  return {
    count({ outcomes }) {
      if (outcomes.length === 0) missed.value++;
      for (const outcome of outcomes) countOutcome(statsOf(countedName(outcome)), outcome);
    },
    missed() {
      missed.value++;
    },
    failed(type) {
      metrics.counter(stat('errors', { type })).value++;
    },
  };
}

function countOutcome(stats: RuleStats, { isOver, isShadow, remaining, limit }: RuleOutcome): void {
  stats.hits.value++;
  if (isOver) {
    stats.over.value++;
    if (isShadow) stats.shadow.value++;
  } else if (remaining < limit.requests * (1 - NEAR)) {
    stats.near.value++;
  }
}

function stat(name: string, labels?: Readonly<Record<string, string>>): StatName {
  const path = ['ratelimit.vendor.io', name, ...Object.values(labels ?? {})].join('.');
  return { path, metric: `ratelimit_vendor_io_${name}`, ...(labels && { labels }) };
}
