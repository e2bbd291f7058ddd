import type { Socket } from 'node:net';
import type { Context, Handler, Listener } from '@edge-gateway/core';
import type { RequestRecord } from '../format/record.ts';
import type { HeaderCase } from '../http1/header-case.ts';
import { allowsWebSockets } from '../route/options/upgrades.ts';
import { headerCaseOf } from '../route/options/manager-settings.ts';
import { createFront, type Front } from './front.ts';
import { limitsOf, type ListenLimits } from './limits.ts';
import type { ListenStats } from './listen-stats.ts';
import type { MemoryWatch } from './memory-watch.ts';
import { createRefuse } from './refuse/refuse.ts';
import { createServe } from './request-events.ts';
import type { PortSettings } from './port-settings.ts';
import type { Target } from './connection-target.ts';
import { createTlsFront } from './tls/tls-front.ts';
import { ticketKeysOf, type TicketKeys } from './tls/ticket-keys.ts';
import { buildTlsTable, isSameTable, type TlsTable } from './tls/tls-table.ts';

/** Serves HTTP. */
export type HttpTarget = ReturnType<typeof createHttpTarget>;

export interface HttpTargetParts {
  readonly context: Context;
  readonly handler: Handler;
  readonly limits: Partial<ListenLimits>;
  readonly memory: MemoryWatch;
  readonly stats: ListenStats;
  readonly ticketSecret: () => Uint8Array | undefined;
  /** Writes the access log of a request that does not reach the handler. */
  readonly onRefused: (record: RequestRecord) => void;
}

interface Version extends PortSettings {
  readonly httpOptions: Listener['httpOptions'];
  readonly table: TlsTable | undefined;
  readonly webSockets: boolean;
}

export function createHttpTarget(name: string, parts: HttpTargetParts) {
  const { context, handler, memory, stats, onRefused } = parts;
  let headerCase: HeaderCase;
  const refuse = createRefuse({
    context,
    listener: name,
    responses: () => stats.responses,
    onRefused,
    headerCase: () => headerCase,
  });
  const fronts = new Set<Front>();
  let current: Front | undefined;
  let version: Version | undefined;

  /** Applies the newest version to new connections, and returns its problems. Existing connections stay unchanged. */
  function update(listener: Listener, port: PortSettings): readonly string[] {
    const before = version?.table;
    const table = listener.ssl ? buildTlsTable(listener.sslConfigurations, context.secrets, before) : undefined;
    if (table?.entries.length === 0) return table.problems.length > 0 ? table.problems : ['it has no certificate'];
    const problems = table?.problems ?? [];
    const { httpOptions } = listener;
    const upgrades = handler.upgrade !== undefined;
    const webSockets = upgrades && allowsWebSockets(listener);
    const next = { ...port, httpOptions, table, webSockets };
    if (version && isSameVersion(version, next)) return problems;
    version = next;
    const limits = limitsOf(listener, parts.limits);
    headerCase = headerCaseOf(httpOptions.httpConnectionManagerSettings ?? {});
    const newest = (): TlsTable | undefined => version?.table;
    const tls = table && createTlsFront({ table, limits, tickets: tickets(table), newest });
    const serve = createServe({
      handler,
      context,
      refuse,
      memory,
      stats,
      checkConnection: tls?.checkConnection,
      headerCase,
    });
    current?.retire();
    for (const front of fronts) {
      if (front.connections.size === 0) fronts.delete(front);
      else if (table) front.closeOutdated();
    }
    current = createFront({ ...port, limits, serve, stats, upgrades, webSockets, tls });
    fronts.add(current);
    return problems;
  }

  function tickets(table: TlsTable): TicketKeys | undefined {
    const secret = parts.ticketSecret();
    return secret && ticketKeysOf(secret, name, table);
  }

  return {
    update,
    get servable(): boolean {
      return current !== undefined;
    },
    get hasConnections(): boolean {
      return [...fronts].some(({ connections }) => connections.size > 0);
    },
    accept: (socket: Socket): void => current!.accept(socket),
    drain(graceMs: number): void {
      for (const front of fronts) front.drain(graceMs);
      handler.drain?.();
    },
    retire: (): void => current?.retire(),
    renewTickets(): void {
      const keys = version?.table && tickets(version.table);
      if (keys) current?.setTicketKeys(keys.key);
    },
  } satisfies Target & { readonly update: unknown };
}

function isSameVersion(now: Version, next: Version): boolean {
  return (
    now.httpOptions === next.httpOptions &&
    now.webSockets === next.webSockets &&
    now.readsProxyHeader === next.readsProxyHeader &&
    now.onConnection === next.onConnection &&
    isSameTable(now.table, next.table)
  );
}
