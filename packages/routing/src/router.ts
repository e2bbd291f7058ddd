import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import {
  createContext,
  libraryLoggers,
  silentLoggers,
  type CallUpstream,
  type ActionKind,
  type Concern,
  type Context,
  type Handler,
  type HostState,
  type Next,
  runSteps,
  type Snapshot,
  type SnapshotUpstream,
  type Steps,
  type TcpHost,
} from '@edge-gateway/core';
import * as f from '@edge-gateway/core/options';
import { createDefaultLog } from './access-log/access-log.ts';
import type { Terminal } from './access-log/default-line.ts';
import { compatibilityProblem } from './check/check-version.ts';
import { createBackPressure, type AccessLogOverflow } from './access-log/back-pressure.ts';
import { compressConcern } from './compress/compress.ts';
import { dlpConcern } from './dlp/dlp.ts';
import { bufferConcern } from './route/options/buffer.ts';
import { createExtProcConcerns } from './ext-proc/ext-proc.ts';
import { createCollectors } from './collect/collectors.ts';
import { createSinks } from './access-log/sinks.ts';
import { orderConcerns } from './route/compile/chain.ts';
import { corsConcern } from './route/options/cors.ts';
import { csrfConcern } from './route/options/csrf.ts';
import { faultConcern } from './route/options/faults.ts';
import { createListenerTable, type CompileFailure } from './serve/listener-table.ts';
import type { RequestRecord } from './format/record.ts';
import { createGenerations } from './upstream/generations.ts';
import { createServeListener, type Mount, type ServeListener } from './serve/serve-listener.ts';
import { createHttpStats } from './serve/http-stats.ts';
import { createRouteStats } from './serve/route-stats.ts';
import { createTcpProxy } from './tcp/tcp-proxy.ts';
import { createUpstreamCaller } from './upstream/call.ts';
import {
  earlyTransformationConcern,
  postRoutingTransformationConcern,
  regularTransformationConcern,
} from './transform/concern.ts';
import { restFunctionConcern } from './transform/rest-function.ts';
import { createTranscoderConcern } from './transcode/transcoder-concern.ts';
import type { RecordingSource } from './tracing/recordings.ts';
import type { Http2Client } from './upstream/cluster.ts';
import { createForwardProxies } from './upstream/dynamic/forward-proxies.ts';
import { createClusterEnvironment, createUpstreams } from './upstream/upstreams.ts';
import { OpenWebSockets } from './websocket/open-websockets.ts';

/** Options of {@link createRouter}. */
export interface RouterOptions {
  /** The concerns that compile a route's options, in addition to the router's own, in any order: their stages order them. */
  readonly concerns?: readonly Concern[];
  /** Responders of routes whose action is neither forwarding nor a response of the router. Default: none, the response is 500. */
  readonly actions?: readonly ActionKind[];
  /** Log, metrics and secrets. Default: that of `createContext()`, which has no secrets. */
  readonly context?: Context;
  /** The listener the router itself serves as a handler. Default: the first plain one of the snapshot. */
  readonly listener?: string;
  /**
   * Behaviour of the router for requests without a matching virtual host or route: `next()`, as a middleware in a user's
   * own server does, or 404. Listeners always respond with 404. Default: `next`.
   */
  readonly fallthrough?: 'next' | 'notFound';
  /**
   * Where requests are logged by listeners that name no access log. Default: `stdout`, one JSON line a request, readable text on
   * a terminal; `none` when no context with loggers is given, or a silent one.
   */
  readonly accessLog?: 'stdout' | 'none';
  /** The terminal that shows standard output, if this process writes to another one. Default: standard output. */
  readonly terminal?: Terminal | undefined;
  /**
   * Behaviour if the reader of an access log is too slow. `drop`: lines beyond 16 MiB of queued lines are dropped and counted.
   * `block`: new requests wait from 1 MiB on, five seconds at most, and not for a reader that has stalled for five
   * seconds. Default: `drop`.
   */
  readonly accessLogOverflow?: AccessLogOverflow;
  /** Returns false while load balancers in front should send no new requests: `healthCheck` of listeners responds with 503. */
  readonly isHealthy?: () => boolean;
  /** Records single requests; see `createRecordings`. Default: none is recorded. */
  readonly recordings?: RecordingSource | undefined;
  /**
   * What speaks HTTP/2 to upstreams. `node`: the HTTP/2 client of Node.js. `direct`: requests except tunnels and WebSockets are sent
   * without it, with less CPU time. Default: `direct`.
   */
  readonly http2Client?: Http2Client;
}

