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

/** Creates the statistics of rules; those of one rule are created at its first request. */
export function createDecisionStats(metrics: Metrics): DecisionStats {
  const rules = new Map<string, RuleStats>();
  const missed = metrics.counter(stat('descriptor_miss'));

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
      for (const outcome of outcomes) countOutcome(statsOf(outcome.rule), outcome);
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
