import {
  anything,
  block,
  bool,
  duration,
  empty,
  enumeration,
  int,
  list,
  named,
  notYet,
  of,
  ref,
  refused,
  regex,
  self,
  text,
  type Static,
} from '../field.ts';

const UNITS = ['UNKNOWN', 'SECOND', 'MINUTE', 'HOUR', 'DAY', 'MONTH', 'YEAR', 'WEEK'] as const;
const UINT32 = 4294967295;

const limit = block({
  requestsPerUnit: int('Requests allowed per unit.', { minimum: 0, maximum: UINT32 }),
  unit: enumeration(UNITS, 'The unit of time.'),
});
/** A number of requests per unit of time. */
export interface RateLimit extends Static<typeof limit> {}
export const RateLimit = named<RateLimit>('RateLimit', limit);

const basic = block({
  anonymousLimits: of(RateLimit, 'For requests without a user, counted by client address. Unset: unlimited.'),
  authorizedLimits: of(RateLimit, 'For requests with a user, counted by user. Unset: unlimited.'),
});
/** Limits for authenticated and anonymous users. */
export interface RateLimitBasic extends Static<typeof basic> {}
export const RateLimitBasic = named<RateLimitBasic>('RateLimitBasic', basic);

const bucket = block({
  maxTokens: int('Maximum number of tokens; the bucket starts full.', { minimum: 1, maximum: UINT32 }),
  tokensPerFill: int('Tokens added per fill.', { minimum: 1, maximum: UINT32, default: 1 }),
  fillInterval: duration('Interval between fills, at least 50ms.', { default: '1s' }),
});
/** A local limit of this proxy instance. */
export interface TokenBucket extends Static<typeof bucket> {}
export const TokenBucket = named<TokenBucket>('TokenBucket', bucket);

const headerCondition = block(
  {
    name: text('Header name.'),
    exactMatch: text('The whole value.'),
    regexMatch: regex('RE2 expression that matches the whole value.'),
    rangeMatch: of(
      block({ start: int('Start of the range, inclusive.'), end: int('End of the range, exclusive.') }),
      'The value is a number in this range.',
    ),
    presentMatch: bool('The header is present.'),
    prefixMatch: text('Prefix of the value.'),
    suffixMatch: text('Suffix of the value.'),
    invertMatch: bool('Inverts the match.', { default: false }),
  },
  { oneOf: [{ members: ['exactMatch', 'regexMatch', 'rangeMatch', 'presentMatch', 'prefixMatch', 'suffixMatch'] }] },
);
const action = block(
  {
    sourceCluster: empty('Entry `source_cluster` with the cluster of this proxy.'),
    destinationCluster: empty('Entry `destination_cluster` with the cluster of the route.'),
    requestHeaders: of(
      block(
        { headerName: text('Header whose value is the entry.'), descriptorKey: text('Key of the entry.') },
        { required: ['headerName', 'descriptorKey'] },
      ),
      'Entry with the value of a header; without the header the whole descriptor is dropped.',
    ),
    remoteAddress: empty('Entry `remote_address` with the trusted client address.'),
    genericKey: of(
      block({ descriptorValue: text('Value of the entry.') }, { required: ['descriptorValue'] }),
      'Entry `generic_key` with a fixed value.',
    ),
    headerValueMatch: of(
      block(
        {
          descriptorValue: text('Value of the entry.'),
          expectMatch: bool('False adds the entry if the headers do not match.', { default: true }),
          headers: list(headerCondition, 'Conditions; all must match.'),
        },
        { required: ['descriptorValue'] },
      ),
      'Entry `header_match` if the headers match.',
    ),
    metadata: of(
      block(
        {
          descriptorKey: text('Key of the entry.'),
          metadataKey: of(
            block({
              key: text('Metadata namespace.'),
              path: list(block({ key: text('Key of one step.') }), 'Path to the value.'),
            }),
            'Location of the value, which must be a string.',
          ),
          defaultValue: text('Value if there is none.'),
          source: enumeration(['DYNAMIC', 'ROUTE_ENTRY'], 'Metadata of the request or of the route.', {
            default: 'DYNAMIC',
          }),
        },
        { required: ['descriptorKey'] },
      ),
      'Entry from metadata.',
    ),
    cel: of(
      block({ expression: text('CEL expression.'), key: text('Key of the entry.') }),
      'Entry from an expression; only supported by another data plane.',
      notYet,
    ),
  },
  {
    oneOf: [
      {
        members: [
          'sourceCluster',
          'destinationCluster',
          'requestHeaders',
          'remoteAddress',
          'genericKey',
          'headerValueMatch',
          'metadata',
          'cel',
        ],
      },
    ],
  },
);
/** Makes one entry of a descriptor. */
export interface RateLimitAction extends Static<typeof action> {}
export const RateLimitAction = named<RateLimitAction>('RateLimitAction', action);

