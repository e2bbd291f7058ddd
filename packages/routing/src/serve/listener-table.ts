import {
  difference,
  differingKeys,
  isStale,
  type Context,
  type Handler,
  type Listener,
  type Responder,
  type Snapshot,
  type SnapshotSettings,
  type Steps,
  type VirtualHost,
  withChanges,
} from '@edge-gateway/core';
import { concernsFor, listenerBlocks, withListenerBlocks } from '../route/compile/listener-blocks.ts';
import { compileUnrouted, type Unrouted } from '../route/compile/unrouted.ts';
import { compileUnroutedMask } from '../dlp/dlp.ts';
import { createAccessLogs, createConnectionLogs, type AccessLog } from '../access-log/access-log.ts';
import type { Sinks } from '../access-log/sinks.ts';
import { DomainIndex, type DomainEntry } from '../route/match/domain.ts';
import type { Collector, Collectors } from '../collect/collectors.ts';
import { logsRequestEnd } from './request-end.ts';
import { compileTracing } from '../tracing/compile-tracing.ts';
import type { Tracer } from '../tracing/tracer.ts';
import { compileSettings } from '../route/options/manager-settings.ts';
import { withoutPort } from '../route/options/redirect.ts';
import type { RouteTable } from '../route/route-request.ts';
import { createResponseStats, type ResponseStats } from './http-stats.ts';
import type { RouteStats } from './route-stats.ts';
import { compileVirtualHost, CompiledHost, type HostEnvironment } from '../route/compile/virtual-host.ts';

export type ListenerTable = ReturnType<typeof createListenerTable>;

type Listeners = ReadonlyMap<string, CompiledListener>;

export function createListenerTable(environment: ListenerEnvironment) {
  const closing = new Set<Promise<void>>();
  /** Replaced versions with requests in progress. */
  const replaced = new Set<CompiledHost>();
  /** Listeners for which the port of hosts was explained. */
  const hinted = new Set<string>();
  let listeners: Listeners = new Map();
  /** Counts the calls of `compile` and `close`: only what was compiled last is served. */
  let newest = 0;

  /** Called when the last request of a replaced virtual host has ended. */
  function hostIdle(host: CompiledHost): void {
    replaced.delete(host);
    for (const handler of host.handlers) {
      const done: Promise<void> = closeHandler(handler, environment.context).then(() => void closing.delete(done));
      closing.add(done);
    }
    host.release();
  }

  function swap(next: Listeners): void {
    const before = listeners;
    listeners = next;
    environment.collectors.keep(usedCollectors(next));
    for (const [name, { unrouted }] of before) if (next.get(name)?.unrouted !== unrouted) unrouted?.release();
    const removed = [...removedHosts(before, next)];
    for (const host of removed) {
      host.retired = true;
      if (host.inFlight === 0) hostIdle(host);
      else replaced.add(host);
    }
    if (removed.length === 0) return;
    const served = [...next.values()].map(({ hosts }) => hosts);
    environment.routeStats.prune(
      (host) => served.some((hosts) => hosts.has(host)),
      () => served.flatMap((hosts) => [...hosts.keys()]),
    );
  }

  /** Logs, once per listener, that a host would match without its port. */
  function hintAtPort({ source, domains }: CompiledListener, authority: string): void {
    const host = withoutPort(authority);
    if (host === authority || hinted.has(source.name) || !domains.find(host)) return;
    hinted.add(source.name);
    environment.context.log
      .get('config')
      .warn(
        { listener: source.name, host: authority },
        'request rejected with 404: the domain matches only without the port; add the domain with its port, or set routeOptions.ignorePortInHostMatching in the Gateway',
      );
  }

  return {
    get: (name: string) => listeners.get(name),
    /**
     * Compiles the changed parts of a snapshot, one virtual host in a step, while the previous ones serve. Returns `undefined` if another snapshot
     * was compiled meanwhile, or the table was closed.
     */
    *compile({
      listeners: next,
      settings,
    }: Pick<Snapshot, 'listeners' | 'settings'>): Steps<CompiledTable | undefined> {
      const own = ++newest;
      const failures: CompileFailure[] = [];
      /** Those that would not be served if the compilation ended now. */
      const unused = new Set<CompiledHost | Unrouted>();
      const compiling = { ...environment, failures, unused };
      try {
        const compiled = new Map<string, CompiledListener>();
        for (const source of next.flatMap(withParts)) {
          const before = listeners.get(source.name);
          compiled.set(source.name, yield* compileListener(source, settings, compiling, before));
        }
        if (own !== newest) return undefined;
        unused.clear();
        return { failures, serve: () => swap(compiled) };
      } finally {
        for (const each of unused) {
          if (each instanceof CompiledHost) hostIdle(each);
          else each.release();
        }
      }
    },
    hostIdle,
    hintAtPort,
    /** Ends unlimited responses such as subscriptions, including those of replaced virtual hosts. */
    drain() {
      const hosts = [...listeners.values()].flatMap((listener) => [...listener.hosts.values()]);
      for (const { handlers } of [...hosts, ...replaced]) for (const handler of handlers) handler.drain?.();
    },
    /** Removes every listener and resolves when all handlers are closed. */
    async close() {
      newest++;
      swap(new Map());
      await Promise.all(closing);
    },
  };
}

