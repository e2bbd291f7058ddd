import { Cors } from './cors.ts';
import { DEFAULTS } from '../defaults.ts';
import { Dlp } from './dlp.ts';
import { ExtAuthExtension } from '../auth/extauth.ts';
import { ExtProcRoute } from './ext-proc.ts';
import {
  anything,
  block,
  bool,
  duration,
  enumeration,
  list,
  map,
  named,
  notYet,
  of,
  refused,
  regex,
  text,
  type Static,
} from '../field.ts';
import { HeaderManipulation } from './header-manipulation.ts';
import { JwtProviders, JwtRoute, JwtStaged, JwtStagedRoute } from '../auth/jwt.ts';
import { RateLimitBasic, RateLimitConfigRefs, RateLimitRoute, RateLimitVhost } from './rate-limit.ts';
import { Rbac } from '../auth/rbac.ts';
import { RegexRewrite } from './regex-rewrite.ts';
import { Retries } from './retries.ts';
import { BufferPerRoute, Csrf, Faults, LbHash, RouteTracing, Shadowing, Upgrade } from './small-options.ts';
import { StagedTransformations, Transformations } from './transformations.ts';
import { Waf } from './waf.ts';

const everywhere = {
  headerManipulation: of(HeaderManipulation, 'Headers to add and remove; the levels are combined.'),
  stagedTransformations: of(StagedTransformations, 'Transformations of requests and responses by stage.'),
  transformations: of(Transformations, 'Deprecated form of `stagedTransformations`.'),
  extensions: anything('Free-form settings for extensions.', notYet),
  extauth: of(ExtAuthExtension, 'External auth. Unset: inherited from the next level up.'),
  bufferPerRoute: of(BufferPerRoute, 'Buffering of requests at this level.', notYet),
  csrf: of(Csrf, 'Rejects mutating requests from other origins.', refused),
} as const;

const policies = {
  retries: of(Retries, 'Retry policy.', {
    ...notYet,
    'x-instead': 'only the requests of GraphQLApis are tried again',
  }),
  cors: of(Cors, 'CORS policy.', notYet),
  ratelimitBasic: of(RateLimitBasic, 'Limits for known and unknown users.', refused),
  rateLimitConfigs: of(RateLimitConfigRefs, 'RateLimitConfigs, at the stage defined in the Settings.', refused),
  rateLimitEarlyConfigs: of(RateLimitConfigRefs, 'RateLimitConfigs before auth.', refused),
  rateLimitRegularConfigs: of(RateLimitConfigRefs, 'RateLimitConfigs after auth.', refused),
  rbac: of(Rbac, 'Access control by claims.'),
  waf: of(Waf, 'Web application firewall.', refused),
  dlp: of(Dlp, 'Masks sensitive values.', refused),
  extProc: of(ExtProcRoute, 'External processing at this level.', notYet),
  extProcEarly: of(ExtProcRoute, 'Early external processing at this level.', notYet),
  extProcLate: of(ExtProcRoute, 'Late external processing at this level.', notYet),
} as const;

const RATE_LIMIT_PAIRS = [
  { members: ['ratelimit', 'rateLimitConfigs'] },
  { members: ['ratelimitEarly', 'rateLimitEarlyConfigs'] },
  { members: ['ratelimitRegular', 'rateLimitRegularConfigs'] },
] as const;

const pathRegex = block({
  pattern: of(
    block({ regex: regex('RE2 expression for the path.'), googleRe2: anything('Limits of the expression.') }),
    'Pattern for the path, without the query.',
  ),
  substitution: text('The host; `\\1` is the first group.'),
});

