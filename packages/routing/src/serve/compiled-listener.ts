import type { Context, Listener, SnapshotSettings, VirtualHost } from '@edge-gateway/core';
import { createAccessLogs, type AccessLog } from '../access-log/access-log.ts';
import type { Sinks } from '../access-log/sinks.ts';
import { createDomainIndex, type DomainEntry } from '../route/match/domain.ts';
import { compileManagerSettings } from '../route/options/manager-settings.ts';
import type { RouteTable } from '../route/route-request.ts';
import { createResponseStats, type ResponseStats } from './http-stats.ts';
import { isStale } from '../route/compile/secret-use.ts';
import { compileVirtualHost, type CompiledHost, type HostEnvironment } from '../route/compile/virtual-host.ts';

export interface CompiledListener extends RouteTable {
  readonly source: Listener;
  readonly written: SnapshotSettings;
  /** The settings that hold here. */
  readonly shared: SnapshotSettings;
  readonly hosts: ReadonlyMap<VirtualHost, CompiledHost>;
  readonly logs: readonly AccessLog[];
  readonly responses: ResponseStats;
}

export interface ListenerEnvironment extends Pick<HostEnvironment, 'concerns' | 'actions' | 'context'> {
  readonly sinks: Sinks;
  /** Logs where a listener names no log. */
  readonly defaultLogs: readonly AccessLog[];
}

/** Compiles a listener, taking over from `before` what did not change. Never throws. */
export function compileListener(
  source: Listener,
  written: SnapshotSettings,
  environment: ListenerEnvironment,
  before?: CompiledListener,
): CompiledListener {
  const same =
    before?.source.httpOptions === source.httpOptions &&
    before.source.routeOptions === source.routeOptions &&
    before.written === written;
  const { settings, failed } = same ? before : settingsOf(source, environment.context);
  const shared = same ? before.shared : withOwn(written, source);
  const hosts = new Map<VirtualHost, CompiledHost>();
  const hostEnvironment = {
    ...environment,
    settings,
    shared,
    mostSpecificWins: source.routeOptions.mostSpecificHeaderMutationsWins === true,
  };
  for (const host of source.virtualHosts) {
    const known = same ? before.hosts.get(host) : undefined;
    const usable = known && !isStale(known.secrets, environment.context.secrets);
    hosts.set(host, usable ? known : compileVirtualHost(host, hostEnvironment));
  }
  const sameLogs = before?.source.options === source.options;
  return {
    source,
    settings,
    written,
    shared,
    hosts,
    findHost: createDomainIndex(domainsOf(hosts)),
    logs: sameLogs ? before.logs : createAccessLogs(source.options, environment),
    responses: createResponseStats(environment.context.metrics, source.bindAddress, source.bindPort),
    failed,
  };
}

/** `extauth` of a listener stands in place of that of the Settings. */
function withOwn(written: SnapshotSettings, { httpOptions: { extauth } }: Listener): SnapshotSettings {
  return extauth ? { ...written, extauth } : written;
}

function* domainsOf(hosts: ReadonlyMap<VirtualHost, CompiledHost>): Generator<DomainEntry<CompiledHost>> {
  for (const [host, value] of hosts) for (const domain of host.domains) yield { domain, value };
}

function settingsOf(source: Listener, context: Context): Pick<RouteTable, 'settings' | 'failed'> {
  const compiled = compileSettings(source);
  if (compiled.failed !== undefined) {
    const fields = { listener: source.name, reason: compiled.failed };
    context.log.get('config').error(fields, 'listener cannot be used, it answers 500');
  }
  return compiled;
}

/** Compiles the settings of a listener. Never throws: invalid settings become `failed`. */
export function compileSettings({ httpOptions }: Listener): Pick<RouteTable, 'settings' | 'failed'> {
  try {
    return { settings: compileManagerSettings(httpOptions), failed: undefined };
  } catch (error) {
    const failed = error instanceof Error ? error.message : String(error);
    return { settings: compileManagerSettings({}), failed };
  }
}
