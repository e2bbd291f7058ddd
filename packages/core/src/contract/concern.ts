import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { AzureAddresses } from './group-lookup.ts';
import { libraryLoggers, type Loggers } from '../observe/logger.ts';
import { createPages, type Pages } from '../page/pages.ts';
import { createMetrics, type Metrics } from '../observe/metrics.ts';
import type { Route, Secrets, SnapshotSettings, VirtualHost } from './snapshot.ts';
import { createStates, type StateHold } from './states.ts';
import type { CallUpstream } from '../upstream/upstream-call.ts';

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
  /** Directory of files that the options of a middleware may name; they are read when it is created. Default: no file is read. */
  readonly filesRoot?: string;
  /** Renders the pages for errors, login and logout. */
  readonly pages: Pages;
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

/** Creates a context. By default it logs from level warn on to standard error, has no secrets, and uses the system clock. */
export function createContext(parts: Partial<Omit<Context, 'state' | 'holdStates'>> = {}): Context {
  const now = parts.now ?? Date.now;
  const { state, hold } = createStates(now);
  return {
    log: parts.log ?? libraryLoggers,
    metrics: parts.metrics ?? createMetrics(),
    secrets: parts.secrets ?? { get: () => undefined },
    now,
    pages: parts.pages ?? createPages(),
    ...(parts.env && { env: parts.env }),
    ...(parts.callUpstream && { callUpstream: parts.callUpstream }),
    ...(parts.filesRoot !== undefined && { filesRoot: parts.filesRoot }),
    ...(parts.azure && { azure: parts.azure }),
    ...(parts.holdListeners && { holdListeners: parts.holdListeners }),
    state,
    holdStates: hold,
  };
}
