import type { Context, Scope } from '@edge-gateway/core';
import type { RateLimitRules, RateLimitServer } from '@edge-gateway/core/schema';
import { embeddedLimiter } from '../embedded-limiter.ts';
import type { Domain, Limiter } from '../limiter.ts';
import { compileRules } from '../rules/compile-rules.ts';
import type { RuleSet } from '../rules/rule.ts';
import { createMemoryStore } from '../store/memory.ts';
import type { Store } from '../store/store.ts';

/** What decides about requests. */
export interface LimiterOptions {
  /** Counters of embedded limits. Default: in memory; they survive reloads. */
  readonly store?: Store;
  /** Maximum number of counters in memory. Default: that of `createMemoryStore`. */
  readonly maxKeys?: number;
  /**
   * Creates the limiter that calls the server of `ratelimitServerRef`; called for each compiled block, so connections belong into
   * `context.state`. `embedded` counts in this process, for a server that does not exist. Default: the reference is ignored.
   */
  readonly createRemoteLimiter?: (
    server: RateLimitServer & Required<Pick<RateLimitServer, 'ratelimitServerRef'>>,
    embedded: Limiter,
    context: Context,
  ) => Limiter;
}

/** Returns the limiter for the rules of one domain. */
export type LimiterOf = (domain: Domain, ruleSets: readonly RuleSet[]) => Limiter;

/** Returns what creates the limiters of a scope. */
export function limiterSource(
  { store, maxKeys, createRemoteLimiter }: LimiterOptions,
  context: Context,
  scope: Scope | undefined,
): LimiterOf {
  const server = scope?.settings.ratelimitServer;
  const ratelimitServerRef = server?.ratelimitServerRef;
  const counters = store ?? memoryStoreOf(context, maxKeys);
  return (domain, ruleSets) => {
    const embedded = embeddedLimiter({ ruleSets: { [domain]: ruleSets }, store: counters });
    if (!ratelimitServerRef || !createRemoteLimiter) return embedded;
    return createRemoteLimiter({ ...server, ratelimitServerRef }, embedded, context);
  };
}

/** The counters of a process that has no other store. */
function memoryStoreOf(context: Context, maxKeys: number | undefined): Store {
  return context.state('rateLimit.store', () => {
    const log = context.log.get('filter');
    const evicted = context.metrics.counter({
      path: 'ratelimit.vendor.io.counters_evicted',
      metric: 'ratelimit_vendor_io_counters_evicted',
    });
    return createMemoryStore({
      ...(maxKeys !== undefined && { maxKeys }),
      now: context.now,
      onEvict(keys) {
        if (evicted.value === 0) log.warn({ keys }, 'too many rate limit counters, oldest evicted');
        evicted.value += keys;
      },
    });
  });
}

/** Rules of the Settings are compiled once for all virtual hosts. */
const compiled = new WeakMap<RateLimitRules, RuleSet>();

/** Returns the compiled rules of the Settings. Throws `ERR_RATE_LIMIT_RULES` if one is invalid. */
export function settingsRules(rules: RateLimitRules | undefined): readonly RuleSet[] {
  if (!rules) return [];
  let ruleSet = compiled.get(rules);
  if (!ruleSet) compiled.set(rules, (ruleSet = compileRules(rules, { domain: 'custom' })));
  return [ruleSet];
}
