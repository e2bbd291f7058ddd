import { constants } from 'node:crypto';
import type { Socket } from 'node:net';
import { createServer as createTlsServer, type Server, type TLSSocket } from 'node:tls';
import type { Context, TcpHost } from '@edge-gateway/core';
import { adoptProxied } from '../format/proxied.ts';
import type { ListenLimits } from './limits.ts';
import type { ListenStats } from './listen-stats.ts';
import type { PortSettings } from './port-settings.ts';
import type { Target } from './connection-target.ts';
import { beginHandshake, completeHandshake } from './tls/tls-handshake.ts';
import { createTlsFront, type TlsFront } from './tls/tls-front.ts';
import { ticketKeysOf } from './tls/ticket-keys.ts';
import { buildTlsTable, isSameTable, type TlsTable } from './tls/tls-table.ts';

export interface TcpTargetParts {
  readonly context: Context;
  readonly limits: ListenLimits;
  readonly stats: ListenStats;
  readonly ticketSecret: () => Uint8Array | undefined;
  /** Forwards a connection. */
  readonly serve: (socket: Socket, host: TcpHost) => void;
}

/** Creates a target that forwards TCP, after TLS if the host terminates it. */
export function createTcpTarget(name: string, parts: TcpTargetParts) {
  const { context, stats, serve, limits } = parts;
  let current: TcpHost | undefined;
  let port: PortSettings | undefined;
  let table: TlsTable | undefined;
  let server: Server | undefined;

  /** Applies the newest version to new connections, and returns its problems. */
  function update(host: TcpHost, settings: PortSettings): readonly string[] {
    const before = table;
    port = settings;
    if (host.sslConfigurations.length === 0) {
      table = server = undefined;
      current = host;
      return [];
    }
    const next = buildTlsTable(host.sslConfigurations, context.secrets, before);
    if (next.entries.length === 0) return next.problems;
    const isSame = current?.forwardsServerName === host.forwardsServerName && isSameTable(before, next);
    if (!server || !isSame) server = createServer(next, host);
    table = next;
    current = host;
    return next.problems;
  }

  function createServer(tlsTable: TlsTable, { forwardsServerName }: TcpHost): Server {
    const secret = parts.ticketSecret();
    const tickets = secret && ticketKeysOf(secret, name, tlsTable);
    const tls = createTlsFront({ table: tlsTable, limits, tickets, newest: () => table });
    // Node does not report the server name of resumed sessions before TLS 1.3.
    const secureOptions = (tls.options.secureOptions ?? 0) | (forwardsServerName ? constants.SSL_OP_NO_TICKET : 0);
    const created = createTlsServer({ ...tls.options, secureOptions, ...protocolsOf(tlsTable) });
    created.on('secureConnection', (socket: TLSSocket) => opened(socket, tls));
    const stapler = tls.stapler(stats);
    if (stapler) created.on('OCSPRequest', stapler);
    created.on('tlsClientError', (error: NodeJS.ErrnoException, socket: TLSSocket) => {
      stats.handshakeError.value++;
      if (port?.readsProxyHeader) adoptProxied(socket);
      port?.onConnection?.(socket)(`tls_error: ${error.code ?? error.message}`);
      socket.destroy();
    });
    return created;
  }

  function opened(socket: TLSSocket, tls: TlsFront): void {
    completeHandshake(socket);
    socket.on('error', () => socket.destroy());
    if (port?.readsProxyHeader) adoptProxied(socket);
    const closed = port?.onConnection?.(socket);
    // Client certificates may have become required during the handshake.
    if (!tls.admit(socket, stats) || !tls.isCurrent(socket)) {
      closed?.('client_certificate_rejected');
      return void socket.destroy();
    }
    if (closed) socket.once('close', () => closed(''));
    serve(socket, current!);
  }

  function accept(socket: Socket): void {
    if (server) return beginHandshake(server, socket);
    const closed = port?.onConnection?.(socket);
    if (closed) socket.once('close', () => closed(''));
    serve(socket, current!);
  }

  return {
    update,
    get servable(): boolean {
      return current !== undefined;
    },
    /** Connections have no next response after which they could be closed: they last until the end of the drain. */
    hasConnections: false,
    accept,
    drain: (): void => {},
    retire: (): void => {},
    renewTickets(): void {
      const secret = parts.ticketSecret();
      const keys = secret && table && ticketKeysOf(secret, name, table);
      if (keys) server?.setTicketKeys(keys.key);
    },
  } satisfies Target & { readonly update: unknown };
}

/** ALPN only where it is configured: clients of other protocols than HTTP would fail with a list for HTTP. */
function protocolsOf({ entries }: TlsTable): { ALPNProtocols?: string[]; ALPNCallback?: undefined } {
  const { alpnProtocols } = entries[0]!.configuration.sslConfig;
  const offered = alpnProtocols?.filter((protocol) => protocol !== 'allow_empty') ?? [];
  return offered.length > 0
    ? { ALPNProtocols: offered, ALPNCallback: undefined }
    : { ALPNProtocols: undefined, ALPNCallback: undefined };
}