const actions = block({
  actions: list(RateLimitAction, 'Ordered tuple of entries.'),
  setActions: list(RateLimitAction, 'Unordered set of entries.'),
  limit: of(
    block({
      dynamicMetadata: of(
        block({ metadataKey: anything('Key and path of `{requests_per_unit, unit}`.') }),
        'Reads the quota from metadata.',
      ),
    }),
    'Overrides the quota of the rules.',
  ),
  type: enumeration(['REQUEST', 'TOKEN'], 'What is counted.', { default: 'REQUEST' }),
});
/** One descriptor that a request is counted under. */
export interface RateLimitActions extends Static<typeof actions> {}
export const RateLimitActions = named<RateLimitActions>('RateLimitActions', actions);

const vhost = {
  rateLimits: list(RateLimitActions, 'Descriptors; a request over the limit of any of them is rejected with 429.'),
  localRatelimit: of(TokenBucket, 'Limit counted in this proxy instance.'),
} as const;
const vhostFields = block(vhost);
/** Rate limits of a virtual host. */
export interface RateLimitVhost extends Static<typeof vhostFields> {}
export const RateLimitVhost = named<RateLimitVhost>('RateLimitVhost', vhostFields);

const routeFields = block({
  ...vhost,
  includeVhRateLimits: bool('Counts the descriptors of the virtual host as well.', { default: false }),
});
/** Rate limits of a route. */
export interface RateLimitRoute extends Static<typeof routeFields> {}
export const RateLimitRoute = named<RateLimitRoute>('RateLimitRoute', routeFields);

const refs = block({ refs: list(ref(), 'The RateLimitConfigs.') });
/** Names RateLimitConfigs. */
export interface RateLimitConfigRefs extends Static<typeof refs> {}
export const RateLimitConfigRefs = named<RateLimitConfigRefs>('RateLimitConfigRefs', refs);

const descriptor = block(
  {
    key: text('Key of the entry.'),
    value: text('Value of the entry. Unset: each value has its own counter.'),
    rateLimit: of(RateLimit, 'The limit. Unset: not limited here.'),
    descriptors: list(self('RateLimitDescriptor'), 'Rules for the entries that follow.'),
    weight: int('Of all matching rules only those with the highest weight apply.', { minimum: 0, default: 0 }),
    alwaysApply: bool('Applies regardless of weights.', { default: false }),
  },
  { required: ['key'] },
);
/** A rule for an ordered tuple of entries; a tree. */
export interface RateLimitDescriptor extends Static<typeof descriptor> {
  readonly descriptors?: readonly RateLimitDescriptor[];
}
export const RateLimitDescriptor = named<RateLimitDescriptor>('RateLimitDescriptor', descriptor);

const setDescriptor = block({
  simpleDescriptors: list(
    block({ key: text('Key of the entry.'), value: text('Value of the entry. Unset: any.') }, { required: ['key'] }),
    'Entries that a request must have; an empty list matches every request.',
  ),
  rateLimit: of(RateLimit, 'The limit.'),
  alwaysApply: bool('Applies even if an earlier rule matched.', { default: false }),
});
/** A rule for a set of entries. */
export interface RateLimitSetDescriptor extends Static<typeof setDescriptor> {}
export const RateLimitSetDescriptor = named<RateLimitSetDescriptor>('RateLimitSetDescriptor', setDescriptor);

const rules = block({
  descriptors: list(RateLimitDescriptor, 'Rules for ordered tuples.'),
  setDescriptors: list(RateLimitSetDescriptor, 'Rules for sets; the first match wins.'),
});
/** Rules of the rate limit server. */
export interface RateLimitRules extends Static<typeof rules> {}
export const RateLimitRules = named<RateLimitRules>('RateLimitRules', rules);

const server = block({
  ratelimitServerRef: ref('Upstream of the server.'),
  requestTimeout: duration('Timeout of a request to the server.', { default: '100ms' }),
  denyOnFail: bool('True returns 500 if the server fails; false allows the request.', { default: false }),
  enableXRatelimitHeaders: bool('Adds `x-ratelimit-*` to responses.', { default: false }),
  rateLimitBeforeAuth: bool('Limits before the login, when users are not known yet.', { default: false }),
  grpcService: of(block({ authority: text('`:authority` of the calls.') }), 'Connection to the server, over gRPC.'),
});
/** The rate limit server. */
export interface RateLimitServer extends Static<typeof server> {}
export const RateLimitServer = named<RateLimitServer>('RateLimitServer', server);

const spec = block({
  raw: of(
    block({
      descriptors: list(RateLimitDescriptor, 'Rules for ordered tuples.'),
      setDescriptors: list(RateLimitSetDescriptor, 'Rules for sets.'),
      rateLimits: list(RateLimitActions, 'Descriptors under which requests are counted.'),
    }),
    'Rules and descriptors combined.',
    refused,
  ),
});
/** `spec` of a RateLimitConfig: a reusable policy. */
export interface RateLimitConfigSpec extends Static<typeof spec> {}
export const RateLimitConfigSpec = named<RateLimitConfigSpec>('RateLimitConfigSpec', spec);
