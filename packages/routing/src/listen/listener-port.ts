import { isIPv6, type BlockList, type DropArgument, type Socket } from 'node:net';
import { startTimer, type Context, type Listener, type ListenerPart } from '@edge-gateway/core';
import { createAcceptor, type Acceptor, type PortSharing } from './acceptor.ts';
import { createInspectorStats } from './parts/inspector-stats.ts';
import { createPartReceiver, type ReceivePart } from './parts/part-receiver.ts';
import { createConnectionLog } from './connection-log.ts';
import { FirstBytes } from './first-bytes.ts';
import { IDLE_GRACE_MS } from './front.ts';
import { DEFAULT_LIMITS, limitsOf, type ListenLimits } from './limits.ts';
import { createListenStats, type ListenStats } from './listen-stats.ts';
import type { ListeningRouter } from './listening-router.ts';
import type { MemoryWatch } from './memory-watch.ts';
import type { ConnectionBudget } from './open-files.ts';
import { createHeaderReceiver, type ReceiveHeader } from './proxy-protocol/header-receiver.ts';
import { createProxyStats } from './proxy-protocol/proxy-stats.ts';
import type { ProxyProtocol } from './proxy-protocol/tlv-metadata.ts';
import type { PortSettings } from './port-settings.ts';
import { PartServer } from './part-server.ts';
import { compileSocketOptions } from './socket-settings.ts';

/** One listener: its accepting socket, and what serves new connections. */
export type ListenerPort = ReturnType<typeof createListenerPort>;

export interface ListenerPortParts {
  readonly context: Context;
  readonly router: ListeningRouter;
  readonly limits: Partial<ListenLimits>;
  /** Shared by all listeners of the process. */
  readonly budget: ConnectionBudget;
  readonly memory: MemoryWatch;
  /** Returns the secret of session tickets; `undefined` for random keys. */
  readonly ticketSecret: () => Uint8Array | undefined;
  /** Peers whose connections begin with a PROXY header, also if the listener does not require one. */
  readonly proxies?: BlockList | undefined;
}

/** `useProxyProto`: the header is required, and nothing of it is stored. */
const ALWAYS: ProxyProtocol = Object.freeze({});

