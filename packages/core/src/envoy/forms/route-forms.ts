import type { ExtAuthExtension } from '../../schema/auth/extauth.ts';
import type { JwtProviders, JwtStaged } from '../../schema/auth/jwt.ts';
import type { Matcher } from '../../schema/route/matcher.ts';
import type { RateLimitActions, RateLimitConfigRefs, RateLimitVhost } from '../../schema/route/rate-limit.ts';
import type { RedirectAction } from '../../schema/route/route.ts';
import type { RouteOptions, VirtualHostOptions, WeightedDestinationOptions } from '../../schema/route/route-options.ts';
import { isHeaderName, isHeaderValue } from '../../http/reserved-headers.ts';
import { parseDuration } from '../../syntax/duration.ts';
import { keySetForEnvoy } from '../local-keys.ts';
import { authCluster, rateLimitCluster, settingsCluster } from '../services.ts';
import type { Condition, Forms } from './form.ts';

const EXT_AUTH: Condition<ExtAuthExtension> = {
  when: 'for AuthConfigs with `--envoy-extauth`, for the auth server of the Settings, and to disable it',
  holds: ({ disable, configRef, customAuth }, { services, settings }) => {
    if (disable) return true;
    // A named server would need a filter of its own.
    if (customAuth) return !customAuth.name && settingsCluster(settings.extauth?.extauthzServerRef) !== undefined;
    return configRef === undefined || authCluster(settings, services) !== undefined;
  },
};

const SERVER = 'with `--envoy-rate-limit` or a rate limit server in the Settings';

const LIMITS: Condition<RateLimitVhost> = {
  when: `${SERVER}, without \`cost\`, \`concurrency\` and \`retryAfter\`; \`localRatelimit\` always`,
  holds: (block, { services, settings }) => {
    const { rateLimits = [] } = block;
    const isKnown = Object.entries(block).every(([field, value]) => value === undefined || LIMIT_FIELDS.has(field));
    if (!isKnown || !rateLimits.every(isExpressedLimit)) return false;
    return rateLimits.length === 0 || rateLimitCluster(settings, services) !== undefined;
  },
};
const LIMIT_FIELDS: ReadonlySet<string> = new Set(['rateLimits', 'localRatelimit', 'includeVhRateLimits']);

/** Returns true for a limit whose entries Envoy creates alike. */
export const isExpressedLimit = ({ type, cost }: RateLimitActions): boolean => type !== 'TOKEN' && cost === undefined;

const CONFIGS: Condition<RateLimitConfigRefs> = {
  when: `${SERVER}, of RateLimitConfigs without \`cost\``,
  holds: (_refs, { services, settings }) => rateLimitCluster(settings, services) !== undefined,
};

/** Returns true for providers that Envoy accepts, and whose keys, times and headers it handles alike. */
export function isExpressedJwt({ providers = {} }: JwtProviders): boolean {
  return Object.values(providers).every((provider) => {
    const { jwks, claimsToHeaders = [], tokenSource = {}, clockSkewSeconds, requireExpiration } = provider;
    const { headers = [], queryParams = [] } = tokenSource;
    // For Envoy, 0 is the default of 60 seconds.
    if (clockSkewSeconds === 0 || requireExpiration || claimsToHeaders.some(({ append }) => append)) return false;
    if (!claimsToHeaders.every(({ claim, header = '' }) => claim && isHeaderName(header))) return false;
    if (!headers.every(({ header = '', prefix = '' }) => isHeaderName(header) && isHeaderValue(prefix))) return false;
    if (queryParams.includes('')) return false;
    if (jwks?.local) return keySetForEnvoy(jwks.local.key ?? '') !== undefined;
    const { url = '', upstreamRef, cacheDuration = '5m' } = jwks?.remote ?? {};
    const isKept = parseDuration(cacheDuration) === 0 || parseDuration(cacheDuration) > MIN_CACHE_MS;
    return KEY_ADDRESS.test(url) && Boolean(upstreamRef?.name) && isKept;
  });
}

