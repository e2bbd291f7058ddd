import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { libraryLoggers, type Loggers } from '../observe/logger.ts';
import { createPages, type Pages } from '../page/pages.ts';
import { createMetrics, type Metrics } from '../observe/metrics.ts';
import type { Route, Secrets, SnapshotSettings, VirtualHost } from './snapshot.ts';
import type { ResponseFilter } from './response-filter.ts';
import { createStates, type StateHold } from './states.ts';
import type { CallUpstream } from '../upstream/upstream-call.ts';

/** Calls the next handler, or with an error the error handler. */
export type Next = (error?: unknown) => void;

/**
 * A middleware on `node:http` types. It is a *named* function, reads no body that it does not restore, and passes errors
 * by `next(error)`. `upgrade` handles WebSockets. `connect` handles CONNECT requests; without it they are rejected. `drain` ends unlimited
 * responses (subscriptions), because
 * the process ends soon; `close` releases its resources.
 */
export interface Handler {
  (req: IncomingMessage, res: ServerResponse, next: Next): void;
  upgrade?(req: IncomingMessage, socket: Duplex, head: Buffer): void;
  connect?(req: IncomingMessage, socket: Duplex, head: Buffer): void;
  drain?(): void;
  close?(): void | Promise<void>;
  /**
   * Returns the filter for the response to a request, if it needs one: called when the head is written, also for requests that
   * never reached this handler. Responses pass the filters of the handlers in reverse order.
   */
  filterResponse?(req: IncomingMessage): ResponseFilter | undefined;
  /** True if it also filters the response when the request changed to a route without this handler. */
  readonly outlivesRoute?: boolean;
}

/**
 * The order in which a request passes the concerns; the only definition of it. Those of `postRouting` run only for forwarded
 * requests, after the endpoint is chosen and the head is rewritten.
 */
export const STAGES = [
  'fault',
  'cors',
  'localRateLimit',
  'rateLimitEarly',
  'jwtBeforeExtAuth',
  'extAuth',
  'earlyTransformation',
  'jwt',
  'rbac',
  'rateLimit',
  'regularTransformation',
  'transcoding',
  'headerManipulation',
  'destination',
  'postRouting',
] as const;
/** One of {@link STAGES}. */
export type Stage = (typeof STAGES)[number];

/** The two URLs of a Microsoft cloud, without a path. Plain `http` is for this machine only. */
export interface AzureAddresses {
  /** Issues tokens, e.g. `https://login.microsoftonline.com`. */
  readonly login: string;
  /** Returns groups, e.g. `https://graph.microsoft.com`. */
  readonly graph: string;
}

/** The dependencies of concerns. It survives reloads, and so does the state in it (sessions, key sets, pools). */
export interface Context {
  readonly log: Loggers;
  readonly metrics: Metrics;
  readonly secrets: Secrets;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Calls an upstream through the data plane's connections; missing without a data plane. */
  readonly callUpstream?: CallUpstream;
  /**
   * Delays listeners that are not open yet until `ready` settles, for at most some seconds. It resolves with whether `what`
   * is available; otherwise the log names it. For prefetches of compiled handlers. Missing if nothing waits.
   */
  readonly holdListeners?: (what: string, ready: Promise<boolean>) => void;
  /** Number of processes that serve the same listeners; each allows its share of local limits. Default: one. */
  readonly processes?: number;
  /** Random text that is the same in all of these processes, for keys that no secret sets. Default: each process creates its own. */
  readonly processKey?: string;
  /** Variables that templates may read with `env()`. Default: none. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Directory of files that the options of a middleware may name; read at its creation. Default: no file is read. */
  readonly filesRoot?: string;
  /** Renders the pages for errors, login and logout. */
  readonly pages: Pages;
  /**
   * Clients whose `accept` prefers JSON receive errors as JSON instead of texts such as `RBAC: access denied`. Default false: only instead
   * of an empty body. In the gateway, `gw.jsonErrors` of the Settings decides.
   */
  readonly jsonErrors?: boolean;
  /** URLs of Microsoft Entra and Graph. Default: the public cloud. */
  readonly azure?: AzureAddresses;
  /**
   * Returns state that survives reloads: created at the first call for a key, the same at later calls. In the gateway it is
   * removed ten minutes after the last virtual host that requested it during its compilation.
   */
  state<T>(key: string, create: () => T): T;
  /**
   * Lets a part of a configuration hold its `state`, so that it is removed some time after the last part that needs it.
   * Missing: all of it lives as long as the context.
   */
  readonly holdStates?: () => StateHold;
}

/** The place for which the gateway compiles a block. */
export interface Scope {
  readonly virtualHost: VirtualHost;
  /** Only set for a single route: the handler of an option may be shared by all routes of the virtual host. */
  readonly route?: Route;
  readonly settings: SnapshotSettings;
}

/**
 * A policy of a route. `option` is the key of its block under `options`. `compile` is pure and synchronous; it returns
 * `undefined` if the block requires nothing, and throws if it cannot be compiled: its routes then return 500.
 */
export interface Concern<Options = unknown> {
  readonly name: string;
  readonly option: string;
  readonly stage: Stage;
  /**
   * Selects the block from the options of the levels, least specific first: virtual host, route, weighted destination.
   * Default: the block under `option` of the most specific level that has one. It must return the same object for the same
   * levels, because it is compiled once per virtual host.
   */
  pick?(levels: readonly object[]): Options | undefined;
  /** `scope` is missing in a user's own server. */
  compile(options: Options, context: Context, scope?: Scope): Handler | undefined;
  /**
   * Compiles the block of a listener for requests that no route matches, like `compile`. Default: the concern does not apply to them. The
   * handlers are never closed and do not filter responses.
   */
  compileUnrouted?(options: Options, context: Context, settings: SnapshotSettings): Handler | undefined;
}

/**
 * Creates a context: log, metrics, secrets, clock and pages of middlewares and routers. By default it logs warnings and errors to standard
 * error, does not publish metrics, contains no secrets, and uses the system clock. Parts share state if they use the same context.
 *
 * @example
 * const context = createContext({ log: createLoggers({ level: 'info' }), secrets: plainSecrets({ shop: { 'api-key': 'key-1' } }) });
 * app.use(extauth({ config }, context));
 */
export function createContext(parts: Partial<Omit<Context, 'state' | 'holdStates'>> = {}): Context {
  const now = parts.now ?? Date.now;
  const { state, hold } = createStates(now);
  return {
    ...parts,
    log: parts.log ?? libraryLoggers,
    metrics: parts.metrics ?? createMetrics(),
    secrets: parts.secrets ?? { get: () => undefined },
    now,
    pages: parts.pages ?? createPages(),
    state,
    holdStates: hold,
  };
}
