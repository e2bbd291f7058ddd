import { DEFAULTS } from '../defaults.ts';
import * as f from '../field.ts';

const UNITS = ['UNKNOWN', 'SECOND', 'MINUTE', 'HOUR', 'DAY', 'MONTH', 'YEAR', 'WEEK'] as const;
const UINT32 = 4294967295;

/** Support of the limits below; a resource that uses an unsupported one is rejected. */
export const RATE_LIMIT_SUPPORT = {
  /** Global limits: options of virtual hosts and routes, RateLimitConfigs, rules and server in the Settings and on listeners. */
  global: {},
  /** `httpLocalRatelimit` and `networkLocalRatelimit` of listeners, and `localRatelimit` of virtual hosts, routes and TCP gateways. */
  local: {},
} as const;

const limit = f.block(f.required('requestsPerUnit', 'unit'), {
  requestsPerUnit: f.uint32('Requests allowed per unit; 0 rejects every request.'),
  unit: f.enumeration(UNITS, 'The unit of time. A window starts at a multiple of the unit.'),
  algorithm: f.choice(['FIXED_WINDOW', 'SLIDING_WINDOW', 'TOKEN_BUCKET'], 'How requests are counted.', f.addition),
  burst: f.int('Capacity of the token bucket. Default: `requestsPerUnit`.', {
    minimum: 1,
    maximum: UINT32,
    ...f.addition,
  }),
});
/** A number of requests per unit of time. */
export interface RateLimit extends f.Static<typeof limit> {}
export const RateLimit = f.named<RateLimit>('RateLimit', limit);

const basic = f.block({
  anonymousLimits: f.of(RateLimit, 'For requests without a user, counted by client address. Unset: unlimited.'),
  authorizedLimits: f.of(RateLimit, 'For requests with a user, counted by user. Unset: unlimited.'),
});
/** Limits for authenticated and anonymous users. */
export interface RateLimitBasic extends f.Static<typeof basic> {}
export const RateLimitBasic = f.named<RateLimitBasic>('RateLimitBasic', basic);

const bucket = f.block(f.required('maxTokens'), {
  maxTokens: f.int('Maximum number of tokens; the bucket starts full.', { minimum: 1, maximum: UINT32 }),
  tokensPerFill: f.int('Tokens added per fill.', { minimum: 1, maximum: UINT32, default: 1 }),
  fillInterval: f.duration('Interval between fills, at least 50ms.', { default: '1s' }),
});
/** A local limit of this proxy instance. */
export interface TokenBucket extends f.Static<typeof bucket> {}
export const TokenBucket = f.named<TokenBucket>('TokenBucket', bucket);

const headerCondition = f.block(
  f.required('name'),
  f.oneOf(['exactMatch', 'regexMatch', 'rangeMatch', 'presentMatch', 'prefixMatch', 'suffixMatch']),
  {
    name: f.text('Header name.'),
    exactMatch: f.text('The whole value.'),
    regexMatch: f.regex('RE2 expression that matches the whole value.'),
    rangeMatch: f.group('The value is a number in this range.', {
      start: f.int64('Start of the range, inclusive.'),
      end: f.int64('End of the range, exclusive.'),
    }),
    presentMatch: f.bool('The header is present.'),
    prefixMatch: f.text('Prefix of the value.'),
    suffixMatch: f.text('Suffix of the value.'),
    invertMatch: f.flag('Inverts the match.'),
  },
);
const metadataKey = {
  key: f.text('Metadata namespace.'),
  path: f.groups('Path to the value.', f.required('key'), { key: f.text('Key of one step.') }),
} as const;
const NO_CEL = { 'x-instead': 'use requestHeaders, headerValueMatch or metadata' } as const;
const ACTIONS = [
  'sourceCluster',
  'destinationCluster',
  'requestHeaders',
  'remoteAddress',
  'genericKey',
  'headerValueMatch',
  'metadata',
  'cel',
] as const;
const action = f.block(f.exactlyOne('the action has no type', ...ACTIONS), {
  sourceCluster: f.empty('Entry `source_cluster` with the cluster of this proxy.'),
  destinationCluster: f.empty('Entry `destination_cluster` with the cluster of the route.'),
  requestHeaders: f.group(
    'Entry with the value of a header; without the header the whole descriptor is dropped.',
    f.required('headerName', 'descriptorKey'),
    { headerName: f.text('Header whose value is the entry.'), descriptorKey: f.text('Key of the entry.') },
  ),
  remoteAddress: f.empty('Entry `remote_address` with the trusted client address.'),
  genericKey: f.group('Entry `generic_key` with a fixed value.', f.required('descriptorValue'), {
    descriptorValue: f.text('Value of the entry.'),
  }),
  headerValueMatch: f.group('Entry `header_match` if the headers match.', f.required('descriptorValue', 'headers'), {
    descriptorValue: f.text('Value of the entry.'),
    expectMatch: f.bool('False adds the entry if the headers do not match.', { default: true }),
    headers: f.list(headerCondition, 'Conditions; all must match.'),
  }),
  metadata: f.group('Entry from metadata.', f.required('descriptorKey', 'metadataKey'), {
    descriptorKey: f.text('Key of the entry.'),
    metadataKey: f.group('Location of the value, which must be a string.', f.required('key'), metadataKey),
    defaultValue: f.text('Value if there is none.'),
    source: f.choice(['DYNAMIC', 'ROUTE_ENTRY'], 'Metadata of the request or of the route.'),
  }),
  cel: f.group('Entry from an expression; not supported by this data plane.', f.rejected, NO_CEL, {
    expression: f.text('CEL expression.'),
    key: f.text('Key of the entry.'),
  }),
});
/** Creates one entry of a descriptor. */
export interface RateLimitAction extends f.Static<typeof action> {}
export const RateLimitAction = f.named<RateLimitAction>('RateLimitAction', action);

