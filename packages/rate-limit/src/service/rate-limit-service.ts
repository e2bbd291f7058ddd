import { DEFAULTS, type Context } from '@edge-gateway/core';
import { createDecisionStats } from '../concern/rule-stats.ts';
import { embeddedLimiter } from '../embedded-limiter.ts';
import { rateLimitError } from '../error-codes.ts';
import type { Decision, Limiter } from '../limiter.ts';
import type { WireRequest, WireResponse } from '../protocol/messages.ts';
import { ruleLines } from '../rules/rule-lines.ts';
import type { Store } from '../store/store.ts';
import { checkedRequestOf } from './check-request.ts';
import { checkResponseOf } from './check-response.ts';
import { createRulesCompiler, type RulesState, type ServedRules } from './served-rules.ts';

/** Options of {@link createRateLimitService}. */
export interface RateLimitServiceOptions {
  readonly context: Pick<Context, 'log' | 'metrics'>;
  /** The counters, which survive changes of the rules; not closed by the service. */
  readonly store: Store;
  /** Most checks that wait for the store; further ones fail. Default 10,000. */
  readonly maxChecks?: number;
}

/** Counts requests by the rules of a control plane. */
export interface RateLimitService {
  /** Applies the rules of a state. Counters are kept. */
  update(state: RulesState): void;
  /**
   * Counts a request; a value if the counters are in memory. Requests of unknown domains, and descriptors without rules, are not limited. Throws
   * `ERR_RATE_LIMIT_REQUEST` for an invalid request, and rejects when the store does not respond within the deadline in milliseconds.
   */
  check(request: WireRequest, deadlineMs: number): WireResponse | Promise<WireResponse>;
  /** The lines of `/rlconfig`, of all domains. */
  ruleLines(): readonly string[];
  /** Number of checks that wait for the store. */
  readonly active: number;
}

const DEFAULT_MAX_CHECKS = 10_000;
const NO_RULES: ServedRules = { custom: [], basic: [], 'vendor.io': [] };
const UNLIMITED: Decision = { isAllowed: true, outcomes: [] };

/**
 * Creates the service of a rate limit server, without rules.
 *
 * @example
 * const service = createRateLimitService({ context, store: createMemoryStore() });
 * controlPlane.subscribe((state) => service.update(state));
 * const { overallCode } = await service.check({ domain: 'custom', descriptors }, 100);
 */
export function createRateLimitService({
  context: { log, metrics },
  store,
  maxChecks = DEFAULT_MAX_CHECKS,
}: RateLimitServiceOptions): RateLimitService {
  const compile = createRulesCompiler(log.get('filter'));
  const stats = createDecisionStats(metrics);
  let rules = NO_RULES;
  let limiter: Limiter = embeddedLimiter({ ruleSets: rules, store });
  let ipv6Bits: number = DEFAULTS.ipv6PrefixLength;
  let active = 0;

  async function pending(
    decision: Promise<Decision>,
    done: (decision: Decision) => WireResponse,
  ): Promise<WireResponse> {
    active++;
    try {
      return done(await decision);
    } catch (error) {
      stats.failed('store');
      throw error;
    } finally {
      active--;
    }
  }

  return {
    update(state) {
      rules = compile(state);
      ipv6Bits = state.settings.ratelimitServer?.ipv6PrefixLength ?? DEFAULTS.ipv6PrefixLength;
      limiter = embeddedLimiter({ ruleSets: rules, store });
    },
    check(request, deadlineMs) {
      const { domain, descriptors } = checkedRequestOf(request, ipv6Bits);
      const done = (decision: Decision): WireResponse => {
        stats.count(decision);
        return checkResponseOf(decision, descriptors);
      };
      if (!domain) return done(UNLIMITED);
      if (active >= maxChecks) {
        stats.failed('overload');
        throw rateLimitError('ERR_RATE_LIMIT_SERVICE', 'too many checks');
      }
      const decision = limiter.check(domain, descriptors, deadlineMs);
      return decision instanceof Promise ? pending(decision, done) : done(decision);
    },
    ruleLines: () => Object.values(rules).flatMap((ruleSets) => ruleSets.flatMap(ruleLines)),
    get active() {
      return active;
    },
  };
}
