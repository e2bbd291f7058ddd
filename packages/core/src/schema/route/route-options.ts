import { Cors } from './cors.ts';
import { DEFAULTS } from '../defaults.ts';
import { Dlp } from './dlp.ts';
import { ExtAuthExtension } from '../auth/extauth.ts';
import { ExtProcRoute } from './ext-proc.ts';
import * as f from '../field.ts';
import { HeaderManipulation } from './header-manipulation.ts';
import { JwtProviders, JwtRoute, JwtStaged, JwtStagedRoute } from '../auth/jwt.ts';
import {
  RATE_LIMIT_SUPPORT,
  RateLimitBasic,
  RateLimitConfigRefs,
  RateLimitRoute,
  RateLimitVhost,
} from './rate-limit.ts';
import { Rbac } from '../auth/rbac.ts';
import { RegexRewrite } from './regex-rewrite.ts';
import { Retries } from './retries.ts';
import { BufferPerRoute, Csrf, Faults, LbHash, RouteTracing, Shadowing, Upgrade } from './small-options.ts';
import { StagedTransformations, Transformations } from './transformations.ts';
import { Waf } from './waf.ts';

const everywhere = {
  headerManipulation: f.of(HeaderManipulation, 'Headers to add and remove; the levels are combined.'),
  stagedTransformations: f.of(StagedTransformations, 'Transformations of requests and responses by stage.'),
  transformations: f.of(Transformations, 'Deprecated form of `stagedTransformations`.'),
  extensions: f.anything('Free-form settings for concerns of your own; the gateway itself ignores them.'),
  extauth: f.of(ExtAuthExtension, 'External auth. Unset: inherited from the next level up.'),
  bufferPerRoute: f.of(BufferPerRoute, 'Buffering of requests at this level.'),
  csrf: f.of(Csrf, 'Rejects mutating requests from other origins. The most specific block replaces the others.'),
} as const;

const policies = {
  retries: f.of(Retries, 'Retries of failed requests. The block of a route replaces that of its virtual host.'),
  cors: f.of(Cors, 'CORS policy. Fields of the route replace those of the virtual host.'),
  ratelimitBasic: f.of(RateLimitBasic, 'Limits for known and unknown users.', RATE_LIMIT_SUPPORT.global),
  rateLimitConfigs: f.of(
    RateLimitConfigRefs,
    'RateLimitConfigs, at the stage defined in the Settings.',
    RATE_LIMIT_SUPPORT.global,
  ),
  rateLimitEarlyConfigs: f.of(RateLimitConfigRefs, 'RateLimitConfigs before auth.', RATE_LIMIT_SUPPORT.global),
  rateLimitRegularConfigs: f.of(RateLimitConfigRefs, 'RateLimitConfigs after auth.', RATE_LIMIT_SUPPORT.global),
  rbac: f.of(Rbac, 'Access control by claims.'),
  waf: f.of(Waf, 'Web application firewall.', f.rejected),
  dlp: f.of(Dlp, 'Masks sensitive values.'),
  extProc: f.of(ExtProcRoute, 'External processing at this level.'),
  extProcEarly: f.of(ExtProcRoute, 'Early external processing at this level.'),
  extProcLate: f.of(ExtProcRoute, 'Late external processing at this level.'),
} as const;

const RATE_LIMIT_PAIRS = [
  ['ratelimit', 'rateLimitConfigs'],
  ['ratelimitEarly', 'rateLimitEarlyConfigs'],
  ['ratelimitRegular', 'rateLimitRegularConfigs'],
] as const;

const pathRegex = f.block({
  pattern: f.group('Pattern for the path, without the query.', {
    regex: f.regex('RE2 expression for the path.'),
    googleRe2: f.anything('Limits of the expression.'),
  }),
  substitution: f.text('The host; `\\1` is the first group.'),
});