/** Returns a listener and its parts that serve HTTP. The listener itself then serves none of the virtual hosts. */
function withParts(listener: Listener): readonly Listener[] {
  if (!listener.parts) return [listener];
  return [{ ...listener, virtualHosts: [] }, ...listener.parts.flatMap(({ http }) => http ?? [])];
}

function* removedHosts(before: Listeners, after: Listeners): Generator<CompiledHost> {
  for (const [name, listener] of before) {
    for (const source of differingKeys(listener.hosts, after.get(name)?.hosts ?? NO_HOSTS)) {
      const host = listener.hosts.get(source);
      if (host) yield host;
    }
  }
}

const NO_HOSTS: CompiledListener['hosts'] = new Map();

function usedCollectors(listeners: Listeners): ReadonlySet<Collector> {
  const used = new Set<Collector>();
  for (const { tracer, logs, connectionLogs = [] } of listeners.values()) {
    if (tracer) used.add(tracer.collector);
    for (const { collector } of [...logs, ...connectionLogs]) if (collector) used.add(collector);
  }
  return used;
}

async function closeHandler(handler: Handler | Responder, context: Context): Promise<void> {
  try {
    await handler.close?.();
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    context.log.get('config').warn({ handler: handler.name, reason }, 'concern could not be closed');
  }
}

/** A compiled snapshot. */
interface CompiledTable {
  /** The changed parts that cannot be compiled. */
  readonly failures: readonly CompileFailure[];
  /** Replaces what is served. Handlers of replaced virtual hosts are closed after their last request. */
  serve(): void;
}

export interface CompiledListener extends RouteTable {
  readonly source: Listener;
  readonly written: SnapshotSettings;
  readonly shared: SnapshotSettings;
  readonly hosts: ReadonlyMap<VirtualHost, CompiledHost>;
  /** Virtual hosts that read secrets. */
  readonly secretUsers: Set<VirtualHost>;
  readonly domains: DomainIndex<CompiledHost>;
  readonly logs: readonly AccessLog[];
  /** Masks the access log of requests without a route; missing if nothing is masked. */
  readonly unroutedMask: ReturnType<typeof compileUnroutedMask>;
  /** The concerns of requests without a route; missing if there are none. */
  readonly unrouted: Unrouted | undefined;
  /** Logs of its connections; missing if there are none. */
  readonly connectionLogs: readonly AccessLog[] | undefined;
  /** True if gRPC-Web is translated to gRPC. */
  readonly translatesGrpcWeb: boolean;
  /** Missing without tracing. */
  readonly tracer: Tracer | undefined;
  /** True if an access log has the time at which requests are complete. */
  readonly logsRequestEnd: boolean;
  readonly responses: ResponseStats;
}

/** A part of a snapshot that cannot be compiled: affected requests receive 500. */
export interface CompileFailure {
  /** Name of the listener, or of a part of it. */
  readonly listener: string;
  /** Missing if the listener itself fails. */
  readonly virtualHost?: string;
  /** E.g. `routes[0]`; empty for the listener. */
  readonly field: string;
  readonly reason: string;
}

export interface ListenerEnvironment extends Pick<HostEnvironment, 'concerns' | 'actions' | 'context'> {
  readonly sinks: Sinks;
  readonly collectors: Collectors;
  readonly defaultLogs: readonly AccessLog[];
  readonly routeStats: Pick<RouteStats, 'prune'>;
}

interface CompileInput extends ListenerEnvironment {
  readonly failures: CompileFailure[];
  /** What was compiled is added. */
  readonly unused: Set<CompiledHost | Unrouted>;
}

