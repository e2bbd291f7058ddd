import type { Destination, Listener, Route, SnapshotSettings, VirtualHost } from '../contract/snapshot.ts';
import { DEFAULTS } from '../schema/defaults.ts';
import type { RateLimitAction, RateLimitActions, RateLimitVhost, TokenBucket } from '../schema/route/rate-limit.ts';
import { REDACTED_IN_LOG } from '../security/request-secrets.ts';
import { isSecretName } from '../security/secret-fields.ts';
import { message, protoDuration, typed, type EnvoyMessage } from './message.ts';
import type { TranslationContext } from './translation-context.ts';

type Level = VirtualHost['options'] | Route['options'] | Destination['options'];
type Limited = VirtualHost['options'] & Route['options'];
type Target = Pick<TranslationContext, 'services'>;
type HttpOptions = Listener['httpOptions'];
type Condition = NonNullable<NonNullable<RateLimitAction['headerValueMatch']>['headers']>[number];

const FILTERS = 'envoy.extensions.filters.http';
const LOCAL = 'envoy.filters.http.local_ratelimit';
const GLOBAL = 'envoy.filters.http.ratelimit';
/** Stages of entries: those that apply before auth, and after it. */
const STAGE = { regular: 0, early: 1 } as const;
type Moment = keyof typeof STAGE;
/** The first entry of sets. */
const SET_MARKER = 'vendor.setDescriptor.uniqueValue';
const DEFAULT_TIMEOUT = '100ms';

/** Names of what levels use: limits at the moment that the Settings define, and local limits. Others are named by their moment. */
const USUAL = 'usual';
const LOCAL_USAGE = 'localRatelimit';

/** Returns the limits that a level uses, by moment, for {@link rateLimitFilters}. */
export function limitUsageOf(level: Level): string[] {
  const moments = familiesOf(level as Limited).flatMap(({ moment, limits, refs }) =>
    limits.length + refs.length > 0 ? [moment] : [],
  );
  return [
    ...moments,
    ...((level as Limited).ratelimitBasic ? [USUAL] : []),
    ...(localLimit(level as Limited) ? [LOCAL_USAGE] : []),
  ];
}

/** Returns the moments at which levels limit requests. */
export function limitMomentsOf(usage: ReadonlySet<string>, settings: SnapshotSettings): ReadonlySet<Moment> {
  const own = (['early', 'regular'] as const).filter((moment) => usage.has(moment));
  return new Set(usage.has(USUAL) ? [...own, usualMoment(settings)] : own);
}

/** Returns the filters of local limits, and of global limits before and after auth, that one of the levels uses. */
export function rateLimitFilters(
  usage: ReadonlySet<string>,
  options: HttpOptions,
  { settings, services }: Pick<TranslationContext, 'settings' | 'services'>,
) {
  const usesLocal = options.httpLocalRatelimit ?? usage.has(LOCAL_USAGE);
  const server = settings.ratelimitServer ?? {};
  const filter = (moment: Moment): EnvoyMessage | undefined => {
    if (!limitMomentsOf(usage, settings).has(moment)) return undefined;
    return typed(`${FILTERS}.ratelimit.v3.RateLimit`, {
      domain: 'custom',
      stage: STAGE[moment],
      timeout: protoDuration(server.requestTimeout ?? DEFAULT_TIMEOUT),
      failure_mode_deny: server.denyOnFail || undefined,
      enable_x_ratelimit_headers: server.enableXRatelimitHeaders ? 'DRAFT_VERSION_03' : undefined,
    });
  };
  return {
    local: [LOCAL, usesLocal ? localFilter(options, services) : undefined],
    early: [`${GLOBAL}.early`, filter('early')],
    regular: [GLOBAL, filter('regular')],
  } as const;
}

function localFilter({ httpLocalRatelimit = {} }: HttpOptions, services: TranslationContext['services']): EnvoyMessage {
  const { defaultLimit, localRateLimitPerDownstreamConnection, enableXRatelimitHeaders } = httpLocalRatelimit;
  return typed(`${FILTERS}.local_ratelimit.v3.LocalRateLimit`, {
    stat_prefix: 'http_local_rate_limiter',
    token_bucket: defaultLimit && tokenBucket(defaultLimit),
    local_rate_limit_per_downstream_connection: localRateLimitPerDownstreamConnection || undefined,
    enable_x_ratelimit_headers: enableXRatelimitHeaders ? 'DRAFT_VERSION_03' : undefined,
    ...(services && defaultLimit && ALWAYS),
  });
}

/** Without these fields the filter counts only. */
const ALWAYS = {
  filter_enabled: { default_value: { numerator: 100 } },
  filter_enforced: { default_value: { numerator: 100 } },
};

/** Returns the local limit of one level, by filter. */
export function localLimitOf(
  level: Level,
  { services }: Pick<TranslationContext, 'services'>,
): Record<string, EnvoyMessage | undefined> {
  const bucket = localLimit(level as Limited);
  const fields = bucket && {
    stat_prefix: 'http_local_rate_limiter',
    token_bucket: tokenBucket(bucket),
    ...(services && ALWAYS),
  };
  return { [LOCAL]: fields && typed(`${FILTERS}.local_ratelimit.v3.LocalRateLimit`, fields) };
}

