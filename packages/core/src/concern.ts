import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { applyHeaderChanges, factsOf } from './facts.ts';
import type { AzureAddresses } from './group-lookup.ts';
import { silentLoggers, type Loggers } from './logger.ts';
import { createMetrics, type Metrics } from './metrics.ts';
import type { Route, Secrets, SnapshotSettings, VirtualHost } from './snapshot.ts';
import { createStates, type StateHold } from './states.ts';
import type { CallUpstream } from './upstream-call.ts';

/** Calls the next handler, or with an error the error handler. */
export type Next = (error?: unknown) => void;

/**
 * A middleware on `node:http` types. It is a *named* function, reads no body before the destination, and passes errors
 * by `next(error)`. `upgrade` takes over protocol upgrades; `drain` ends what has no end of its own (subscriptions), because
 * the process ends soon; `close` lets go of what it holds.
 */
export interface Handler {
  (req: IncomingMessage, res: ServerResponse, next: Next): void;
  upgrade?(req: IncomingMessage, socket: Duplex, head: Buffer): void;
  drain?(): void;
  close?(): void | Promise<void>;
}

/** The order in which a request passes the concerns. The one place where it is said. */
export const STAGES = [
  'fault',
  'cors',
  'jwtBeforeExtAuth',
  'extAuth',
  'earlyTransformation',
  'jwt',
  'rbac',
  'rateLimit',
  'regularTransformation',
  'headerManipulation',
  'destination',
] as const;
export type Stage = (typeof STAGES)[number];

/** What a concern may use. It outlives reloads, so what must survive one (sessions, key sets, pools) is kept here. */
export interface Context {
  readonly log: Loggers;
  readonly metrics: Metrics;
  readonly secrets: Secrets;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Asks an upstream through the data plane's connections; missing where there is no data plane. */
  readonly callUpstream?: CallUpstream;
  /**
   * Has listeners that are not open yet wait until `ready` settles, for some seconds at most; it gives whether `what`, which
   * the log names when it is not, is there. For what a compiled handler fetches ahead. Missing where nothing waits.
   */
  readonly holdListeners?: (what: string, ready: Promise<boolean>) => void;
  /** Variables that templates may read with `env()`. Default: none. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Where Microsoft Entra and Graph are. Default: the public cloud. */
  readonly azure?: AzureAddresses;
  /**
   * State that survives reloads: made at the first call of a key, given back at each later one. In the gateway it goes ten
   * minutes after the last virtual host that asked for it while it was compiled.
   */
  state<T>(key: string, create: () => T): T;
  /**
   * Lets a part of a configuration hold what it keeps by `state`, so that it goes some time after the last part that needs it.
   * Missing: all of it stays for as long as the context.
   */
  readonly holdStates?: () => StateHold;
}

/** Where a block is compiled for, in the gateway. */
export interface Scope {
  readonly virtualHost: VirtualHost;
  /** Only for what serves a single route: the handler of an option may be shared by all routes of the virtual host. */
  readonly route?: Route;
  readonly settings: SnapshotSettings;
}

/**
 * One policy of a route. `option` is the key under `options` whose block it takes. `compile` is pure and synchronous;
 * it gives `undefined` where the block asks for nothing. A block that cannot be compiled throws: its routes answer 500.
 */
export interface Concern<Options = unknown> {
  readonly name: string;
  readonly option: string;
  readonly stage: Stage;
  /**
   * Which block holds, from the options of the levels, least specific first: virtual host, route, weighted destination.
   * Default: the block under `option` of the most specific level that has one. What it gives for the same levels has to
   * be the same object, for it is compiled once in a virtual host.
   */
  pick?(levels: readonly object[]): Options | undefined;
  /** `scope` is missing in a user's own server. */
  compile(options: Options, context: Context, scope?: Scope): Handler | undefined;
}

/** Makes a context: silent, without secrets, on the system's clock, unless told otherwise. */
export function createContext(parts: Partial<Omit<Context, 'state' | 'holdStates'>> = {}): Context {
  const now = parts.now ?? Date.now;
  const { state, hold } = createStates(now);
  return {
    log: parts.log ?? silentLoggers,
    metrics: parts.metrics ?? createMetrics(),
    secrets: parts.secrets ?? { get: () => undefined },
    now,
    ...(parts.env && { env: parts.env }),
    ...(parts.callUpstream && { callUpstream: parts.callUpstream }),
    ...(parts.azure && { azure: parts.azure }),
    ...(parts.holdListeners && { holdListeners: parts.holdListeners }),
    state,
    holdStates: hold,
  };
}

/**
 * Turns a concern into a middleware factory for a user's own server: what the concern recorded on the request's
 * headers is applied to `req.headers` and `req.rawHeaders` before `next()` (before `next(error)` only what it removed), a
 * changed path to `req.url`, and response headers by `res.setHeader`. Behind a mount path the concern sees what is left
 * of the path, as `req.url` does.
 *
 * @example
 * export const rbac = asMiddleware(rbacConcern);
 * app.use(rbac({ policies }));
 */
export function asMiddleware<Options>(concern: Concern<Options>): (options: Options, context?: Context) => Handler {
  return (options, context = createContext()) => {
    const handler = concern.compile(options, context);
    if (!handler) return (_req, _res, next) => next();
    const applied: Handler = (req, res, next) => {
      const facts = factsOf(req);
      const url = req.url ?? '/';
      const method = req.method ?? 'GET';
      facts.path = url;
      facts.method = method;
      handler(req, res, (error) => {
        if (error === undefined) applyRecorded(req, res);
        else applyRemovals(req);
        if (facts.path !== url) req.url = facts.path;
        if (facts.method !== method) req.method = facts.method;
        next(error);
      });
    };
    Object.defineProperty(applied, 'name', { value: concern.name });
    if (handler.upgrade) applied.upgrade = handler.upgrade.bind(handler);
    if (handler.drain) applied.drain = handler.drain.bind(handler);
    if (handler.close) applied.close = handler.close.bind(handler);
    return applied;
  };
}

/** Who lets a refused request go on all the same does not get what nobody but a concern may say. */
function applyRemovals(req: IncomingMessage): void {
  const { requestChanges } = factsOf(req);
  const removals = requestChanges.filter(({ op }) => op === 'remove');
  requestChanges.splice(0, requestChanges.length, ...removals);
  applyToRequest(req);
}

function applyToRequest(req: IncomingMessage): void {
  const facts = factsOf(req);
  const touched = new Set(facts.requestChanges.map((change) => change.name));
  for (const name of touched) {
    const value = facts.header(name);
    if (value === undefined) delete req.headers[name];
    else req.headers[name] = value;
  }
  if (touched.size > 0) {
    req.rawHeaders = applyHeaderChanges(req.rawHeaders, facts.requestChanges);
    // Node would make this of as many raw headers as there once were.
    req.headersDistinct = distinct(req.rawHeaders);
  }
  facts.requestChanges.length = 0;
}

function applyRecorded(req: IncomingMessage, res: ServerResponse): void {
  applyToRequest(req);
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
