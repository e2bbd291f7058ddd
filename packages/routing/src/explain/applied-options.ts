import type { Listener, Route, VirtualHost } from '@edge-gateway/core';
import type { RateLimitConfigRefs, RateLimitRoute } from '@edge-gateway/core/schema';
import type { AppliedOption } from './explanation.ts';

/** Options in the order in which a request meets them; others follow by name. */
const ORDER: readonly string[] = [
  'earlyHeaderManipulation',
  'extProcEarly',
  'faults',
  'cors',
  'httpLocalRatelimit',
  'ratelimitEarly',
  'rateLimitEarlyConfigs',
  'jwtStaged.beforeExtAuth',
  'jwtProvidersStaged.beforeExtAuth',
  'extauth',
  'stagedTransformations.early',
  'jwt',
  'jwtStaged.afterExtAuth',
  'jwtProvidersStaged.afterExtAuth',
  'rbac',
  'ratelimitBasic',
  'ratelimit',
  'rateLimitConfigs',
  'ratelimitRegular',
  'rateLimitRegularConfigs',
  'stagedTransformations.regular',
  'transformations',
  'extProc',
  'csrf',
  'bufferPerRoute',
  'extProcLate',
  'headerManipulation',
  'hostRewrite',
  'autoHostRewrite',
  'hostRewriteHeader',
  'hostRewritePathRegex',
  'appendXForwardedHost',
  'prefixRewrite',
  'regexRewrite',
  'upgrades',
  'shadowing',
  'lbHash',
  'timeout',
  'retries',
  'dlp',
  'gzip',
];

/** Options whose members take effect at different stages; each member is shown separately. */
const STAGED = new Set(['jwtStaged', 'jwtProvidersStaged', 'stagedTransformations']);

interface Level {
  readonly from: AppliedOption['from'];
  readonly destination?: string;
  readonly options: Readonly<Record<string, unknown>>;
}

/** Returns the options that apply to a route, with the level of each. */
export function appliedOptions(listener: Listener, host: VirtualHost, route: Route): AppliedOption[] {
  const levels = levelsOf(listener, host, route);
  const names = [...new Set(levels.flatMap(({ options }) => Object.keys(options)))].sort(byOrder);
  return names.flatMap((option) => ofOneOption(option, levels, listener));
}

/** The most specific first. */
function levelsOf(listener: Listener, host: VirtualHost, route: Route): Level[] {
  const destinations = route.action.type === 'forward' ? route.action.destinations : [];
  const { csrf, dlp, gzip, buffer, httpLocalRatelimit, httpConnectionManagerSettings } = listener.httpOptions;
  const early = httpConnectionManagerSettings?.earlyHeaderManipulation;
  return [
    ...destinations.map(({ upstream, options }): Level => ({
      from: 'destination',
      destination: upstream,
      options: byMoment({ ...options }),
    })),
    { from: 'route', options: byMoment({ ...route.options }) },
    { from: 'virtual host', options: byMoment({ ...host.options }) },
    {
      from: 'listener',
      options: {
        earlyHeaderManipulation: early,
        csrf,
        dlp,
        gzip,
        bufferPerRoute: buffer && { buffer },
        httpLocalRatelimit,
      },
    },
  ];
}

function byMoment(options: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const entries = Object.entries(options).flatMap(([option, value]): [string, unknown][] => {
    if (!STAGED.has(option) || typeof value !== 'object' || value === null) return [[option, value]];
    return Object.entries(value).map(([member, part]) => [`${option}.${member}`, part]);
  });
  return Object.fromEntries(entries);
}

/** Rate limits in an option, and in resources that its sibling refers to. */
const LIMITS: ReadonlyMap<string, string> = new Map([
  ['ratelimit', 'ratelimit'],
  ['rateLimitConfigs', 'ratelimit'],
  ['ratelimitEarly', 'ratelimitEarly'],
  ['rateLimitEarlyConfigs', 'ratelimitEarly'],
  ['ratelimitRegular', 'ratelimitRegular'],
  ['rateLimitRegularConfigs', 'ratelimitRegular'],
]);

/**
 * What replaces one another: options of one name, but for JWT those of one moment, for rate limits those of one family, and
 * transformations as a whole.
 */
function groupOf(option: string): string {
  const family = LIMITS.get(option);
  if (family) return `limits.${family}`;
  if (option === 'jwt') return 'jwt.afterExtAuth';
  if (option.startsWith('stagedTransformations.')) return 'transformations';
  return option.replace(/^jwt(?:Providers)?Staged\./, 'jwt.');
}

/** A route with `disable: false` replaces nothing, nor do limits that include those of the virtual host, or are only local. */
function replaces(option: string, value: unknown): boolean {
  if (LIMITS.has(option)) return replacesLimits(value as RateLimitRoute & RateLimitConfigRefs);
  return !groupOf(option).startsWith('jwt.') || (value as { readonly disable?: boolean }).disable !== false;
}

function replacesLimits({ rateLimits = [], refs = [], includeVhRateLimits }: RateLimitRoute & RateLimitConfigRefs) {
  return rateLimits.length + refs.length > 0 && !includeVhRateLimits;
}

/** True if a virtual host or route has a local limit, which replaces that of the listener. */
function hasLocalLimit({ options }: Level): boolean {
  return ['ratelimit', 'ratelimitEarly'].some((name) => (options[name] as RateLimitRoute | undefined)?.localRatelimit);
}

function ofOneOption(option: string, levels: readonly Level[], listener: Listener): AppliedOption[] {
  const set = levels.filter(({ options }) => options[option] !== undefined);
  const replacing = levels.filter(({ options }) =>
    Object.entries(options).some(([name, value]) => groupOf(name) === groupOf(option) && replaces(name, value)),
  );
  const applied = set.map(({ from, destination, options }): AppliedOption => {
    const isLocal = option === 'httpLocalRatelimit' && levels.some(hasLocalLimit);
    const replaced = isLocal || replacing.some((other) => isMoreSpecific(other, from));
    const applies = option === 'headerManipulation' || !replaced;
    return { option, from, ...(destination !== undefined && { destination }), applies, value: options[option] };
  });
  const reversed = option === 'headerManipulation' && listener.routeOptions.mostSpecificHeaderMutationsWins === true;
  return reversed ? applied.toReversed() : applied;
}

/** A destination replaces only for its own share, so it never replaces the others for good. */
function isMoreSpecific(other: Level, from: AppliedOption['from']): boolean {
  const rank = ['listener', 'virtual host', 'route', 'destination'];
  return other.from !== 'destination' && rank.indexOf(other.from) > rank.indexOf(from);
}

function byOrder(a: string, b: string): number {
  const [left, right] = [ORDER.indexOf(a), ORDER.indexOf(b)];
  if (left !== right) return (left < 0 ? ORDER.length : left) - (right < 0 ? ORDER.length : right);
  return a < b ? -1 : 1;
}
