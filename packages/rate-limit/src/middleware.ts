import {
  asMiddleware,
  DEFAULT_SNAPSHOT_SETTINGS,
  type Concern,
  type Context,
  type CreateMiddleware,
  type ResourceRef,
  type Scope,
} from '@edge-gateway/core';
import type {
  RateLimit,
  RateLimitActions,
  RateLimitBasic,
  RateLimitConcurrency,
  RateLimitConfigSpec,
  RateLimitRules,
  RateLimitServer,
} from '@edge-gateway/core/schema';
import * as f from '@edge-gateway/core/options';
import { compileRateLimit } from './concern/rate-limit.ts';
import type { LimitBlock } from './concern/limit-block.ts';
import { rateLimitError } from './error-codes.ts';
import type { Store } from './store/store.ts';

/** Options of {@link rateLimit}: one limit (`requestsPerUnit`), or rules and descriptors as in resources. At least one limit is required. */
export interface RateLimitOptions extends Partial<RateLimit> {
  /** Bits of an IPv6 address that are counted as one client, 1 to 128. Default 64. */
  readonly ipv6PrefixLength?: RateLimitServer['ipv6PrefixLength'];
  /** Requests per `unit`, an integer from 0 to 4294967295. */
  readonly requestsPerUnit?: number;
  /** Default `MINUTE`. */
  readonly unit?: RateLimit['unit'];
  /**
   * What has a counter of its own: each client address, each user that a middleware in front authenticated, or each value of a header.
   * Requests without a user or header are counted by address. Default `address`.
   */
  readonly by?: 'address' | 'user' | { readonly header: string };
  /** Limits of users and of anonymous clients. */
  readonly basic?: RateLimitBasic;
  /** Rules for the descriptors of `rateLimits`, as in the Settings. */
  readonly rules?: RateLimitRules;
  /** Descriptors under which requests are counted. */
  readonly rateLimits?: readonly RateLimitActions[];
  /** Limits of requests in flight. */
  readonly concurrency?: readonly RateLimitConcurrency[];
  /** Sends the seconds until more requests are allowed in `retry-after` of 429. Default true. */
  readonly retryAfter?: boolean;
  /** Sends `x-ratelimit-limit`, `-remaining` and `-reset` with every response. Default false. */
  readonly headers?: boolean;
  /** Counters that several processes share. Default: in memory. */
  readonly store?: Store;
  /** Maximum time for a response of the store, e.g. `50ms`. Default `100ms`. */
  readonly requestTimeout?: RateLimitServer['requestTimeout'];
  /** Rejects requests with `ERR_RATE_LIMIT_FAILED` 500 if the store fails. Default false: they are allowed. */
  readonly denyOnFail?: boolean;
  /** Separates the counters of several limits in one store. Default: `limit-<i>`, in the order of creation in the context. */
  readonly name?: string;
}

const isStore = (store: unknown): boolean => typeof (store as Store | undefined)?.count === 'function';
const fields = {
  requestsPerUnit: f.fieldOf(f.RateLimit, 'requestsPerUnit'),
  unit: f.fieldOf(f.RateLimit, 'unit'),
  algorithm: f.fieldOf(f.RateLimit, 'algorithm'),
  burst: f.fieldOf(f.RateLimit, 'burst'),
  by: f.either(f.enumeration(['address', 'user']), f.block(f.required('header'), { header: f.text() })),
  ipv6PrefixLength: f.fieldOf(f.RateLimitServer, 'ipv6PrefixLength'),
  basic: f.RateLimitBasic,
  rules: f.RateLimitRules,
  rateLimits: f.list(f.RateLimitActions),
  concurrency: f.list(f.RateLimitConcurrency),
  retryAfter: f.bool(),
  headers: f.bool(),
  store: f.value<Store>((store) => (isStore(store) ? undefined : 'must be a store, e.g. of createMemoryStore()')),
  requestTimeout: f.fieldOf(f.RateLimitServer, 'requestTimeout'),
  denyOnFail: f.bool(),
  name: f.text(),
} satisfies Record<keyof RateLimitOptions, f.Schema>;

const concern: Concern<RateLimitOptions> = {
  name: 'rateLimit',
  option: 'ratelimit',
  stage: 'rateLimit',
  compile(options, context) {
    checkOptions(options);
    const { store } = options;
    const ref = { namespace: NAMESPACE, name: nameOf(options, context) };
    const scope = scopeOf(options, ref);
    return compileRateLimit(blockOf(options, ref), {
      stage: 'rateLimit',
      context,
      scope,
      options: { ...(store && { store }) },
    });
  },
};

