import { ask, envoys, envoyText, envoyType, ours, ourText, type Group } from '../scenario.ts';

/** The same bucket in both configurations. Groups need different numbers of tokens, because those with equal listeners share one. */
function limited(tokens: number) {
  const bucket = { max_tokens: tokens, tokens_per_fill: 1, fill_interval: '3600s' };
  const always = { default_value: { numerator: 100 } };
  const filter = {
    name: 'envoy.filters.http.local_ratelimit',
    typed_config: {
      ...envoyType('filters.http.local_ratelimit.v3.LocalRateLimit'),
      stat_prefix: 'http_local_rate_limiter',
      token_bucket: bucket,
      filter_enabled: always,
      filter_enforced: always,
    },
  };
  const defaultLimit = { maxTokens: tokens, tokensPerFill: 1, fillInterval: '3600s' };
  return { listener: { httpLocalRatelimit: { defaultLimit } }, filters: [filter] };
}

function group(name: string, tokens: number, paths: readonly string[]): Group {
  const { listener, filters } = limited(tokens);
  return {
    name: `local limit ${name}`,
    ours: {
      listener,
      routes: [
        { matchers: [{ prefix: '/redirect' }], redirectAction: { pathRedirect: '/x' } },
        ourText('direct', { prefix: '/direct' }),
        ours({ prefix: '/a' }),
      ],
    },
    envoy: {
      filters,
      routes: [
        { match: { prefix: '/redirect' }, redirect: { path_redirect: '/x' } },
        envoyText('direct', { prefix: '/direct' }),
        envoys({ prefix: '/a' }),
      ],
    },
    cases: { [`allows ${tokens} requests`]: paths.map((path) => ask(`GET ${path}`)) },
  };
}

export const localLimits: readonly Group[] = [
  group('of a listener', 1, ['/a', '/a', '/a']),
  group('without a route', 2, ['/none', '/none', '/none', '/a']),
  group('of direct responses', 3, ['/direct', '/direct', '/direct', '/direct']),
  group('of redirects', 4, ['/redirect', '/redirect', '/redirect', '/redirect', '/redirect']),
];
