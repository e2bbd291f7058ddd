import type { IncomingMessage, ServerResponse } from 'node:http';
import { createContext, type Concern, type Context, type Handler } from '../contract/concern.ts';
import { coreError } from '../error-codes.ts';
import { checkOptions, type OptionBlock, type OptionRules } from './check-options.ts';
import { filterResponse } from './filter-response.ts';
import { respondToError } from './respond-to-error.ts';
import { GatewayError } from '../errors.ts';
import { applyHeaderChanges, factsOf, type Facts } from '../contract/facts.ts';
import { canonicalName } from '../http/reserved-headers.ts';
import { hideCookies } from '../http/hide-cookies.ts';

/** Options that every middleware of the packages accepts, in addition to those of its resource block. */
export interface MiddlewareOptions {
  /**
   * What happens to requests that the middleware rejects or fails to check. `respond` sends the gateway's status, headers and body,
   * without details from status 500 on. `next` passes the error to `next(error)`, for your own error handler;
   * it has `status`, `code` and `headers` (with `WWW-Authenticate`). Redirects to a login are always sent. Default `respond`.
   */
  readonly onRefusal?: 'respond' | 'next';
}

/** Creates a middleware from its options. Throws what the concern throws, and `ERR_CORE_MIDDLEWARE` for invalid options or an unknown `onRefusal`. */
export type CreateMiddleware<Options> = (options: Options & MiddlewareOptions, context?: Context) => Handler;

/**
 * Turns a concern into a middleware factory for a user's own server: what the concern recorded on the request's
 * headers is applied to `req.headers` and `req.rawHeaders` before `next()` (before `next(error)` only what it removed), a
 * changed path to `req.url`, and response headers by `res.setHeader`. Behind a mount path the concern sees the rest
 * of the path, as in `req.url`. Responses pass the filters of the middlewares in reverse order. For rejected requests it responds or calls `next(error)`: see {@link MiddlewareOptions}.
 * `rules` are what the options must match, or the name of the block of resources that they are. Default: options are not checked.
 *
 * @example
 * export const rbac = asMiddleware(rbacConcern, 'Rbac');
 * app.use(rbac({ policies }));
 */
export function asMiddleware<Options extends object>(
  concern: Concern<Options>,
  rules?: OptionBlock | OptionRules,
): CreateMiddleware<Options> {
  return (given, context = createContext()) => {
    if (typeof given !== 'object' || given === null)
      throw coreError('ERR_CORE_MIDDLEWARE', `${concern.name}: options are missing`);
    const { onRefusal = 'respond', ...options } = given;
    if (onRefusal !== 'respond' && onRefusal !== 'next') {
      const problem = `invalid onRefusal ${JSON.stringify(onRefusal)}: use respond or next`;
      throw coreError('ERR_CORE_MIDDLEWARE', `${concern.name}: ${problem}`);
    }
    // The rest are the concern's own options: no block has a field of this name.
    const own = options as unknown as Options;
    const handler = concern.compile(rules ? checkOptions(concern.name, own, rules) : own, context);
    if (!handler) return (_req, _res, next) => next();
    const applied: Handler = (req, res, next) => {
      const facts = factsOf(req);
      const url = req.url ?? '/';
      const method = req.method ?? 'GET';
      facts.path = url;
      facts.method = method;
      if (handler.filterResponse) filterResponse(req, res, handler, context);
      handler(req, res, (error) => {
        if (error === undefined) applyGranted(req);
        else applyRemovals(req);
        applyToResponse(req, res);
        if (facts.path !== url) req.url = facts.path;
        if (facts.method !== method) req.method = facts.method;
        if (error !== undefined && (onRefusal === 'respond' || isProtocol(error)))
          respondToError(error, req, res, context);
        else next(error);
      });
    };
    Object.defineProperty(applied, 'name', { value: concern.name });
    if (handler.upgrade) applied.upgrade = handler.upgrade.bind(handler);
    if (handler.drain) applied.drain = handler.drain.bind(handler);
    if (handler.close) applied.close = handler.close.bind(handler);
    return applied;
  };
}

/** A response below status 400 is a step of a protocol, such as the redirect to a login: an error handler cannot handle it. */
function isProtocol(error: unknown): boolean {
  return error instanceof GatewayError && error.status < 400;
}

/** Strips headers that only a handler may set from rejected requests too: an error handler may still serve them. */
function applyRemovals(req: IncomingMessage): void {
  const { requestChanges } = factsOf(req);
  const removals = requestChanges.filter(({ op }) => op === 'remove');
  requestChanges.splice(0, requestChanges.length, ...removals);
  applyToRequest(req);
}

/** In a user's own server the next handler is the destination. */
function applyGranted(req: IncomingMessage): void {
  const facts = factsOf(req);
  hideCookies(facts);
  facts.hiddenCookies = undefined;
  applyToRequest(req);
}

function applyToRequest(req: IncomingMessage): void {
  const facts = factsOf(req);
  removeLookalikes(req, facts);
  const touched = new Set(facts.requestChanges.map((change) => change.name));
  for (const name of touched) {
    const value = facts.header(name);
    if (value === undefined) delete req.headers[name];
    else req.headers[name] = value;
  }
  if (touched.size > 0) {
    req.rawHeaders = applyHeaderChanges(req.rawHeaders, facts.requestChanges);
    // Node would compute this from the original number of raw headers.
    req.headersDistinct = distinct(req.rawHeaders);
  }
  facts.requestChanges.length = 0;
}

/** Records the removal of what some servers would read as a header that is set or removed, though it has underscores. */
function removeLookalikes(req: IncomingMessage, { requestChanges }: Facts): void {
  const set = new Set(requestChanges.filter(({ op }) => op !== 'append').map(({ name }) => name));
  for (const name of Object.keys(req.headers)) {
    if (!name.includes('_') || set.has(name) || !set.has(canonicalName(name))) continue;
    requestChanges.push({ op: 'remove', name });
  }
}

function applyToResponse(req: IncomingMessage, res: ServerResponse): void {
  const facts = factsOf(req);
  for (const change of facts.responseChanges) {
    if (change.op === 'remove') res.removeHeader(change.name);
    else if (change.op === 'append') res.appendHeader(change.name, change.value);
    else if (!change.where || res.hasHeader(change.name) === (change.where === 'present'))
      res.setHeader(change.name, change.value);
  }
  facts.responseChanges.length = 0;
}

/** Lists of values by name in lower case. */
function distinct(flat: readonly string[]): NodeJS.Dict<string[]> {
  const lists = Object.create(null) as NodeJS.Dict<string[]>;
  for (let i = 0; i < flat.length; i += 2) (lists[flat[i]!.toLowerCase()] ??= []).push(flat[i + 1]!);
  return lists;
}
