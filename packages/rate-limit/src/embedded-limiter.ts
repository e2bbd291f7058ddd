import type { Decision, Domain, Limiter, PreparedCheck } from './limiter.ts';
import type { Hit } from './rules/hit.ts';
import { createMatch, type Match } from './rules/match.ts';
import { prepareMatch, type PreparedMatch } from './rules/prepare-match.ts';
import type { RuleSet } from './rules/rule.ts';
import type { Count, Store } from './store/store.ts';

/** What an embedded limiter consists of. */
export interface EmbeddedLimiterOptions {
  /** The rules of each domain; those of `vendor.io` have one set per RateLimitConfig. */
  readonly ruleSets: Readonly<Partial<Record<Domain, readonly RuleSet[]>>>;
  /** The counters; not closed by the limiter. */
  readonly store: Store;
}

/**
 * Creates a limiter that matches and counts in this process. Changed rules need a new limiter with the same store, which is cheap.
 *
 * @example
 * const store = createMemoryStore();
 * const limiter = embeddedLimiter({ ruleSets: { custom: [compileRules(rules, { domain: 'custom' })] }, store });
 * const { isAllowed } = await limiter.check('custom', descriptorsOf(request), 100);
 */
export function embeddedLimiter({ ruleSets, store }: EmbeddedLimiterOptions): Limiter {
  const matches: Readonly<Record<Domain, Match>> = {
    custom: createMatch(ruleSets.custom ?? []),
    basic: createMatch(ruleSets.basic ?? []),
    'vendor.io': createMatch(ruleSets['vendor.io'] ?? []),
  };
  return {
    check(domain, descriptors, deadlineMs) {
      const hits = matches[domain](descriptors);
      return hits.length === 0 ? UNLIMITED : count(store, hits, deadlineMs);
    },
    prepare(domain, descriptors) {
      const prepared = prepareMatch(descriptors, ruleSets[domain] ?? [], store.tally !== undefined);
      return prepared && countPrepared(prepared, store);
    },
  };
}

const UNLIMITED: Decision = { isAllowed: true, outcomes: [] };

function count(store: Store, hits: readonly Hit[], deadlineMs: number): Decision | Promise<Decision> {
  if (store.tally) {
    store.tally(hits);
    return { isAllowed: isAllowed(hits), outcomes: hits };
  }
  const counts = store.count(hits, deadlineMs);
  return counts instanceof Promise ? counts.then((each) => settle(hits, each)) : settle(hits, counts);
}

function countPrepared(match: PreparedMatch, store: Store): PreparedCheck {
  if (!store.tally) {
    return (request, deadlineMs) => {
      const hits = match(request);
      if (!hits) return undefined;
      if (hits.length === 0) return UNLIMITED;
      try {
        return count(store, hits, deadlineMs);
      } catch (error) {
        return Promise.reject(error as Error);
      }
    };
  }
  const decision: { isAllowed: boolean; outcomes: readonly Hit[] } = { isAllowed: true, outcomes: [] };
  return (request) => {
    const hits = match(request);
    if (!hits) return undefined;
    if (hits.length === 0) return UNLIMITED;
    store.tally!(hits);
    decision.isAllowed = isAllowed(hits);
    decision.outcomes = hits;
    return decision;
  };
}

function settle(hits: readonly Hit[], counts: readonly Count[]): Decision {
  for (let i = 0; i < hits.length; i++) hits[i]!.settle(counts[i]!);
  return { isAllowed: isAllowed(hits), outcomes: hits };
}

function isAllowed(hits: readonly Hit[]): boolean {
  for (let i = 0; i < hits.length; i++) {
    const { isOver, group } = hits[i]!;
    if (isOver && !group.isShadow) return false;
  }
  return true;
}
