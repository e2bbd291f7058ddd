import type { DropArgument, Socket } from 'node:net';
import type { Context, Handler, Listener } from '@edge-gateway/core';
import type { RequestRecord } from '../format/record.ts';
import type { HeaderCase } from '../http1/header-case.ts';
import { headerCaseOf } from '../route/options/manager-settings.ts';
import { createAcceptor, type Acceptor, type PortSharing } from './acceptor.ts';
import { createConnectionLog } from './connection-log.ts';
import { ConnectionRate } from './connection-rate.ts';
import { createFront, type Front } from './front.ts';
import type { MemoryWatch } from './memory-watch.ts';
import type { ConnectionBudget } from './open-files.ts';
import { createListenStats, type ListenStats } from './listen-stats.ts';
import { createRefuse } from './refuse/refuse.ts';
import { createServe } from './request-events.ts';
import { DEFAULT_LIMITS, limitsOf, type ListenLimits } from './limits.ts';
import { createHeaderReceiver, type HeaderReceiver } from './proxy-protocol/header-receiver.ts';
import { createProxyStats } from './proxy-protocol/proxy-stats.ts';
import type { ProxyProtocol } from './proxy-protocol/tlv-metadata.ts';
import { createTlsFront } from './tls/tls-front.ts';
import { ticketKeysOf, type TicketKeys } from './tls/ticket-keys.ts';
import { buildTlsTable, isSameTable, type TlsTable } from './tls/tls-table.ts';

/** One listener: its accepting socket, and the front for new connections. */
export type ListenerPort = ReturnType<typeof createListenerPort>;

export interface ListenerPortParts {
  readonly context: Context;
  readonly handler: Handler;
  readonly limits: Partial<ListenLimits>;
  /** Shared by all listeners of the process. */
  readonly budget: ConnectionBudget;
  readonly memory: MemoryWatch;
  /** Returns the secret of session tickets; `undefined` for random keys. */
  readonly ticketSecret: () => Uint8Array | undefined;
  /** Writes the access log of a request that does not reach the handler. */
  readonly onRefused: (record: RequestRecord) => void;
  /** Writes the log of a closed connection, if the listener has one. */
  readonly onConnection: (record: RequestRecord) => void;
}

/** Maximum time in milliseconds that an idle connection stays open for a request that is just being sent. */
const IDLE_GRACE_MS = 500;

/** `useProxyProto`: the header is required, and nothing of it is stored. */
const ALWAYS: ProxyProtocol = Object.freeze({});

