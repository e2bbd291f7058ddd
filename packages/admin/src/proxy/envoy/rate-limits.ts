import {
  DEFAULTS,
  REDACTED_IN_LOG,
  isSecretName,
  type Destination,
  type Listener,
  type Route,
  type SnapshotSettings,
  type VirtualHost,
} from '@edge-gateway/core';
import type { RateLimitAction, RateLimitActions, RateLimitVhost, TokenBucket } from '@edge-gateway/core/schema';
import { message, protoDuration, typed, type Message } from './json.ts';

type Level = VirtualHost['options'] | Route['options'] | Destination['options'];
type Limited = VirtualHost['options'] & Route['options'];
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

/** Returns the filters of local limits, and of global limits before and after auth, that one of the levels uses. */
export function rateLimitFilters(levels: readonly Level[], options: HttpOptions, settings: SnapshotSettings) {
  const limited = levels as readonly Limited[];
  const usesLocal = options.httpLocalRatelimit ?? limited.some((level) => localLimit(level));
  const server = settings.ratelimitServer ?? {};
  const filter = (moment: Moment): Message | undefined => {
    if (!limited.some((level) => blocksOf(level, settings).some((block) => block.moment === moment))) return undefined;
    return typed(`${FILTERS}.ratelimit.v3.RateLimit`, {
      domain: 'custom',
      stage: STAGE[moment],
      timeout: protoDuration(server.requestTimeout ?? DEFAULT_TIMEOUT),
      failure_mode_deny: server.denyOnFail || undefined,
      enable_x_ratelimit_headers: server.enableXRatelimitHeaders ? 'DRAFT_VERSION_03' : undefined,
    });
  };
  return {
    local: [LOCAL, usesLocal ? localFilter(options) : undefined],
    early: [`${GLOBAL}.early`, filter('early')],
    regular: [GLOBAL, filter('regular')],
  } as const;
}

function localFilter({ httpLocalRatelimit = {} }: HttpOptions): Message {
  const { defaultLimit, localRateLimitPerDownstreamConnection, enableXRatelimitHeaders } = httpLocalRatelimit;
  return typed(`${FILTERS}.local_ratelimit.v3.LocalRateLimit`, {
    stat_prefix: 'http_local_rate_limiter',
    token_bucket: defaultLimit && tokenBucket(defaultLimit),
    local_rate_limit_per_downstream_connection: localRateLimitPerDownstreamConnection || undefined,
    enable_x_ratelimit_headers: enableXRatelimitHeaders ? 'DRAFT_VERSION_03' : undefined,
  });
}

/** Returns the local limit of one level, by filter. */
export function localLimitOf(level: Level): Record<string, Message | undefined> {
  const bucket = localLimit(level as Limited);
  const type = `${FILTERS}.local_ratelimit.v3.LocalRateLimit`;
  return {
    [LOCAL]: bucket && typed(type, { stat_prefix: 'http_local_rate_limiter', token_bucket: tokenBucket(bucket) }),
  };
}

function localLimit({ ratelimit, ratelimitEarly }: Limited): TokenBucket | undefined {
  return ratelimit?.localRatelimit ?? ratelimitEarly?.localRatelimit;
}

function tokenBucket({ maxTokens, tokensPerFill = 1, fillInterval = '1s' }: TokenBucket): Message {
  return { max_tokens: maxTokens, tokens_per_fill: tokensPerFill, fill_interval: protoDuration(fillInterval) };
}

/** Returns `rate_limits` of a virtual host. */
export function rateLimitsOfHost(host: VirtualHost, settings: SnapshotSettings): Message[] | undefined {
  return rateLimitsOf(host.options, host, { settings, name: host.name });
}