const cost = f.block(f.exactlyOne('the cost has no source', 'header', 'graphqlComplexity'), {
  header: f.group(
    'The number in a request header; a missing or invalid value counts as 1, and 0 is free: clients must not be able to set the header.',
    f.required('headerName'),
    {
      headerName: f.text('Header name.'),
      max: f.int('Maximum cost of a request; a larger number counts as this.', {
        minimum: 1,
        maximum: UINT32,
        default: 1000,
      }),
    },
  ),
  graphqlComplexity: f.empty(
    'The complexity of the GraphQL operation: each field counts 1 and its inner fields as often as its list has items: `first`, `last`, `limit`, `take`, `pageSize` or `perPage` if it has such an argument, or as `@listSize` says, else 10. Batches count as their sum; rejected operations, and requests to other routes, as 1.',
  ),
});
/** How much a request counts. */
export interface RateLimitCost extends f.Static<typeof cost> {}
export const RateLimitCost = f.named<RateLimitCost>('RateLimitCost', cost);

const entries = {
  actions: f.list(RateLimitAction, 'Ordered tuple of entries.'),
  setActions: f.list(RateLimitAction, 'Unordered set of entries.'),
} as const;
const actions = f.block({
  ...entries,
  limit: f.group('Overrides the quota of the rules that match, if the metadata has one.', {
    dynamicMetadata: f.group('Reads the quota from metadata.', f.required('metadataKey'), {
      metadataKey: f.group('Location of `{requests_per_unit, unit}`.', f.required('key'), metadataKey),
    }),
  }),
  type: f.choice(['REQUEST', 'TOKEN'], 'What is counted; the tokens of language models are not supported.'),
  cost: f.of(RateLimitCost, 'How much a request counts. Default: 1.', f.addition),
});
/** One descriptor that a request is counted under. */
export interface RateLimitActions extends f.Static<typeof actions> {}
export const RateLimitActions = f.named<RateLimitActions>('RateLimitActions', actions);

const concurrency = f.block(f.required('maxInFlight'), {
  ...entries,
  maxInFlight: f.int('Maximum number of requests with the same entries at a time, until their responses end.', {
    minimum: 1,
    maximum: UINT32,
  }),
});
/** Limits the requests in flight with the same entries, counted in this proxy instance. */
export interface RateLimitConcurrency extends f.Static<typeof concurrency> {}
export const RateLimitConcurrency = f.named<RateLimitConcurrency>('RateLimitConcurrency', concurrency);

const vhost = {
  rateLimits: f.list(RateLimitActions, 'Descriptors; a request over the limit of any of them is rejected with 429.'),
  localRatelimit: f.of(TokenBucket, 'Limit counted in this proxy instance.', RATE_LIMIT_SUPPORT.local),
  retryAfter: f.bool(
    'Sends the seconds until more requests are allowed in `retry-after` of 429. A 429 of `concurrency` has 1.',
    { default: true, ...f.addition },
  ),
  concurrency: f.list(
    RateLimitConcurrency,
    'Limits of requests in flight, counted in this proxy instance; a request over one of them is rejected with 429.',
    f.addition,
  ),
} as const;
const vhostFields = f.block(vhost);
/** Rate limits of a virtual host. */
export interface RateLimitVhost extends f.Static<typeof vhostFields> {}
export const RateLimitVhost = f.named<RateLimitVhost>('RateLimitVhost', vhostFields);