/** Compiles a listener, reusing unchanged parts of `before`, which serves meanwhile. Never throws. */
function* compileListener(
  source: Listener,
  written: SnapshotSettings,
  environment: CompileInput,
  before?: CompiledListener,
): Steps<CompiledListener> {
  const same =
    before?.source.httpOptions === source.httpOptions &&
    before.source.options.extensions === source.options.extensions &&
    before.source.routeOptions === source.routeOptions &&
    before.written === written;
  const { settings, failed } = same ? before : settingsOf(source, environment.context);
  const { failures, unused } = environment;
  if (!same && failed !== undefined) failures.push({ listener: source.name, field: '', reason: failed });
  const shared = same ? before.shared : withListenerBlocks(written, source);
  const secretUsers = same ? before.secretUsers : new Set<VirtualHost>();
  const hostEnvironment = {
    ...environment,
    settings,
    shared,
    concerns: concernsFor(environment.concerns, source.httpOptions),
    listenerOptions: listenerBlocks(source, shared),
    mostSpecificWins: source.routeOptions.mostSpecificHeaderMutationsWins === true,
    onSecretUse: (host: VirtualHost) => void secretUsers.add(host),
  };
  const { added, removed } = difference(source.virtualHosts, same ? before.source.virtualHosts : []);
  const stale = same ? staleHosts(before, environment.context) : [];
  const changes = new Map<VirtualHost, CompiledHost | undefined>();
  for (const host of removed) changes.set(host, undefined);
  for (const host of [...stale, ...added]) {
    if (changes.has(host)) continue;
    const compiled = compileVirtualHost(host, hostEnvironment);
    changes.set(host, compiled);
    unused.add(compiled);
    for (const { index, reason } of compiled.failures)
      failures.push({ listener: source.name, virtualHost: host.name, field: `routes[${index}]`, reason });
    yield;
  }
  for (const host of removed) secretUsers.delete(host);
  const kept = same ? before.hosts : NO_HOSTS;
  const hosts = changes.size > 0 ? withChanges(kept, changes) : kept;
  const domains =
    (same && before.domains.after(domainsOf(changes.keys(), before.hosts), entriesOf(changes.keys(), hosts))) ||
    DomainIndex.of(entriesOf(source.virtualHosts, hosts));
  const unrouted = same ? before.unrouted : compileUnrouted({ ...environment, source, shared });
  if (unrouted && unrouted !== before?.unrouted) unused.add(unrouted);
  const sameLogs = before?.source.options === source.options;
  return {
    source,
    settings,
    written,
    shared,
    hosts,
    secretUsers,
    domains,
    findHost: source.routeOptions.ignorePortInHostMatching
      ? (authority) => domains.find(withoutPort(authority))
      : domains.find.bind(domains),
    translatesGrpcWeb: translatesGrpcWeb(source, written),
    tracer: same ? before.tracer : compileTracing(source, environment.context, environment.collectors),
    unrouted,
    unroutedMask: same ? before.unroutedMask : unroutedMaskOf(source, environment.context),
    logsRequestEnd: sameLogs ? before.logsRequestEnd : logsRequestEnd(source.options.accessLoggingService),
    logs: sameLogs ? before.logs : createAccessLogs(source, environment),
    connectionLogs: sameLogs ? before.connectionLogs : createConnectionLogs(source, environment),
    responses: createResponseStats(environment.context.metrics, source.bindAddress, source.bindPort),
    failed,
  };
}

/** Returns the virtual hosts that read a secret that changed since. */
function staleHosts({ secretUsers, hosts }: CompiledListener, { secrets }: Context): readonly VirtualHost[] {
  return [...secretUsers].filter((host) => {
    const compiled = hosts.get(host);
    // Requests in progress may read a secret for a virtual host that was removed.
    if (!compiled) secretUsers.delete(host);
    return compiled && isStale({ used: compiled.secrets }, secrets);
  });
}

type Hosts = CompiledListener['hosts'];

/** The block of the listener, also an empty one, replaces the setting. */
function translatesGrpcWeb({ httpOptions: { grpcWeb } }: Listener, { disableGrpcWeb }: SnapshotSettings): boolean {
  return grpcWeb ? grpcWeb.disable !== true : disableGrpcWeb !== true;
}

function* domainsOf(sources: Iterable<VirtualHost>, hosts: Hosts): Generator<string> {
  for (const source of sources) if (hosts.has(source)) yield* source.domains;
}

function* entriesOf(sources: Iterable<VirtualHost>, hosts: Hosts): Generator<DomainEntry<CompiledHost>> {
  for (const source of sources) {
    const value = hosts.get(source);
    if (value) for (const domain of source.domains) yield { domain, value };
  }
}

/** Masks nothing if the rules are invalid: then the routes of the listener respond with 500. */
function unroutedMaskOf({ httpOptions }: Listener, { metrics }: Context): ReturnType<typeof compileUnroutedMask> {
  try {
    return compileUnroutedMask(httpOptions.dlp, metrics);
  } catch {
    return undefined;
  }
}

function settingsOf(source: Listener, context: Context): Pick<RouteTable, 'settings' | 'failed'> {
  const compiled = compileSettings(source);
  if (compiled.failed !== undefined) {
    const fields = { listener: source.name, reason: compiled.failed };
    context.log.get('config').error(fields, 'invalid listener, responding with 500');
  }
  return compiled;
}