/**
 * A handler that serves a snapshot. `apply` replaces it: requests in progress finish on the old one.
 * `listener(name)` is the handler of one listener; it stays the same function across `apply`.
 */
export interface Router extends Handler {
  /** Serves a snapshot from the next request on. Returns the changed parts that cannot be compiled; they respond with 500. */
  apply(snapshot: Snapshot): readonly CompileFailure[];
  /**
   * Does the same in steps, e.g. for `runInSlices`: the previous snapshot is served until the last step. If another snapshot is applied meanwhile, or the
   * router is closed, this one is not served, and the list of failures is empty.
   */
  applySteps(snapshot: Snapshot): Steps<readonly CompileFailure[]>;
  /** Returns the handler of a listener by its name. It responds with 404 while the snapshot has no such listener. */
  listener(name: string): Handler;
  /** Serves WebSockets, and CONNECT requests: `server.on('upgrade', router.upgrade).on('connect', router.upgrade)`. */
  upgrade(req: IncomingMessage, socket: Duplex, head: Buffer): void;
  /** Writes the access log of a listener for a request that was rejected before the router. */
  logRefused(listener: string, record: RequestRecord): void;
  /** Returns the states of the hosts of an upstream, by its name; `undefined` if there is no such upstream. */
  hostStates(upstream: string): readonly HostState[] | undefined;
  /** Writes the connection log of a listener for a closed connection. */
  logConnection(listener: string, record: RequestRecord): void;
  /** Forwards a TCP connection of a listener. */
  serveTcp(listener: string, socket: Socket, host: TcpHost): void;
  /** Calls an upstream of the snapshot; concerns have it as `context.callUpstream` unless the context has its own. */
  readonly call: CallUpstream;
  /** Ends GraphQL subscriptions and WebSockets, so that their clients reconnect elsewhere; all other requests are served as before. */
  drain(): void;
  /** Closes upstreams, concerns and access logs after the requests in progress. */
  close(): Promise<void>;
}

const LISTENING: Mount = { passOn: undefined, embedded: false };
const EMBEDDED: Mount = { passOn: undefined, embedded: true };

/** The options that this package compiles itself. */
const OWN_CONCERNS = [
  compressConcern,
  dlpConcern,
  faultConcern,
  corsConcern,
  earlyTransformationConcern,
  regularTransformationConcern,
  bufferConcern,
  restFunctionConcern,
  postRoutingTransformationConcern,
  csrfConcern,
] as readonly Concern[];

const isObject = (each: unknown): boolean => typeof each === 'object' && each !== null;
const fields = {
  concerns: f.value<readonly Concern[]>((each) => (Array.isArray(each) ? undefined : 'must be a list of concerns')),
  actions: f.value<readonly ActionKind[]>((each) => (Array.isArray(each) ? undefined : 'must be a list of actions')),
  context: f.value<Context>((each) => (isObject(each) ? undefined : 'must be a context, as of createContext()')),
  listener: f.text(),
  fallthrough: f.enumeration(['next', 'notFound']),
  accessLog: f.enumeration(['stdout', 'none']),
  terminal: f.value<Terminal>((each) => (isObject(each) ? undefined : 'must be a terminal')),
  accessLogOverflow: f.enumeration(['drop', 'block']),
  isHealthy: f.value<() => boolean>((each) => (typeof each === 'function' ? undefined : 'must be a function')),
  recordings: f.value<RecordingSource>((each) => (isObject(each) ? undefined : 'must be from createRecordings()')),
  http2Client: f.enumeration(['node', 'direct']),
} satisfies Record<keyof RouterOptions, f.Schema>;

/**
 * Creates a router without routes until `apply`. Neither `apply` nor a request throws: a route that cannot be compiled
 * responds with 500, and everything else is served.
 *
 * @example
 * const router = createRouter();
 * router.apply(snapshot);
 * createServer((req, res) => router(req, res, () => res.writeHead(404).end())).listen(8080);
 */
