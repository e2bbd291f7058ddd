import type { Route, SnapshotSettings, VirtualHost } from '../contract/snapshot.ts';
import { DEFAULTS } from '../schema/defaults.ts';
import type { RateLimitActions, RateLimitRoute } from '../schema/route/rate-limit.ts';
import { limitMomentsOf, usualMoment, type LimitMoment } from './limit-usage.ts';
import { message, protoDuration, typed, type EnvoyMessage } from './message.ts';
import { entriesOf, genericKey } from './rate-limit-entries.ts';
import { rateLimitCluster } from './services.ts';
import type { TranslationContext } from './translation-context.ts';

type Limits = Route['options'] & VirtualHost['options'];

/**
 * The domains of the rate limit server, each before and after auth. A filter of Envoy has one domain; it finds its entries among those of a route
 * by their stage.
 */
const FILTERS = [
  { domain: 'custom', moment: 'early', stage: 1 },
  { domain: 'vendor.io', moment: 'early', stage: 3 },
  { domain: 'custom', moment: 'regular', stage: 0 },
  { domain: 'vendor.io', moment: 'regular', stage: 2 },
] as const;

/** An option and its sibling with references. */
const FAMILIES = [
  { own: 'ratelimit', configs: 'rateLimitConfigs', moment: undefined },
  { own: 'ratelimitEarly', configs: 'rateLimitEarlyConfigs', moment: 'early' },
  { own: 'ratelimitRegular', configs: 'rateLimitRegularConfigs', moment: 'regular' },
] as const;

/** Returns the filters of global limits at one moment, if a level uses them. */
export function servedLimitFilters(
  moment: LimitMoment,
  usage: ReadonlySet<string>,
  { settings, services }: TranslationContext,
): (readonly [name: string, config: EnvoyMessage])[] {
  const cluster = services && rateLimitCluster(settings, services);
  if (cluster === undefined || !limitMomentsOf(usage, settings).has(moment)) return [];
  return FILTERS.filter((filter) => filter.moment === moment).map(({ domain, stage }) => [
    `envoy.filters.http.ratelimit.${domain}.${moment}`,
    rateLimitFilter(domain, stage, { cluster, settings }),
  ]);
}

function rateLimitFilter(
  domain: string,
  stage: number,
  { cluster, settings }: { readonly cluster: string; readonly settings: SnapshotSettings },
): EnvoyMessage {
  const server = settings.ratelimitServer ?? {};
  const timeout = protoDuration(server.requestTimeout ?? DEFAULTS.rateLimitTimeout);
  const envoy_grpc = message({ cluster_name: cluster, authority: server.grpcService?.authority || undefined });
  return typed('envoy.extensions.filters.http.ratelimit.v3.RateLimit', {
    domain,
    stage,
    timeout,
    failure_mode_deny: server.denyOnFail || undefined,
    enable_x_ratelimit_headers: server.enableXRatelimitHeaders ? 'DRAFT_VERSION_03' : undefined,
    rate_limit_service: { grpc_service: message({ envoy_grpc, timeout }), transport_api_version: 'V3' },
  });
}

/** Returns `rate_limits` of a route: its own, and those of its virtual host as far as they apply to it. */
export function servedLimitsOf(route: Route, host: VirtualHost, context: TranslationContext): EnvoyMessage {
  const usual = usualMoment(context.settings);
  const entries = FAMILIES.flatMap((family) => {
    const moment = family.moment ?? usual;
    const { limits, refs } = applying(host.options as Limits, route.options as Limits, family);
    const custom = limits.flatMap((limit) => entriesOf(limit, [], context));
    const configs = refs.flatMap(({ namespace, name }) => {
      const config = host.rateLimitConfigs.find(({ ref }) => ref.name === name && ref.namespace === namespace);
      const first = [genericKey(`${namespace}.${name}`)];
      return (config?.spec.raw?.rateLimits ?? []).flatMap((limit) => entriesOf(limit, first, context));
    });
    return [...staged(custom, 'custom', moment), ...staged(configs, 'vendor.io', moment)];
  });
  return entries.length > 0 ? { rate_limits: entries } : {};
}

/** Returns true if a route has limits, of its own or of its virtual host, that only a route to an upstream can have. */
export function hasGlobalLimits(route: Route, host: VirtualHost): boolean {
  return FAMILIES.some((family) => {
    const { limits, refs } = applying(host.options as Limits, route.options as Limits, family);
    return limits.length + refs.length > 0;
  });
}

/** Returns the RateLimitConfigs of a route, as `<namespace>.<name>`. */
export function configsOf(route: Route, host: VirtualHost): string[] {
  return FAMILIES.flatMap((family) =>
    applying(host.options as Limits, route.options as Limits, family).refs.map(
      ({ namespace, name }) => `${namespace}.${name}`,
    ),
  );
}

/** The lists of a route replace those of its virtual host, unless it includes them. */
function applying(host: Limits, route: Limits, { own, configs }: (typeof FAMILIES)[number]) {
  const block: RateLimitRoute | undefined = route[own];
  const ownLimits = block?.rateLimits ?? [];
  const ownRefs = route[configs]?.refs ?? [];
  const replaces = ownLimits.length + ownRefs.length > 0;
  const inherited = block?.includeVhRateLimits || !replaces ? host : undefined;
  const limits: readonly RateLimitActions[] = [...(inherited?.[own]?.rateLimits ?? []), ...ownLimits];
  return { limits, refs: [...(inherited?.[configs]?.refs ?? []), ...ownRefs] };
}

function staged(entries: readonly EnvoyMessage[], domain: string, moment: LimitMoment): EnvoyMessage[] {
  const { stage } = FILTERS.find((filter) => filter.domain === domain && filter.moment === moment)!;
  return entries.map((entry) => message({ stage: stage || undefined, ...entry }));
}