/** Envoy rejects other addresses. */
const KEY_ADDRESS = /^(?:https?:\/\/)?[\w.:[\]-]+(?:\/[\x21-\x7e]*)?$/i;
const MIN_CACHE_MS = 1;

const JWT: Condition<JwtProviders> = {
  when: 'with asymmetric keys, or keys of an upstream; without `append` in `claimsToHeaders` and `requireExpiration`, and with `clockSkewSeconds` above 0',
  holds: isExpressedJwt,
};
const JWT_STAGED: Forms<JwtStaged> = { beforeExtAuth: JWT, afterExtAuth: JWT };

const HEADERS: Forms<NonNullable<WeightedDestinationOptions['headerManipulation']>> = {
  requestHeadersToAdd: { header: 'yes', headerSecretRef: 'no', append: 'yes' },
  requestHeadersToRemove: 'yes',
  responseHeadersToAdd: 'yes',
  responseHeadersToRemove: 'yes',
};

/** Envoy would put the rest of the path after the query. */
const PREFIX: Condition<string> = {
  when: 'without a query',
  holds: (prefix) => !prefix.includes('?'),
};

/** What Envoy expresses of the options of a weighted destination. */
export const DESTINATION_FORMS: Forms<WeightedDestinationOptions> = {
  headerManipulation: HEADERS,
  stagedTransformations: 'no',
  transformations: 'no',
  extensions: 'no',
  extauth: EXT_AUTH,
  bufferPerRoute: 'yes',
  csrf: 'yes',
};

const POLICIES = {
  retries: 'yes',
  cors: 'yes',
  ratelimitBasic: 'no',
  rateLimitConfigs: CONFIGS,
  rateLimitEarlyConfigs: CONFIGS,
  rateLimitRegularConfigs: CONFIGS,
  rbac: 'yes',
  waf: 'no',
  dlp: 'no',
  extProc: 'no',
  extProcEarly: 'no',
  extProcLate: 'no',
  ratelimit: LIMITS,
  ratelimitEarly: LIMITS,
  ratelimitRegular: LIMITS,
} as const;

/** What Envoy expresses of the options of a route. */
export const ROUTE_FORMS: Forms<RouteOptions> = {
  timeout: 'yes',
  idleTimeout: 'yes',
  maxStreamDuration: 'yes',
  prefixRewrite: PREFIX,
  regexRewrite: 'yes',
  hostRewrite: 'yes',
  autoHostRewrite: 'yes',
  hostRewriteHeader: 'yes',
  hostRewritePathRegex: 'yes',
  appendXForwardedHost: 'yes',
  faults: 'yes',
  shadowing: 'yes',
  lbHash: 'yes',
  upgrades: 'yes',
  tracing: 'no',
  envoyMetadata: 'yes',
  jwt: 'yes',
  jwtStaged: 'yes',
  jwtProvidersStaged: JWT_STAGED,
  ai: 'no',
  ...DESTINATION_FORMS,
  ...POLICIES,
};

/** What Envoy expresses of the options of a virtual host. */
export const VIRTUAL_HOST_FORMS: Forms<VirtualHostOptions> = {
  stats: 'yes',
  includeRequestAttemptCount: 'yes',
  includeAttemptCountInResponse: 'yes',
  corsPolicyMergeSettings: 'no',
  jwt: JWT,
  jwtStaged: JWT_STAGED,
  ...DESTINATION_FORMS,
  ...POLICIES,
};

/** What Envoy expresses of a matcher. */
export const MATCHER_FORMS: Forms<Matcher> = {
  prefix: 'yes',
  exact: 'yes',
  regex: 'yes',
  connectMatcher: 'yes',
  caseSensitive: 'yes',
  headers: 'yes',
  queryParameters: 'yes',
  methods: 'yes',
};

/** What Envoy expresses of a redirect. */
export const REDIRECT_FORMS: Forms<RedirectAction> = {
  hostRedirect: 'yes',
  pathRedirect: 'yes',
  prefixRewrite: PREFIX,
  regexRewrite: 'yes',
  responseCode: 'yes',
  httpsRedirect: 'yes',
  schemeRedirect: 'yes',
  stripQuery: 'yes',
  portRedirect: 'yes',
};
