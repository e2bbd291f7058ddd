import {
  asMiddleware,
  compileRegex,
  factsOf,
  httpStat,
  type Concern,
  type Context,
  type CreateMiddleware,
  type Handler,
  type HeaderChange,
  type Regex,
} from '@edge-gateway/core';
import type { Cors, VirtualHostOptions } from '@edge-gateway/core/schema';
import { replyError, routingError } from '../../error-codes.ts';
import { breaksLine } from '../../http1/flat-headers.ts';

type Level = Partial<Pick<VirtualHostOptions, 'cors' | 'corsPolicyMergeSettings'>>;

/** `cors`: responds to preflights, and adds the headers of CORS to responses for allowed origins. */
export const corsConcern: Concern<Cors> = { name: 'cors', option: 'cors', stage: 'cors', pick: pickCors, compile };

/**
 * CORS in your own server, by the block that routes have as `cors`. Preflights of allowed origins are responded to with 200; requests of other origins
 * pass without the headers of CORS. Throws `ERR_CORE_MIDDLEWARE` for invalid options.
 *
 * @example
 * app.use(cors({ allowOrigin: ['https://shop.example.com'], allowMethods: ['GET', 'POST'], maxAge: '600' }));
 */
export const cors: CreateMiddleware<Cors> = asMiddleware(corsConcern, 'Cors');

/** Merged blocks: the same object for the same levels. */
const merged = { own: new WeakMap<Cors, WeakMap<Cors, Cors>>(), union: new WeakMap<Cors, WeakMap<Cors, Cors>>() };

function pickCors(levels: readonly object[]): Cors | undefined {
  const blocks = (levels as readonly Level[]).flatMap((level) => level.cors ?? []);
  if (blocks.at(-1)?.disableForRoute) return undefined;
  const [host, route] = blocks;
  if (!host || !route) return host;
  const unites = (levels as readonly Level[]).some(
    ({ corsPolicyMergeSettings: settings }) => settings?.exposeHeaders === 'UNION',
  );
  const cache = unites ? merged.union : merged.own;
  let byHost = cache.get(route);
  if (!byHost) cache.set(route, (byHost = new WeakMap()));
  let block = byHost.get(host);
  if (!block) byHost.set(host, (block = mergeCors(host, route, unites)));
  return block;
}

/** Fields of the route replace those of the virtual host, one by one; the two lists of origins count as one field. */
function mergeCors(host: Cors, route: Cors, unites: boolean): Cors {
  const set = Object.entries(route).filter(
    ([, value]) => value !== '' && !(Array.isArray(value) && value.length === 0),
  );
  const ownOrigins = set.some(([field]) => field === 'allowOrigin' || field === 'allowOriginRegex');
  const { allowOrigin, allowOriginRegex, ...rest } = host;
  const exposed = [...new Set([...(host.exposeHeaders ?? []), ...(route.exposeHeaders ?? [])])];
  return {
    ...(ownOrigins ? rest : { ...rest, allowOrigin, allowOriginRegex }),
    ...Object.fromEntries(set),
    ...(unites && { exposeHeaders: exposed }),
  };
}

/** The origins of a policy. */
class Origins {
  /** True if each origin is allowed. */
  readonly any: boolean;
  readonly #exact: ReadonlySet<string>;
  readonly #patterns: readonly Regex[];

  constructor({ allowOrigin = [], allowOriginRegex = [] }: Cors) {
    this.#exact = new Set(allowOrigin);
    this.#patterns = allowOriginRegex.map((pattern) => compileRegex(pattern));
    this.any = this.#exact.has('*');
  }

  /** Returns true for an origin that is named, or that an expression matches as a whole. */
  names(origin: string): boolean {
    return this.#exact.has(origin) || this.#patterns.some((pattern) => pattern.fullMatch(origin));
  }
}

const CREDENTIALS = set('access-control-allow-credentials', 'true');
const NO_CREDENTIALS: HeaderChange = { op: 'remove', name: 'access-control-allow-credentials' };
/** The response names the origin, so that caches must not use it for another one. */
const VARY: HeaderChange = { op: 'append', name: 'vary', value: 'Origin' };
const WILDCARD = '*';

function compile(options: Cors, { metrics }: Context): Handler | undefined {
  if (options.disableForRoute) return undefined;
  const origins = new Origins(options);
  const methods = listed(options.allowMethods, 'allowMethods');
  const headers = listed(options.allowHeaders, 'allowHeaders');
  const exposed = listed(options.exposeHeaders, 'exposeHeaders');
  const maxAge = listed([options.maxAge ?? ''], 'maxAge');
  const valid = metrics.counter(httpStat('cors.origin_valid'));
  const invalid = metrics.counter(httpStat('cors.origin_invalid'));

  return function cors(req, _res, next) {
    const facts = factsOf(req);
    const { responseChanges: changes } = facts;
    changes.push(VARY);
    const origin = facts.header('origin');
    if (!origin) return next();
    const isNamed = origins.names(origin);
    if (!isNamed && !origins.any) {
      invalid.value++;
      return next();
    }
    valid.value++;
    changes.push(set('access-control-allow-origin', origin));
    // Every site could act as the user: only origins that the policy names may send cookies, whatever the upstream says.
    if (!isNamed || origin === WILDCARD) changes.push(NO_CREDENTIALS);
    else if (options.allowCredentials) changes.push(CREDENTIALS);
    if (exposed !== '') changes.push(set('access-control-expose-headers', exposed));
    const requested = facts.method === 'OPTIONS' ? facts.header('access-control-request-method') : undefined;
    if (!requested) return next();
    addSet(changes, 'access-control-allow-methods', methods === WILDCARD ? requested : methods);
    const asked = facts.header('access-control-request-headers') ?? '';
    addSet(changes, 'access-control-allow-headers', headers === WILDCARD ? asked : headers);
    addSet(changes, 'access-control-max-age', maxAge);
    return next(PREFLIGHT);
  };
}

/** Ends the request here, so that no policy sees it: browsers send preflights without credentials. */
const PREFLIGHT = replyError('ERR_ROUTING_PREFLIGHT', { status: 200, body: '', details: 'cors_response' });

function set(name: string, value: string): HeaderChange {
  return { op: 'set', name, value };
}

function addSet(changes: HeaderChange[], name: string, value: string): void {
  if (value !== '') changes.push(set(name, value));
}

function listed(values: readonly string[] = [], field: string): string {
  const joined = values.join(',');
  if (breaksLine(joined)) throw routingError('ERR_ROUTING_OPTION', `${field} of cors contains a line break or NUL`);
  return joined;
}
