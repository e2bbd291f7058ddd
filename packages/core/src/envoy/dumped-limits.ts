import type { Route, SnapshotSettings, VirtualHost } from '../contract/snapshot.ts';
import { DEFAULTS } from '../schema/defaults.ts';
import type { Level } from './level.ts';
import { limitBlocksOf, limitMomentsOf, type LimitMoment } from './limit-usage.ts';
import { message, protoDuration, typed, type EnvoyMessage } from './message.ts';
import { entriesOf, genericKey } from './rate-limit-entries.ts';

type Limited = VirtualHost['options'] & Route['options'];

const GLOBAL = 'envoy.filters.http.ratelimit';
/** Stages of entries. */
const STAGE = { regular: 0, early: 1 } as const satisfies Record<LimitMoment, number>;

/** Returns the filters of global limits before and after auth that one of the levels uses. */
export function dumpedLimitFilters(usage: ReadonlySet<string>, settings: SnapshotSettings) {
  const server = settings.ratelimitServer ?? {};
  const filter = (moment: LimitMoment): EnvoyMessage | undefined => {
    if (!limitMomentsOf(usage, settings).has(moment)) return undefined;
    return typed('envoy.extensions.filters.http.ratelimit.v3.RateLimit', {
      domain: 'custom',
      stage: STAGE[moment],
      timeout: protoDuration(server.requestTimeout ?? DEFAULTS.rateLimitTimeout),
      failure_mode_deny: server.denyOnFail || undefined,
      enable_x_ratelimit_headers: server.enableXRatelimitHeaders ? 'DRAFT_VERSION_03' : undefined,
    });
  };
  return {
    early: [`${GLOBAL}.early`, filter('early')],
    regular: [GLOBAL, filter('regular')],
  } as const;
}

/** Returns `rate_limits` of a virtual host. */
export function rateLimitsOfHost(host: VirtualHost, settings: SnapshotSettings): EnvoyMessage[] | undefined {
  return rateLimitsOf(host.options, host, { settings, name: host.name });
}

/** Returns `rate_limits` of a route, and whether those of its virtual host apply as well. */
export function rateLimitsOfRoute(
  { name, options }: Route,
  host: VirtualHost,
  settings: SnapshotSettings,
): EnvoyMessage {
  const own = name.slice(`${host.name}-route-`.length).replace(/^\d+-?/, '');
  const families = [options.ratelimit, options.ratelimitEarly, options.ratelimitRegular];
  return message({
    rate_limits: rateLimitsOf(options, host, { settings, name: `${host.name}.${own}` }),
    include_vh_rate_limits: families.some((block) => block?.includeVhRateLimits) || undefined,
  });
}

interface LimitContext {
  readonly settings: SnapshotSettings;
  /** Of the counters of `ratelimitBasic`. */
  readonly name: string;
}

/** The entries of RateLimitConfigs begin with their name. */
function rateLimitsOf(level: Level, host: VirtualHost, { settings, name }: LimitContext): EnvoyMessage[] | undefined {
  const basic = (level as Limited).ratelimitBasic ? basicEntries(level as Limited, settings, name) : [];
  const limits = limitBlocksOf(level as Limited, settings).flatMap(({ moment, limits, refs }) => {
    const stage = STAGE[moment] || undefined;
    const own = limits.flatMap((limit) => entriesOf(limit, [], {}).map((entry) => message({ stage, ...entry })));
    const shared = refs.flatMap((wanted) => {
      const config = host.rateLimitConfigs?.find(
        ({ ref }) => ref.name === wanted.name && ref.namespace === wanted.namespace,
      );
      const first = [genericKey(`${wanted.namespace}.${wanted.name}`)];
      return (config?.spec.raw?.rateLimits ?? []).flatMap((limit) => entriesOf(limit, first, {}));
    });
    return [...own, ...shared.map((entry) => message({ stage, ...entry }))];
  });
  return basic.length + limits.length > 0 ? [...basic, ...limits] : undefined;
}

/** Requests with a user are counted by user, others by client address. */
function basicEntries({ ratelimitBasic = {} }: Limited, settings: SnapshotSettings, name: string): EnvoyMessage[] {
  const { anonymousLimits, authorizedLimits } = ratelimitBasic;
  const header_name = settings.extauth?.userIdHeader || DEFAULTS.userIdHeader;
  const stage = settings.ratelimitServer?.rateLimitBeforeAuth ? STAGE.early : undefined;
  const entry = (value: string, expect_match: boolean, last: EnvoyMessage): EnvoyMessage => {
    const headers = [{ name: header_name, present_match: true }];
    const kind = { header_value_match: { descriptor_value: value, expect_match, headers } };
    return message({ stage, actions: [genericKey(name), kind, last] });
  };
  const user = { request_headers: { header_name, descriptor_key: 'user_id' } };
  return [
    ...(anonymousLimits ? [entry('not-authenticated', false, { remote_address: {} })] : []),
    ...(authorizedLimits ? [entry('is-authenticated', true, user)] : []),
  ];
}
