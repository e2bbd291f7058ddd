import type {
  RateLimitActions,
  RateLimitConcurrency,
  RateLimitConfigRefs,
  RateLimitRoute,
} from '@edge-gateway/core/schema';
import type { LimitBlock } from './limit-block.ts';

/** When limits are applied: before or after authentication. */
export type LimitStage = 'rateLimitEarly' | 'rateLimit';

/** An option and its sibling with references; a level has one of them at most. */
const OPTION_SETS = [
  { own: 'ratelimit', configs: 'rateLimitConfigs', stage: undefined },
  { own: 'ratelimitEarly', configs: 'rateLimitEarlyConfigs', stage: 'rateLimitEarly' },
  { own: 'ratelimitRegular', configs: 'rateLimitRegularConfigs', stage: 'rateLimit' },
] as const;

type ConfigRef = NonNullable<RateLimitConfigRefs['refs']>[number];

/** The limits of one option set that apply to a route. */
export interface LimitOptionSet {
  readonly rateLimits: readonly RateLimitActions[];
  /** One may be listed twice. */
  readonly refs: readonly ConfigRef[];
  readonly concurrency: readonly ScopedConcurrency[];
  readonly retryAfter: boolean;
}

/** Limits of requests in flight, and the level that counts them. */
export interface ScopedConcurrency {
  readonly level: 'host' | 'route';
  /** The option that contains them. */
  readonly option: string;
  readonly limits: readonly RateLimitConcurrency[];
}

/** Returns the option sets of a stage; those without a stage of their own belong to `unstaged`. */
export function optionSetsAt(block: LimitBlock, stage: LimitStage, unstaged: LimitStage): LimitOptionSet[] {
  return OPTION_SETS.filter((optionSet) => (optionSet.stage ?? unstaged) === stage).map(({ own, configs }) =>
    optionSetOf(
      { own: block.host[own], refs: block.host[configs]?.refs ?? [], level: 'host', option: own },
      { own: block.route[own], refs: block.route[configs]?.refs ?? [], level: 'route', option: own },
    ),
  );
}

interface OptionSetLevel {
  readonly own: RateLimitRoute | undefined;
  readonly refs: readonly ConfigRef[];
  readonly level: ScopedConcurrency['level'];
  readonly option: string;
}

/** The lists of a route replace those of its virtual host, unless it includes them. */
function optionSetOf(host: OptionSetLevel, route: OptionSetLevel): LimitOptionSet {
  const includes = route.own?.includeVhRateLimits === true;
  const replacesLimits = (route.own?.rateLimits ?? []).length > 0 || route.refs.length > 0;
  const limited = includes ? [host, route] : [replacesLimits ? route : host];
  const replacesConcurrency = (route.own?.concurrency ?? []).length > 0;
  const concurrent = includes ? [host, route] : [replacesConcurrency ? route : host];
  return {
    rateLimits: limited.flatMap(({ own }) => own?.rateLimits ?? []),
    refs: limited.flatMap(({ refs }) => refs),
    concurrency: concurrent.flatMap(({ own, level, option }) =>
      own?.concurrency?.length ? [{ level, option, limits: own.concurrency }] : [],
    ),
    retryAfter: route.own?.retryAfter ?? host.own?.retryAfter ?? true,
  };
}