export function createRouter(written: RouterOptions = {}): Router {
  const options = f.checkOptions('createRouter', written, { schema: f.block(fields) });
  const given = options.context ?? createContext();
  const upstreams = createUpstreams(given, undefined, options.http2Client);
  const call = given.callUpstream ?? createUpstreamCaller(upstreams);
  const context: Context = { ...given, callUpstream: call };
  const generations = createGenerations(upstreams);
  const sinks = createSinks(context);
  const processing = createExtProcConcerns(upstreams);
  /** Of the snapshot that was compiled last. */
  let compiledUpstreams: ReadonlyMap<string, SnapshotUpstream> = new Map();
  const transcoding = createTranscoderConcern((cluster) => compiledUpstreams.get(cluster));
  const collectors = createCollectors({ context, upstreams });
  const held = { path: 'access_log.requests_held', metric: 'access_log_requests_held' };
  const routeStats = createRouteStats(context.metrics);
  const table = createListenerTable({
    routeStats,
    concerns: orderConcerns([
      ...new Set([...OWN_CONCERNS, transcoding, ...processing.concerns, ...(options.concerns ?? [])]),
    ] as readonly Concern[]),
    actions: options.actions ?? [],
    context,
    sinks,
    collectors,
    defaultLogs: logsByDefault(options, given)
      ? [createDefaultLog(sinks.get('/dev/stdout'), options.terminal ?? process.stdout)]
      : [],
  });
  const proxies = createForwardProxies({
    context,
    environment: createClusterEnvironment(undefined, options.http2Client),
  });
  const webSockets = new OpenWebSockets();
  const serving = createServeListener(
    table,
    { upstreams, proxies },
    {
      stats: createHttpStats(context.metrics),
      routeStats,
      now: context.now,
      pinUpstreams: generations.pinUpstreams,
      pages: context.pages,
      isHealthy: options.isHealthy ?? (() => true),
      onUnknownHost: table.hintAtPort,
      onHostIdle: table.hostIdle,
      webSockets,
      recordings: options.recordings,
      backPressure:
        options.accessLogOverflow === 'block' ? createBackPressure(sinks, context.metrics.counter(held)) : undefined,
    },
  );
  const tcp = createTcpProxy(upstreams, context);
  const passesOn = options.fallthrough !== 'notFound';
  let own: string | undefined;
  const router = function router(req: IncomingMessage, res: ServerResponse, next: Next): void {
    const problem = compatibilityProblem(req);
    if (problem) return next(problem);
    serving.request(own, { req, res }, { passOn: passesOn ? next : undefined, embedded: true });
  };
  const logRequest = (name: string, record: RequestRecord): void => {
    for (const log of table.get(name)?.logs ?? []) log.write(record);
  };
  function* applySteps(snapshot: Snapshot): Steps<readonly CompileFailure[]> {
    compiledUpstreams = new Map(snapshot.upstreams.map((each) => [each.name, each]));
    generations.prepare(snapshot.upstreams);
    const compiled = yield* table.compile(snapshot);
    if (!compiled) return [];
    generations.apply(snapshot.upstreams);
    proxies.apply(snapshot);
    compiled.serve();
    own = options.listener ?? snapshot.listeners.find((each) => !each.ssl)?.name;
    return compiled.failures;
  }

  return Object.assign(router, {
    apply: (snapshot: Snapshot) => runSteps(applySteps(snapshot)),
    applySteps,
    listener: handlersByName(serving, webSockets),
    logRefused: logRequest,
    serveTcp: (name: string, socket: Socket, host: TcpHost) => tcp(socket, host, (record) => logRequest(name, record)),
    hostStates: (upstream: string) => upstreams.get(upstream)?.hostStates,
    logConnection(name: string, record: RequestRecord): void {
      for (const log of table.get(name)?.connectionLogs ?? []) log.write(record);
    },
    call,
    drain(): void {
      table.drain();
      webSockets.closeAll();
    },
    upgrade(req: IncomingMessage, socket: Duplex, head: Buffer): void {
      const problem = compatibilityProblem(req);
      // A server of `node:http2` passes a response instead of a socket.
      if (problem) (socket as unknown as ServerResponse).writeHead(problem.status).end();
      else serving.upgrade(own, { req, socket, head }, EMBEDDED);
    },
    async close(): Promise<void> {
      await table.close();
      processing.close();
      await collectors.close();
      await Promise.all([upstreams.close(), proxies.close()]);
      await sinks.close();
    },
  });
}

function logsByDefault({ accessLog }: RouterOptions, context: Context): boolean {
  if (accessLog !== undefined) return accessLog === 'stdout';
  return context.log !== silentLoggers && context.log !== libraryLoggers;
}

/** Returns the handler of a listener, always the same function for the same name. Its `drain` ends the WebSockets of the listener. */
function handlersByName(serving: ServeListener, webSockets: OpenWebSockets): (name: string) => Handler {
  const handlers = new Map<string, Handler>();
  return (name) => {
    webSockets.opened(name);
    const known = handlers.get(name);
    if (known) return known;
    const handler: Handler = function listener(req, res) {
      serving.request(name, { req, res }, LISTENING);
    };
    handler.upgrade = handler.connect = (req, socket, head) => serving.upgrade(name, { req, socket, head }, LISTENING);
    handler.drain = () => webSockets.drain(name);
    handlers.set(name, handler);
    return handler;
  };
}
