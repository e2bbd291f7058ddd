import { ServerResponse, type IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Socket } from 'node:net';
import {
  createContext,
  silentLoggers,
  type Concern,
  type Context,
  type Handler,
  type Next,
  type Snapshot,
} from '@edge-gateway/core';
import { createDefaultLog } from './access-log/access-log.ts';
import { createSinks } from './access-log/sinks.ts';
import { orderConcerns } from './compile/chain.ts';
import { compileListener, type CompiledListener, type ListenerEnvironment } from './compile/listener.ts';
import type { CompiledHost } from './compile/virtual-host.ts';
import { createGenerations } from './generations.ts';
import { headersOf, textReply, writeReply } from './reply.ts';
import { RoutedRequest, type RequestEnvironment } from './routed-request.ts';
import { sendUpgrade, sendUpstream } from './send.ts';
import { serve, type UpgradeSocket, type Ways } from './serve.ts';
import { createHttpStats } from './statistics.ts';
import { createUpstreams } from './upstream/upstreams.ts';

export interface RouterOptions {
  /** The concerns a route's options are compiled with, in any order: their stages order them. Default: none. */
  readonly concerns?: readonly Concern[];
  readonly context?: Context;
  /** The listener the router itself serves as a handler. Default: the first plain one of the snapshot. */
  readonly listener?: string;
  /**
   * What the router itself does with requests that no virtual host or route takes: `next()`, as a middleware in a user's
   * own server does, or 404. Listeners always answer 404. Default: `next`.
   */
  readonly fallthrough?: 'next' | 'notFound';
  /**
   * Where requests are logged by listeners that name no access log. Default: `stdout`, one JSON line a request; `none`
   * when the context's loggers are silent, as they are unless a context with loggers is given.
   */
  readonly accessLog?: 'stdout' | 'none';
}

/**
 * A handler that serves a snapshot. `apply` swaps pointers: requests under way finish on the old one.
 * `listener(name)` is the handler of one listener; it stays the same function across `apply`.
 */
export interface Router extends Handler {
  apply(snapshot: Snapshot): void;
  listener(name: string): Handler;
  upgrade(req: IncomingMessage, socket: Duplex, head: Buffer): void;
  /** Lets go of upstreams, concerns and access logs. Requests under way are finished first. */
  close(): Promise<void>;
}

type Listeners = ReadonlyMap<string, CompiledListener>;

/**
 * Makes a router; it knows no route until `apply`. Neither `apply` nor a request throws: a route that cannot be compiled
 * answers 500, and everything beside it is served.
 *
 * @example
 * const router = createRouter();
 * router.apply(snapshot);
 * createServer((req, res) => router(req, res, () => res.writeHead(404).end())).listen(8080);
 */
export function createRouter(options: RouterOptions = {}): Router {
  const context = options.context ?? createContext();
  const upstreams = createUpstreams(context);
  const generations = createGenerations(upstreams);
  const sinks = createSinks(context.log.get('http'));
  const silent = context.log === silentLoggers;
  const logs = (options.accessLog ?? (silent ? 'none' : 'stdout')) === 'stdout';
  const environment: ListenerEnvironment = {
    concerns: orderConcerns(options.concerns ?? []),
    context,
    sinks,
    defaultLogs: logs ? [createDefaultLog(sinks.get('/dev/stdout'))] : [],
  };
  const closing = new Set<Promise<unknown>>();
  const closeHost = (host: CompiledHost): void => {
    for (const handler of host.handlers) {
      const done: Promise<void> = closeHandler(handler, context).then(() => void closing.delete(done));
      closing.add(done);
    }
  };
  const requests: RequestEnvironment = {
    stats: createHttpStats(context.metrics),
    now: context.now,
    hold: generations.hold,
    onHostIdle: closeHost,
  };
  let listeners: Listeners = new Map();
  let own: string | undefined;
  const send: Ways['send'] = (request, destination, action) =>
    sendUpstream(request, { destination, action, upstreams });
  const ways: Ways = { send, passOn: undefined };

  function serveListener(name: string | undefined, exchange: Exchange, next: Next | undefined): void {
    const listener = name === undefined ? undefined : listeners.get(name);
    if (listener) serve(new RoutedRequest(exchange, listener, requests), next ? { send, passOn: next } : ways);
    else if (next) next();
    else answerNotFound(exchange);
  }

  function upgradeListener(name: string | undefined, req: IncomingMessage, upgrade: UpgradeSocket): void {
    const res = responseFor(req, upgrade.socket as Socket);
    const listener = name === undefined ? undefined : listeners.get(name);
    if (!listener) return answerNotFound({ req, res });
    const upgraded: Ways['send'] = (request, destination, action) =>
      sendUpgrade(request, { destination, action, upstreams }, upgrade);
    serve(new RoutedRequest({ req, res }, listener, requests), { send: upgraded, passOn: undefined });
  }

  const handlers = new Map<string, Handler>();
  function listenerHandler(name: string): Handler {
    const known = handlers.get(name);
    if (known) return known;
    const handler: Handler = function listener(req, res) {
      serveListener(name, { req, res }, undefined);
    };
    handler.upgrade = (req, socket, head) => upgradeListener(name, req, { socket, head });
    handlers.set(name, handler);
    return handler;
  }

  const passesOn = options.fallthrough !== 'notFound';
  const router = function router(req: IncomingMessage, res: ServerResponse, next: Next): void {
    serveListener(own, { req, res }, passesOn ? next : undefined);
  };
  return Object.assign(router, {
    apply(snapshot: Snapshot): void {
      generations.apply(snapshot.upstreams);
      const before = listeners;
      listeners = new Map(
        snapshot.listeners.map((each) => [each.name, compileListener(each, environment, before.get(each.name))]),
      );
      own = options.listener ?? snapshot.listeners.find((each) => !each.ssl)?.name;
      for (const host of removedHosts(before, listeners)) {
        host.retired = true;
        if (host.inFlight === 0) closeHost(host);
      }
    },
    listener: listenerHandler,
    upgrade: (req: IncomingMessage, socket: Duplex, head: Buffer) => upgradeListener(own, req, { socket, head }),
    async close(): Promise<void> {
      const before = listeners;
      listeners = new Map();
      for (const host of removedHosts(before, listeners)) closeHost(host);
      await upstreams.close();
      await Promise.all(closing);
      await sinks.close();
    },
  });
}

interface Exchange {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
}

function answerNotFound({ req, res }: Exchange): void {
  const reply = textReply(404, '');
  writeReply({ req, res }, reply.status, headersOf(reply), reply.body);
}

async function closeHandler(handler: Handler, context: Context): Promise<void> {
  try {
    await handler.close?.();
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    context.log.get('config').warn({ handler: handler.name, reason }, 'concern could not be closed');
  }
}

function* removedHosts(before: Listeners, after: Listeners): Generator<CompiledHost> {
  for (const [name, listener] of before) {
    const now = after.get(name)?.hosts;
    for (const [source, host] of listener.hosts) if (now?.get(source) !== host) yield host;
  }
}

/** A response on the socket of an upgrade, for answers that are none. The socket closes behind it. */
function responseFor(req: IncomingMessage, socket: Socket): ServerResponse {
  const res = new ServerResponse(req);
  res.shouldKeepAlive = false;
  res.assignSocket(socket);
  res.once('finish', () => {
    res.detachSocket(socket);
    socket.end();
  });
  return res;
}