const route = f.block(
  f.oneOf(['hostRewrite', 'autoHostRewrite', 'hostRewriteHeader', 'hostRewritePathRegex'], ...RATE_LIMIT_PAIRS, [
    'jwt',
    'jwtStaged',
    'jwtProvidersStaged',
  ]),
  {
    timeout: f.duration('Timeout of the whole upstream request, then 504; `0s` is no limit.', {
      default: DEFAULTS.routeTimeout,
    }),
    idleTimeout: f.duration(
      'Maximum time without progress of a request or its response, then 408 or 504; `0s` is no limit. Default: that of the listener.',
    ),
    maxStreamDuration: f.group('Maximum duration of a stream, then 408 or 504; applies in addition to `timeout`.', {
      maxStreamDuration: f.duration('The duration; `0s` is no limit. Default: that of the listener.'),
      grpcTimeoutHeaderMax: f.duration(
        'Takes the duration of gRPC requests from their header `grpc-timeout`, up to this; `0s` is no bound. Default: the header is ignored.',
      ),
      grpcTimeoutHeaderOffset: f.duration('Subtracted from the header `grpc-timeout` if that is longer.', {
        default: '0s',
      }),
    }),
    prefixRewrite: f.text(
      'Replaces the matched prefix, or the whole exact path. The query is kept, after a query in the value. Empty is the same as unset.',
    ),
    regexRewrite: f.of(RegexRewrite, 'Rewrites the path without the query; not together with `prefixRewrite`.'),
    hostRewrite: f.text('Host to send to the upstream.'),
    autoHostRewrite: f.flag('Sends the DNS name of the upstream host as `Host`.'),
    hostRewriteHeader: f.text(
      'Request header with the host to send to the upstream. If it is missing, the host is kept; an invalid host is rejected with 400.',
    ),
    hostRewritePathRegex: f.of(
      pathRegex,
      'Derives the host from the path; every match is replaced. An invalid host is rejected with 400.',
    ),
    appendXForwardedHost: f.bool(
      'Sends the original host in `x-forwarded-host` if it is rewritten. Default: Settings `gw.istioOptions.appendXForwardedHost`.',
      { default: true },
    ),
    faults: f.of(Faults, 'Fault injection.'),
    shadowing: f.of(Shadowing, 'Sends a copy of requests to another upstream.'),
    lbHash: f.of(LbHash, 'Hash policies for ring hash and Maglev.'),
    upgrades: f.list(
      Upgrade,
      'Protocol upgrades. Types that are not listed use `httpConnectionManagerSettings.upgrades`.',
    ),
    tracing: f.of(RouteTracing, 'Tracing of this route.'),
    envoyMetadata: f.map(
      f.anything(),
      'Metadata of the route, by namespace; in formats `%METADATA(ROUTE:namespace:key)%`.',
    ),
    ratelimit: f.of(RateLimitRoute, 'Rate limits, at the stage defined in the Settings.', RATE_LIMIT_SUPPORT.global),
    ratelimitEarly: f.of(RateLimitRoute, 'Rate limits before auth.', RATE_LIMIT_SUPPORT.global),
    ratelimitRegular: f.of(RateLimitRoute, 'Rate limits after auth.', RATE_LIMIT_SUPPORT.global),
    jwt: f.of(JwtRoute, 'Deprecated; disables `jwt` of the virtual host on this route.'),
    jwtStaged: f.of(JwtStagedRoute, 'Disables JWT verification on this route, by stage.'),
    jwtProvidersStaged: f.of(JwtStaged, 'Providers of the route, by stage; the route must have a name.'),
    ai: f.anything('Settings for language model routes.', f.unsupported),
    ...everywhere,
    ...policies,
  },
);
/** Options of a route. A delegated route's own keys override those of its parent. */
export interface RouteOptions extends f.Static<typeof route> {}
export const RouteOptions = f.named<RouteOptions>('RouteOptions', route);

const virtualCluster = f.block(f.required('name', 'pattern'), {
  name: f.text('Name in the statistics, `vhost.<virtual host>.vcluster.<name>.`.'),
  pattern: f.regex('RE2 expression that matches the whole path, with its query.'),
  method: f.text('HTTP method. Unset: any.'),
});
const virtualHost = f.block(f.oneOf(...RATE_LIMIT_PAIRS, ['jwt', 'jwtStaged']), {
  stats: f.group('Additional statistics.', {
    virtualClusters: f.list(
      virtualCluster,
      'Groups of requests to count; a request counts in the first that matches, else in `other`.',
    ),
  }),
  includeRequestAttemptCount: f.flag('Sends the number of the attempt to the upstream, in `x-envoy-attempt-count`.'),
  includeAttemptCountInResponse: f.flag('Sends the number of attempts to the client, in `x-envoy-attempt-count`.'),
  corsPolicyMergeSettings: f.group('How `cors` of virtual host and route are merged.', {
    exposeHeaders: f.choice(['DEFAULT', 'UNION'], 'Whether exposed headers of both levels are united.'),
  }),
  ratelimit: f.of(RateLimitVhost, 'Rate limits, at the stage defined in the Settings.', RATE_LIMIT_SUPPORT.global),
  ratelimitEarly: f.of(RateLimitVhost, 'Rate limits before auth.', RATE_LIMIT_SUPPORT.global),
  ratelimitRegular: f.of(RateLimitVhost, 'Rate limits after auth.', RATE_LIMIT_SUPPORT.global),
  jwt: f.of(JwtProviders, 'Deprecated; the same as `jwtStaged.afterExtAuth`.'),
  jwtStaged: f.of(JwtStaged, 'Tokens that requests must have, by stage.'),
  ...everywhere,
  ...policies,
});
/** Options of a virtual host. */
export interface VirtualHostOptions extends f.Static<typeof virtualHost> {}
export const VirtualHostOptions = f.named<VirtualHostOptions>('VirtualHostOptions', virtualHost);

/** The rate limits of a virtual host or a route. */
export type RateLimitLevel = Pick<RouteOptions, 'ratelimitBasic' | (typeof RATE_LIMIT_PAIRS)[number][number]>;

const weighted = f.block(everywhere);
/** Options of one weighted destination. */
export interface WeightedDestinationOptions extends f.Static<typeof weighted> {}
export const WeightedDestinationOptions = f.named<WeightedDestinationOptions>('WeightedDestinationOptions', weighted);