const routeFields = f.block({
  ...vhost,
  includeVhRateLimits: f.flag('Counts the descriptors of the virtual host as well.'),
});
/** Rate limits of a route. */
export interface RateLimitRoute extends f.Static<typeof routeFields> {}
export const RateLimitRoute = f.named<RateLimitRoute>('RateLimitRoute', routeFields);

const refs = f.block({
  refs: f.list(f.ref('The RateLimitConfig. Default namespace: that of the resource.'), 'The RateLimitConfigs.'),
});
/** Names RateLimitConfigs. */
export interface RateLimitConfigRefs extends f.Static<typeof refs> {}
export const RateLimitConfigRefs = f.named<RateLimitConfigRefs>('RateLimitConfigRefs', refs);

const descriptor = f.block(f.required('key'), {
  key: f.text('Key of the entry.'),
  value: f.text('Value of the entry. Unset: each value has its own counter.'),
  rateLimit: f.of(RateLimit, 'The limit. Unset: not limited here.'),
  descriptors: f.list(f.self('RateLimitDescriptor'), 'Rules for the entries that follow.'),
  weight: f.uint32('Of all matching rules only those with the highest weight apply.', { default: 0 }),
  alwaysApply: f.flag('Applies regardless of weights.'),
  shadow: f.flag('Counts requests without rejecting any.', f.addition),
});
/** A rule for an ordered tuple of entries; a tree. */
export interface RateLimitDescriptor extends f.Static<typeof descriptor> {
  readonly descriptors?: readonly RateLimitDescriptor[];
}
export const RateLimitDescriptor = f.named<RateLimitDescriptor>('RateLimitDescriptor', descriptor);

const setDescriptor = f.block({
  simpleDescriptors: f.groups(
    'Entries that a request must have; an empty list matches every request.',
    f.required('key'),
    {
      key: f.text('Key of the entry.'),
      value: f.text('Value of the entry. Unset: any.'),
    },
  ),
  rateLimit: f.of(RateLimit, 'The limit.'),
  alwaysApply: f.flag('Applies even if an earlier rule matched.'),
  shadow: f.flag('Counts requests without rejecting any.', f.addition),
});
/** A rule for a set of entries. */
export interface RateLimitSetDescriptor extends f.Static<typeof setDescriptor> {}
export const RateLimitSetDescriptor = f.named<RateLimitSetDescriptor>('RateLimitSetDescriptor', setDescriptor);

const rules = f.block({
  descriptors: f.list(RateLimitDescriptor, 'Rules for ordered tuples.'),
  setDescriptors: f.list(RateLimitSetDescriptor, 'Rules for sets; the first match wins.'),
});
/** Rules of the rate limit server. */
export interface RateLimitRules extends f.Static<typeof rules> {}
export const RateLimitRules = f.named<RateLimitRules>('RateLimitRules', rules);

const server = f.block({
  ratelimitServerRef: f.ref('Upstream of the server. Default namespace: gw-system. Unset: the gateway counts.'),
  requestTimeout: f.duration('Timeout of a request to the server.', { default: DEFAULTS.rateLimitTimeout }),
  denyOnFail: f.flag('True returns 500 if the server fails; false allows the request.'),
  enableXRatelimitHeaders: f.flag('Adds `x-ratelimit-*` to responses.'),
  rateLimitBeforeAuth: f.flag('Limits before the login, when users are not known yet.'),
  ipv6PrefixLength: f.int(
    'Extension of this gateway. Bits of an IPv6 address that are counted as one client, 1 to 128; 128 counts every address separately.',
    { minimum: 1, maximum: 128, default: DEFAULTS.ipv6PrefixLength, ...f.addition },
  ),
  grpcService: f.group('Connection to the server, over gRPC.', { authority: f.text('`:authority` of the calls.') }),
});
/** The rate limit server. */
export interface RateLimitServer extends f.Static<typeof server> {}
export const RateLimitServer = f.named<RateLimitServer>('RateLimitServer', server);

const spec = f.block({
  raw: f.group('Rules and descriptors combined.', RATE_LIMIT_SUPPORT.global, {
    descriptors: f.list(RateLimitDescriptor, 'Rules for ordered tuples.'),
    setDescriptors: f.list(RateLimitSetDescriptor, 'Rules for sets.'),
    rateLimits: f.list(RateLimitActions, 'Descriptors under which requests are counted.'),
  }),
});
/** `spec` of a RateLimitConfig: a reusable policy. */
export interface RateLimitConfigSpec extends f.Static<typeof spec> {}
export const RateLimitConfigSpec = f.named<RateLimitConfigSpec>('RateLimitConfigSpec', spec);