const route = block(
  {
    timeout: duration('Timeout of the whole upstream request, then 504; `0s` is no limit.', {
      default: DEFAULTS.routeTimeout,
    }),
    idleTimeout: duration('Idle timeout of the stream. Default: the stream idle timeout of the listener.', notYet),
    maxStreamDuration: of(
      block({
        maxStreamDuration: duration('Maximum lifetime of the stream.'),
        grpcTimeoutHeaderMax: duration('Upper bound of the header `grpc-timeout`.'),
        grpcTimeoutHeaderOffset: duration('Subtracted from the header `grpc-timeout`.'),
      }),
      'Maximum lifetime of a stream.',
      notYet,
    ),
    prefixRewrite: text(
      'Replaces the matched prefix, or the whole exact path; the query is kept. Empty is the same as unset.',
    ),
    regexRewrite: of(RegexRewrite, 'Rewrites the path without the query; not together with `prefixRewrite`.', notYet),
    hostRewrite: text('Host to send to the upstream.'),
    autoHostRewrite: bool('Sends the DNS name of the endpoint as host.', { default: false }),
    hostRewriteHeader: text('Request header with the host to send to the upstream.', notYet),
    hostRewritePathRegex: of(pathRegex, 'Derives the host from the path.', notYet),
    appendXForwardedHost: bool(
      'Sends the original host in `x-forwarded-host` if it is rewritten. Default: Settings `gw.istioOptions.appendXForwardedHost`.',
      { default: true },
    ),
    faults: of(Faults, 'Fault injection.', notYet),
    shadowing: of(Shadowing, 'Sends a copy of requests to another upstream.', notYet),
    lbHash: of(LbHash, 'Hash policies for ring hash and Maglev.', notYet),
    upgrades: list(Upgrade, 'Protocol upgrades. Default: WebSocket.'),
    tracing: of(RouteTracing, 'Tracing of this route.', notYet),
    envoyMetadata: map(anything(), 'Metadata of the route, by namespace.', notYet),
    ratelimit: of(RateLimitRoute, 'Rate limits, at the stage defined in the Settings.', refused),
    ratelimitEarly: of(RateLimitRoute, 'Rate limits before auth.', refused),
    ratelimitRegular: of(RateLimitRoute, 'Rate limits after auth.', refused),
    jwt: of(JwtRoute, 'Deprecated; disables `jwt` of the virtual host on this route.'),
    jwtStaged: of(JwtStagedRoute, 'Disables JWT verification on this route, by stage.'),
    jwtProvidersStaged: of(JwtStaged, 'Providers of the route, by stage; the route must have a name.'),
    ai: anything('Settings for language model routes.', notYet),
    ...everywhere,
    ...policies,
  },
  {
    oneOf: [
      { members: ['hostRewrite', 'autoHostRewrite', 'hostRewriteHeader', 'hostRewritePathRegex'] },
      ...RATE_LIMIT_PAIRS,
      { members: ['jwt', 'jwtStaged', 'jwtProvidersStaged'] },
    ],
  },
);
/** Options of a route. A delegated route's own keys override those of its parent. */
export interface RouteOptions extends Static<typeof route> {}
export const RouteOptions = named<RouteOptions>('RouteOptions', route);

const virtualCluster = block(
  {
    name: text('Name in the statistics.'),
    pattern: text('RE2 expression that matches the whole path.'),
    method: text('HTTP method. Unset: any.'),
  },
  { required: ['name', 'pattern'] },
);
const virtualHost = block(
  {
    stats: of(
      block({ virtualClusters: list(virtualCluster, 'Groups of requests to count.') }),
      'Additional statistics.',
      notYet,
    ),
    includeRequestAttemptCount: bool('Sends `x-envoy-attempt-count` to the upstream.', { default: false, ...notYet }),
    includeAttemptCountInResponse: bool('Sends `x-envoy-attempt-count` to the client.', { default: false, ...notYet }),
    corsPolicyMergeSettings: of(
      block({
        exposeHeaders: enumeration(['DEFAULT', 'UNION'], 'Whether exposed headers of both levels are united.', {
          default: 'DEFAULT',
        }),
      }),
      'How `cors` of virtual host and route are merged.',
      notYet,
    ),
    ratelimit: of(RateLimitVhost, 'Rate limits, at the stage defined in the Settings.', refused),
    ratelimitEarly: of(RateLimitVhost, 'Rate limits before auth.', refused),
    ratelimitRegular: of(RateLimitVhost, 'Rate limits after auth.', refused),
    jwt: of(JwtProviders, 'Deprecated; the same as `jwtStaged.afterExtAuth`.'),
    jwtStaged: of(JwtStaged, 'Tokens that requests must have, by stage.'),
    ...everywhere,
    ...policies,
  },
  { oneOf: [...RATE_LIMIT_PAIRS, { members: ['jwt', 'jwtStaged'] }] },
);
/** Options of a virtual host. */
export interface VirtualHostOptions extends Static<typeof virtualHost> {}
export const VirtualHostOptions = named<VirtualHostOptions>('VirtualHostOptions', virtualHost);

const weighted = block(everywhere);
/** Options of one weighted destination. */
export interface WeightedDestinationOptions extends Static<typeof weighted> {}
export const WeightedDestinationOptions = named<WeightedDestinationOptions>('WeightedDestinationOptions', weighted);