/** Returns `rate_limits` of a route, and whether those of its virtual host apply as well. */
export function rateLimitsOfRoute({ name, options }: Route, host: VirtualHost, settings: SnapshotSettings): Message {
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
function rateLimitsOf(level: Level, host: VirtualHost, { settings, name }: LimitContext): Message[] | undefined {
  const basic = (level as Limited).ratelimitBasic ? basicEntries(level as Limited, settings, name) : [];
  const limits = blocksOf(level as Limited, settings).flatMap(({ moment, limits, refs }) => {
    const stage = STAGE[moment] || undefined;
    const own = limits.flatMap((limit) => entriesOf(limit, []).map((entry) => message({ stage, ...entry })));
    const shared = refs.flatMap((wanted) => {
      const config = host.rateLimitConfigs?.find(
        ({ ref }) => ref.name === wanted.name && ref.namespace === wanted.namespace,
      );
      const first = [genericKey(`${wanted.namespace}.${wanted.name}`)];
      return (config?.spec.raw?.rateLimits ?? []).flatMap((limit) => entriesOf(limit, first));
    });
    return [...own, ...shared.map((entry) => message({ stage, ...entry }))];
  });
  return basic.length + limits.length > 0 ? [...basic, ...limits] : undefined;
}

/** Requests with a user are counted by user, others by client address. */
function basicEntries({ ratelimitBasic = {} }: Limited, settings: SnapshotSettings, name: string): Message[] {
  const { anonymousLimits, authorizedLimits } = ratelimitBasic;
  const header_name = settings.extauth?.userIdHeader || DEFAULTS.userIdHeader;
  const stage = settings.ratelimitServer?.rateLimitBeforeAuth ? STAGE.early : undefined;
  const entry = (value: string, expect_match: boolean, last: Message): Message => {
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
function blocksOf(level: Limited, { ratelimitServer }: SnapshotSettings): Block[] {
  const usual: Moment = ratelimitServer?.rateLimitBeforeAuth ? 'early' : 'regular';
  const families = [
    [usual, level.ratelimit, level.rateLimitConfigs],
    ['early', level.ratelimitEarly, level.rateLimitEarlyConfigs],
    ['regular', level.ratelimitRegular, level.rateLimitRegularConfigs],
  ] as const;
  const blocks = families.flatMap(([moment, block, configs]): Block[] => {
    const limits = (block as RateLimitVhost | undefined)?.rateLimits ?? [];
    const refs = configs?.refs ?? [];
    return limits.length + refs.length > 0 ? [{ moment, limits, refs }] : [];
  });
  return level.ratelimitBasic ? [{ moment: usual, limits: [], refs: [] }, ...blocks] : blocks;
}

/** Returns one entry for the tuple and one for the set of a limit. */
function entriesOf({ actions = [], setActions = [], limit, cost }: RateLimitActions, first: Message[]): Message[] {
  const key = limit?.dynamicMetadata?.metadataKey;
  const more = {
    limit: key && { dynamic_metadata: { metadata_key: key } },
    hits_addend: cost?.header && { format: `%REQ(${cost.header.headerName})%` },
  };
  const entry = (start: readonly Message[], list: readonly RateLimitAction[]): Message[] =>
    list.length > 0 ? [message({ actions: [...start, ...list.map(actionOf)], ...more })] : [];
  return [...entry(first, actions), ...entry([...first, genericKey(SET_MARKER)], setActions)];
}

const genericKey = (value: string | undefined): Message => ({ generic_key: { descriptor_value: value } });

function actionOf(action: RateLimitAction): Message {
  const { requestHeaders, headerValueMatch, metadata } = action;
  if (action.genericKey) return genericKey(action.genericKey.descriptorValue);
  if (requestHeaders) {
    const { headerName, descriptorKey } = requestHeaders;
    return { request_headers: { header_name: headerName, descriptor_key: descriptorKey } };
  }
  if (headerValueMatch) {
    const { descriptorValue, expectMatch, headers = [] } = headerValueMatch;
    const match = { descriptor_value: descriptorValue, expect_match: expectMatch, headers: headers.map(headerMatch) };
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

/** Values of headers for credentials are redacted. */
function headerMatch(condition: Condition): Message {
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
  const text: Message = message({
    exact: exactMatch,
    safe_regex: regexMatch === undefined ? undefined : { regex: regexMatch },
    prefix: prefixMatch,
    suffix: suffixMatch,
  });
  return message({
    name,
    string_match: Object.keys(text).length === 0 ? undefined : isSecretName(name) ? { exact: REDACTED_IN_LOG } : text,
    range_match: rangeMatch,
    present_match: presentMatch,
    invert_match: invertMatch || undefined,
  });
}