export function createListenerPort(name: string, parts: ListenerPortParts) {
  const { context, router, budget, proxies } = parts;
  const log = context.log.get('conn_handler');
  const connectionLog = createConnectionLog(context.now, (record) => router.logConnection?.(name, record));
  const sockets = new Set<Socket>();
  const firstBytes = new FirstBytes();
  /** Of a listener with several parts, for all connections together. */
  const commonLimits = limitsOf({ httpOptions: {} }, parts.limits);
  /** By name of the part. */
  let partServers: ReadonlyMap<string, PartServer> = new Map();
  /** Slots of removed parts with open connections. */
  const retired = new Set<PartServer>();
  let settings: PortSettings = { readsProxyHeader: false, onConnection: undefined };
  let version: Pick<Listener, 'parts' | 'options' | 'useProxyProto'> | undefined;
  /** Missing if connections have no PROXY header. */
  let receiveHeader: ReceiveHeader | undefined;
  /** For the connections of `proxies`. */
  let receiveFromProxy: ReceiveHeader | undefined;
  let receivePart: ReceivePart | undefined;
  /** Sets `socketOptions` on a connection; missing if there are none. */
  let setSocketOptions: ReturnType<typeof compileSocketOptions>;
  let acceptor: Acceptor | undefined;
  let stats: ListenStats | undefined;

  /** Applies the newest version of the listener to new connections, and returns its problems. Existing connections stay unchanged. */
  function update(listener: Listener): readonly string[] {
    stats ??= createListenStats(context.metrics, listener.bindAddress, listener.bindPort);
    const isLogged = (listener.options.listenerAccessLoggingService?.accessLog ?? []).length > 0;
    const proxyProtocol = listener.options.proxyProtocol ?? (listener.useProxyProto ? ALWAYS : undefined);
    settings = {
      readsProxyHeader: proxyProtocol !== undefined || proxies !== undefined,
      onConnection: isLogged ? connectionLog.opened : undefined,
    };
    const problems = updateSlots(listener);
    const { parts: now, options, useProxyProto } = listener;
    if (version && version.parts === now && version.options === options && version.useProxyProto === useProxyProto)
      return problems;
    version = listener;
    receiveHeader = proxyProtocol && receiverOf(proxyProtocol);
    receivePart = now && partReceiverOf(now);
    setSocketOptions = compileSocketOptions(options.socketOptions);
    return problems;
  }

  function updateSlots(listener: Listener): readonly string[] {
    const only = { name, match: ANY_CONNECTION, http: listener };
    const wanted: readonly ListenerPart[] = listener.parts ?? [only];
    const before = partServers;
    partServers = new Map(
      wanted.map((part) => [part.name, partServerOf(part, before.get(part.name), wanted[0] !== only)]),
    );
    for (const partServer of retired) if (!partServer.hasConnections) retired.delete(partServer);
    for (const [key, partServer] of before) if (partServers.get(key) !== partServer) retire(partServer);
    return wanted.flatMap((part) => partServers.get(part.name)!.update(part, settings));
  }

  function partServerOf(part: ListenerPart, before: PartServer | undefined, hasOwnLimit: boolean): PartServer {
    if (before?.hasOwnLimit === hasOwnLimit && before.servesHttp === (part.http !== undefined)) return before;
    return new PartServer(part, { ...parts, listener: name, stats: stats!, hasOwnLimit });
  }

  function retire(partServer: PartServer): void {
    partServer.retire();
    retired.add(partServer);
  }

  function receiverOf(proxyProtocol: ProxyProtocol): ReceiveHeader {
    return createHeaderReceiver({
      settings: proxyProtocol,
      stats: createProxyStats(context.metrics),
      firstBytes,
      timeoutMs: firstBytesMs(),
      onReady: choosePart,
      onInvalid(socket, reason) {
        log.debug({ listener: name, client: socket.remoteAddress, reason }, 'PROXY header rejected');
        settings.onConnection?.(socket)(`proxy_protocol_error: ${reason}`);
      },
    });
  }

  function partReceiverOf(chosenFrom: readonly ListenerPart[]): ReceivePart {
    return createPartReceiver({
      parts: chosenFrom,
      stats: createInspectorStats(context.metrics),
      firstBytes,
      timeoutMs: firstBytesMs(),
      onChosen: (socket, part) => serveBy(partServers.get(part.name), socket),
      onRejected(socket, reason) {
        if (reason === undefined) stats!.noMatch.value++;
        settings.onConnection?.(socket)(reason === undefined ? 'filter_chain_not_found' : `tls_error: ${reason}`);
      },
    });
  }

  function firstBytesMs(): number {
    return partServers.values().next().value?.limits.headTimeoutMs || DEFAULT_LIMITS.headTimeoutMs;
  }

  function choosePart(socket: Socket): void {
    if (receivePart) receivePart(socket);
    else serveBy(partServers.get(name), socket);
  }

  /** A part may be removed while a connection waits for it. */
  function serveBy(partServer: PartServer | undefined, socket: Socket): void {
    if (partServer?.servable) partServer.accept(socket);
    else socket.destroy();
  }

  function accept(socket: Socket): void {
    sockets.add(socket);
    setSocketOptions?.(socket);
    budget.acquire();
    countConnection(socket, stats!, () => {
      sockets.delete(socket);
      budget.release();
    });
    if (receiveHeader) receiveHeader(socket);
    else if (isProxy(socket)) (receiveFromProxy ??= receiverOf(ALWAYS))(socket);
    else choosePart(socket);
  }

  function isProxy(socket: Socket): boolean {
    // Reading an address is a system call.
    if (!proxies) return false;
    const { remoteAddress = '' } = socket;
    return proxies.check(remoteAddress, isIPv6(remoteAddress) ? 'ipv6' : 'ipv4');
  }

  /** The limits of all connections: those of the only part, or the defaults. */
  function limits(): ListenLimits {
    return partServers.get(name)?.limits ?? commonLimits;
  }

  /** Starts listening, if it does not yet. Rejects with `ERR_ROUTING_LISTEN`. */
  async function open(at: { address: string; port: number; sharing?: PortSharing | undefined }): Promise<void> {
    if (acceptor) return;
    const onOverflow = (address: DropArgument | undefined): void => {
      stats!.overflow.value++;
      if (settings.onConnection) connectionLog.dropped(address);
    };
    acceptor = await createAcceptor({
      ...at,
      maxConnections: () => Math.min(limits().maxConnections, sockets.size + budget.free()),
      overflowDelayMs: () => limits().overflowDelayMs,
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
      return [...partServers.values()].some((partServer) => partServer.servable);
    },
    /** Time in milliseconds for its requests to finish when it is removed. */
    get drainTimeoutMs(): number {
      return limits().drainTimeoutMs;
    },
    update,
    open,
    /** Applies the newest secret of session tickets to new connections. */
    renewTickets(): void {
      for (const partServer of partServers.values()) partServer.renewTickets();
    },
    /** Stops accepting. Connections that the system has established, but that are not accepted yet, are reset. */
    stop,
    /** Stops accepting, lets requests finish, and ends the remaining ones after the limit. */
    async drain(limitMs: number): Promise<void> {
      const graceMs = Math.min(IDLE_GRACE_MS, limitMs / 4);
      for (const partServer of [...partServers.values(), ...retired]) partServer.drain(graceMs);
      await acceptor?.acceptQueued();
      stop();
      firstBytes.expire(graceMs);
      await emptied(sockets, limitMs);
      for (const socket of sockets) socket.destroy();
      for (const partServer of partServers.values()) partServer.retire();
    },
    close(): void {
      stop();
      for (const socket of sockets) socket.destroy();
      for (const partServer of partServers.values()) partServer.retire();
    },
  };
}

const ANY_CONNECTION: ListenerPart['match'] = { tls: false, serverNames: [], sourceRanges: [], passthroughCiphers: [] };

function countConnection(socket: Socket, stats: ListenStats, onClose: () => void): void {
  const since = performance.now();
  for (const each of stats.connections) {
    each.total.value++;
    each.active.value++;
  }
  socket.on('error', destroy);
  socket.on('close', () => {
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

function destroy(this: Socket): void {
  this.destroy();
}

/** Resolves when all of these sockets are closed, or after the limit. */
function emptied(sockets: ReadonlySet<Socket>, limitMs: number): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      resolve();
    };
    const timer = startTimer(done, limitMs);
    const look = (): void => void (sockets.size === 0 && done());
    for (const socket of sockets) socket.once('close', () => setImmediate(look));
    look();
  });
}