function localLimit({ ratelimit, ratelimitEarly }: Limited): TokenBucket | undefined {
  return ratelimit?.localRatelimit ?? ratelimitEarly?.localRatelimit;
}

function tokenBucket({ maxTokens, tokensPerFill = 1, fillInterval = '1s' }: TokenBucket): EnvoyMessage {
  return { max_tokens: maxTokens, tokens_per_fill: tokensPerFill, fill_interval: protoDuration(fillInterval) };
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
  const limits = blocksOf(level as Limited, settings).flatMap(({ moment, limits, refs }) => {
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

interface Block {
  readonly moment: Moment;
  readonly limits: readonly RateLimitActions[];
  readonly refs: readonly { readonly name?: string; readonly namespace?: string }[];
}

/** Returns the blocks of one level with the moment at which they apply. */
function blocksOf(level: Limited, settings: SnapshotSettings): Block[] {
  const usual = usualMoment(settings);
  const blocks = familiesOf(level).flatMap(({ moment, limits, refs }): Block[] =>
    limits.length + refs.length > 0 ? [{ moment: moment === USUAL ? usual : moment, limits, refs }] : [],
  );
  return level.ratelimitBasic ? [{ moment: usual, limits: [], refs: [] }, ...blocks] : blocks;
}

/** Returns when limits without a stage of their own apply. */
export function usualMoment({ ratelimitServer }: SnapshotSettings): Moment {
  return ratelimitServer?.rateLimitBeforeAuth ? 'early' : 'regular';
}

interface Family extends Pick<Block, 'limits' | 'refs'> {
  readonly moment: Moment | typeof USUAL;
}

function familiesOf(level: Limited): Family[] {
  const families = [
    [USUAL, level.ratelimit, level.rateLimitConfigs],
    ['early', level.ratelimitEarly, level.rateLimitEarlyConfigs],
    ['regular', level.ratelimitRegular, level.rateLimitRegularConfigs],
  ] as const;
  return families.map(([moment, block, configs]) => ({
    moment,
    limits: (block as RateLimitVhost | undefined)?.rateLimits ?? [],
    refs: configs?.refs ?? [],
  }));
}

/** Returns one entry for the tuple and one for the set of a limit. */
export function entriesOf(
  { actions = [], setActions = [], limit, cost }: RateLimitActions,
  first: readonly EnvoyMessage[],
  context: Target,
): EnvoyMessage[] {
  const key = limit?.dynamicMetadata?.metadataKey;
  const more = {
    limit: key && { dynamic_metadata: { metadata_key: key } },
    hits_addend: cost?.header && { format: `%REQ(${cost.header.headerName})%` },
  };
  const entry = (start: readonly EnvoyMessage[], list: readonly RateLimitAction[]): EnvoyMessage[] =>
    list.length > 0
      ? [message({ actions: [...start, ...list.map((action) => actionOf(action, context))], ...more })]
      : [];
  return [...entry(first, actions), ...entry([...first, genericKey(SET_MARKER)], setActions)];
}

/** Returns an action with a fixed value. */
export const genericKey = (value: string | undefined): EnvoyMessage => ({ generic_key: { descriptor_value: value } });

function actionOf(action: RateLimitAction, context: Target): EnvoyMessage {
  const { requestHeaders, headerValueMatch, metadata } = action;
  if (action.genericKey) return genericKey(action.genericKey.descriptorValue);
  if (requestHeaders) {
    const { headerName, descriptorKey } = requestHeaders;
    return { request_headers: { header_name: headerName, descriptor_key: descriptorKey } };
  }
  if (headerValueMatch) {
    const { descriptorValue, expectMatch, headers = [] } = headerValueMatch;
    const match = {
      descriptor_value: descriptorValue,
      expect_match: expectMatch,
      headers: headers.map((each) => headerMatch(each, context)),
    };
    return { header_value_match: message(match) };
  }
  if (metadata) {
    const { descriptorKey, metadataKey, defaultValue, source } = metadata;
    const value = { descriptor_key: descriptorKey, metadata_key: metadataKey, default_value: defaultValue, source };
    return { metadata: message(value) };
  }
  if (action.sourceCluster) return { source_cluster: {} };
  return action.destinationCluster ? { destination_cluster: {} } : { remote_address: {} };
}

/** Values of headers for credentials are redacted in a dump. */
function headerMatch(condition: Condition, { services }: Target): EnvoyMessage {
  const {
    name = '',
    exactMatch,
    regexMatch,
    rangeMatch,
    presentMatch,
    prefixMatch,
    suffixMatch,
    invertMatch,
  } = condition;
  const text: EnvoyMessage = message({
    exact: exactMatch,
    safe_regex: regexMatch === undefined ? undefined : { regex: regexMatch },
    prefix: prefixMatch,
    suffix: suffixMatch,
  });
  return message({
    name,
    string_match:
      Object.keys(text).length === 0 ? undefined : isSecretName(name) && !services ? { exact: REDACTED_IN_LOG } : text,
    range_match: rangeMatch,
    present_match: presentMatch,
    invert_match: invertMatch || undefined,
  });
}