/**
 * Limits requests in your own server. Rejects those over a limit with `ERR_RATE_LIMIT_EXCEEDED` 429: see `onRefusal`. Behind a proxy,
 * client addresses are those that Express trusts (`trust proxy`). Throws `ERR_RATE_LIMIT_OPTIONS`, `ERR_RATE_LIMIT_RULES` or
 * `ERR_RATE_LIMIT_ACTIONS` for invalid options.
 *
 * @example
 * app.use(rateLimit({ requestsPerUnit: 100, unit: 'MINUTE', by: 'address', headers: true }));
 */
export const rateLimit: CreateMiddleware<RateLimitOptions> = asMiddleware(concern, {
  schema: f.block(fields),
  error: (message) => rateLimitError('ERR_RATE_LIMIT_OPTIONS', message),
});

function checkOptions(options: RateLimitOptions): void {
  const { requestsPerUnit, basic, rateLimits = [], concurrency = [], by } = options;
  if (typeof by === 'object' && by.header === '') throw invalid('by.header: must not be empty');
  if (requestsPerUnit === undefined && !basic && rateLimits.length === 0 && concurrency.length === 0)
    throw invalid('no limit: set requestsPerUnit, basic, rateLimits or concurrency');
}

function invalid(message: string) {
  return rateLimitError('ERR_RATE_LIMIT_OPTIONS', `rateLimit: ${message}`);
}

function nameOf({ name }: RateLimitOptions, context: Context): string {
  const created = context.state('rateLimit.middlewares', () => ({ number: 0 }));
  created.number++;
  return name ?? `limit-${created.number}`;
}

const NAMESPACE = 'app';

function blockOf(options: RateLimitOptions, ref: ResourceRef): LimitBlock {
  const { basic, concurrency, retryAfter } = options;
  const limit = limitOf(options);
  const isByUser = options.by === 'user' && limit;
  const ratelimitBasic = isByUser ? { anonymousLimits: limit, authorizedLimits: limit, ...basic } : basic;
  const ratelimit = {
    ...(concurrency && { concurrency }),
    ...(retryAfter !== undefined && { retryAfter }),
  };
  const host = { ratelimit, ...(ratelimitBasic && { ratelimitBasic }), rateLimitRegularConfigs: { refs: [ref] } };
  return { host, route: {}, routeOptions: {} };
}

/** The options as a RateLimitConfig, whose rules only match its own descriptors. */
function scopeOf(options: RateLimitOptions, ref: ResourceRef): Scope {
  const { headers = false, denyOnFail = false, requestTimeout, ipv6PrefixLength } = options;
  const server = {
    enableXRatelimitHeaders: headers,
    denyOnFail,
    ...(requestTimeout && { requestTimeout }),
    ...(ipv6PrefixLength !== undefined && { ipv6PrefixLength }),
  };
  return {
    settings: { ...DEFAULT_SNAPSHOT_SETTINGS, ratelimitServer: server },
    virtualHost: {
      name: ref.name,
      virtualService: ref,
      domains: ['*'],
      options: {},
      routes: [],
      authConfigs: [],
      rateLimitConfigs: [{ ref, spec: specOf(options) }],
      graphqlApis: [],
    },
  };
}

function specOf({ rules = {}, rateLimits = [], ...options }: RateLimitOptions): RateLimitConfigSpec {
  const rateLimit = limitOf(options);
  const { by = 'address' } = options;
  if (!rateLimit || by === 'user') return { raw: { ...rules, rateLimits } };
  const plain = easyForm(rateLimit, by);
  return {
    raw: {
      ...rules,
      descriptors: [...plain.descriptors, ...(rules.descriptors ?? [])],
      rateLimits: [...plain.rateLimits, ...rateLimits],
    },
  };
}

function limitOf({ requestsPerUnit, unit = 'MINUTE', algorithm, burst }: RateLimitOptions): RateLimit | undefined {
  if (requestsPerUnit === undefined) return undefined;
  return { requestsPerUnit, unit, ...(algorithm && { algorithm }), ...(burst !== undefined && { burst }) };
}

function easyForm(rateLimit: RateLimit, by: 'address' | { readonly header: string }) {
  const byAddress = { key: 'remote_address', rateLimit };
  if (by === 'address') return { descriptors: [byAddress], rateLimits: [{ actions: [{ remoteAddress: {} }] }] };
  const { header } = by;
  // Otherwise a client without the header would not be limited.
  const isAbsent = { descriptorValue: 'absent', headers: [{ name: header, presentMatch: false }] };
  return {
    descriptors: [
      { key: 'value', rateLimit },
      { key: 'header_match', value: 'absent', descriptors: [byAddress] },
    ],
    rateLimits: [
      { actions: [{ requestHeaders: { headerName: header, descriptorKey: 'value' } }] },
      { actions: [{ headerValueMatch: isAbsent }, { remoteAddress: {} }] },
    ],
  };
}