export function createListenerPort(name: string, parts: ListenerPortParts) {
  const { context, handler, budget, memory, onRefused, onConnection } = parts;
  const log = context.log.get('conn_handler');
  const connectionLog = createConnectionLog(context.now, onConnection);
  let logsConnections = false;
  let headerCase: HeaderCase;
  const refuse = createRefuse({
    context,
    listener: name,
    responses: () => stats?.responses,
    onRefused,
    headerCase: () => headerCase,
  });
  const sockets = new Set<Socket>();
  const fronts = new Set<Front>();
  const rate = new ConnectionRate(context.metrics, context.processes);
  let current: Front | undefined;
  let version:
    | { httpOptions: unknown; proxyProtocol: ProxyProtocol | undefined; table: TlsTable | undefined }
    | undefined;
  /** Missing if connections have no PROXY header. */
  let proxyHeaders: HeaderReceiver | undefined;
  let limits = limitsOf({ httpOptions: {} }, parts.limits);
  let acceptor: Acceptor | undefined;
  let stats: ListenStats | undefined;

  /** Applies the newest version of the listener to new connections, and returns its problems. Existing connections stay unchanged. */
  function update(listener: Listener): readonly string[] {
    const before = version?.table;
    const table = listener.ssl ? buildTlsTable(listener.sslConfigurations, context.secrets, before) : undefined;
    if (table?.entries.length === 0) return table.problems.length > 0 ? table.problems : ['it has no certificate'];
    const { httpOptions } = listener;
    const proxyProtocol = listener.options.proxyProtocol ?? (listener.useProxyProto ? ALWAYS : undefined);
    const isLogged = (listener.options.listenerAccessLoggingService?.accessLog ?? []).length > 0;
    const isSame = version?.httpOptions === httpOptions && version.proxyProtocol === proxyProtocol;
    if (isSame && isLogged === logsConnections && isSameTable(before, table)) return table?.problems ?? [];
    version = { httpOptions, proxyProtocol, table };
    limits = limitsOf(listener, parts.limits);
    rate.update(httpOptions);
    logsConnections = isLogged;
    headerCase = headerCaseOf(httpOptions.httpConnectionManagerSettings ?? {});
    stats ??= createListenStats(context.metrics, listener.bindAddress, listener.bindPort);
    proxyHeaders = proxyProtocol && receiverOf(proxyProtocol);
    const tls = table && createTlsFront(table, limits, tickets(table));
    const serve = createServe({
      handler,
      context,
      refuse,
      memory,
      stats,
      checkConnection: tls?.checkConnection,
      headerCase,
    });
    const onOpened = isLogged ? connectionLog.opened : undefined;
    current?.retire();
    for (const front of fronts) if (front.connections.size === 0) fronts.delete(front);
    current = createFront({
      limits,
      serve,
      stats,
      upgrades: handler.upgrade !== undefined,
      tls,
      readsProxyHeader: proxyProtocol !== undefined,
      onConnection: onOpened,
    });
    fronts.add(current);
    return table?.problems ?? [];
  }

  function tickets(table: TlsTable): TicketKeys | undefined {
    const secret = parts.ticketSecret();
    return secret && ticketKeysOf(secret, name, table);
  }

  function receiverOf(settings: ProxyProtocol): HeaderReceiver {
    return createHeaderReceiver({
      settings,
      stats: createProxyStats(context.metrics),
      timeoutMs: limits.headTimeoutMs || DEFAULT_LIMITS.headTimeoutMs,
      onReady: (socket) => current!.accept(socket),
      onInvalid(socket, reason) {
        log.debug({ listener: name, client: socket.remoteAddress, reason }, 'PROXY header rejected');
        if (logsConnections) connectionLog.opened(socket)(`proxy_protocol_error: ${reason}`);
      },
    });
  }

  function accept(socket: Socket): void {
    sockets.add(socket);
    budget.acquire();
    countConnection(socket, stats!, () => {
      sockets.delete(socket);
      budget.release();
    });
    if (!rate.accepts()) socket.destroy();
    else if (proxyHeaders) proxyHeaders.receive(socket);
    else current!.accept(socket);
  }

  /** Starts listening, if it does not yet. Rejects with `ERR_ROUTING_LISTEN`. */
  async function open(at: { address: string; port: number; sharing?: PortSharing | undefined }): Promise<void> {
    if (acceptor) return;
    const onOverflow = (address: DropArgument | undefined): void => {
      stats!.overflow.value++;
      if (logsConnections) connectionLog.dropped(address);
    };
    acceptor = await createAcceptor({
      ...at,
      maxConnections: () => Math.min(limits.maxConnections, sockets.size + budget.free()),
      overflowDelayMs: () => limits.overflowDelayMs,
      onConnection: accept,
      onOverflow,
    });
  }

  function stop(): void {
    acceptor?.stop();
    acceptor = undefined;
  }

  return {
    name,
    /** The address it listens on; `undefined` while it does not listen. */
    get acceptor(): Acceptor | undefined {
      return acceptor;
    },
    /** False for a TLS listener that never had a certificate. */
    get servable(): boolean {
      return current !== undefined;
    },
    /** Time in milliseconds for its requests to finish when it is removed. */
    get drainTimeoutMs(): number {
      return limits.drainTimeoutMs;
    },
    update,
    open,
    /** Applies the newest secret of session tickets to new connections. */
    renewTickets(): void {
      const keys = version?.table && tickets(version.table);
      if (keys) current?.setTicketKeys(keys.key);
    },
    /** Stops accepting, lets requests finish, and ends the remaining ones after the limit. */
    async drain(limitMs: number): Promise<void> {
      stop();
      const graceMs = Math.min(IDLE_GRACE_MS, limitMs / 4);
      proxyHeaders?.expire(graceMs);
      for (const front of fronts) front.drain(graceMs);
      handler.drain?.();
      await emptied(sockets, limitMs);
      for (const socket of sockets) socket.destroy();
      current?.retire();
    },
    close(): void {
      stop();
      for (const socket of sockets) socket.destroy();
      current?.retire();
    },
  };
}

function countConnection(socket: Socket, stats: ListenStats, onClose: () => void): void {
  const since = performance.now();
  for (const each of stats.connections) {
    each.total.value++;
    each.active.value++;
  }
  socket.on('error', () => socket.destroy());
  socket.once('close', () => {
    onClose();
    stats.rxBytes.value += socket.bytesRead;
    stats.txBytes.value += socket.bytesWritten;
    for (const each of stats.connections) {
      each.active.value--;
      each.destroy.value++;
      each.lengthMs.observe(performance.now() - since);
    }
  });
}

/** Resolves when all of these sockets are closed, or after the limit. */
function emptied(sockets: ReadonlySet<Socket>, limitMs: number): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      resolve();
    };
    const timer = setTimeout(done, limitMs);
    const look = (): void => void (sockets.size === 0 && done());
    for (const socket of sockets) socket.once('close', () => setImmediate(look));
    look();
  });
}
