import type { Listener, Route, VirtualHost } from '../contract/snapshot.ts';
import type { TokenBucket } from '../schema/route/rate-limit.ts';
import type { Level } from './level.ts';
import { protoDuration, typed, type EnvoyMessage } from './message.ts';
import type { MessageContext } from './translation-context.ts';

type Limited = VirtualHost['options'] & Route['options'];
type Target = Pick<MessageContext, 'services'>;
type HttpOptions = Listener['httpOptions'];

const TYPE = 'envoy.extensions.filters.http.local_ratelimit.v3.LocalRateLimit';
/** The name of the filter. */
export const LOCAL_LIMITS = 'envoy.filters.http.local_ratelimit';

/** Returns the filter of local limits, with the limit of the listener. */
export function localLimitFilter({ httpLocalRatelimit = {} }: HttpOptions, { services }: Target): EnvoyMessage {
  const { defaultLimit, localRateLimitPerDownstreamConnection, enableXRatelimitHeaders } = httpLocalRatelimit;
  return typed(TYPE, {
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
export function localLimitOf(level: Level, { services }: Target): Record<string, EnvoyMessage | undefined> {
  const bucket = localLimitIn(level as Limited);
  const fields = bucket && {
    stat_prefix: 'http_local_rate_limiter',
    token_bucket: tokenBucket(bucket),
    ...(services && ALWAYS),
  };
  return { [LOCAL_LIMITS]: fields && typed(TYPE, fields) };
}

/** Returns the local limit that a level declares. */
export function localLimitIn({ ratelimit, ratelimitEarly }: Limited): TokenBucket | undefined {
  return ratelimit?.localRatelimit ?? ratelimitEarly?.localRatelimit;
}

function tokenBucket({ maxTokens, tokensPerFill = 1, fillInterval = '1s' }: TokenBucket): EnvoyMessage {
  return { max_tokens: maxTokens, tokens_per_fill: tokensPerFill, fill_interval: protoDuration(fillInterval) };
}
