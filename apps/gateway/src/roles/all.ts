import { resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import {
  DEFAULT_SNAPSHOT_SETTINGS,
  createMetrics,
  createWatchdog,
  directorySource,
  formatIssue,
  groupByCause,
  keyOf,
  runSteps,
  type ControlPlane,
  type Loggers,
  type ProxyRejection,
  type Snapshot,
  type UnservedListener,
} from '@edge-gateway/core';
import { secretsOf, TYPE, typeName } from '@edge-gateway/xds/resources';
import { openAdminPorts } from './admin-ports.ts';
import { closedListeners, LISTENER_CHECK_MS, type ClosedListener } from './closed-listeners.ts';
import type { AppliedState, DataPlane } from './data-plane.ts';
import { createConfiguration } from './configuration.ts';
import { createKnownRejections } from './known-rejections.ts';
import { releaseLoadingMemory } from '../process/loading-memory.ts';
import { withPreviousParts } from './kept-parts.ts';
import { NODE_ID } from './proxy-admin.ts';
import { createRejectionReport } from './rejections.ts';
import { startDiscovery } from './discovery.ts';
import { warnOfLostVersions } from './lost-versions.ts';
import { portError } from './port-error.ts';
import { PORT_FLAGS, type GatewaySettings } from '../settings.ts';
import { sharedSessionsCheck } from '../workers/shared-sessions.ts';
import { createServing } from './serving.ts';
import { shownListeners, type ShownListener } from './shown-listeners.ts';

/** Maximum number of problems that are shown at the start. */
const MAX_SHOWN = 3;

/** A gateway that serves. */
export interface RunningGateway {
  readonly listeners: readonly ShownListener[];
  /** Listeners that the resources require and that are not served, with the reason. */
  readonly unserved: readonly UnservedListener[];
  /** Number of processes that serve, if there are several. */
  readonly workers?: number;
  /** Errors and warnings in the resources. */
  readonly problems: number;
  /** The first of them, in words: one for each cause. */
  readonly firstProblems: readonly string[];
  /** The open admin ports by the names of their settings. */
  readonly ports: Readonly<Record<string, number>>;
  /** Stops taking connections, lets requests in progress finish within the limit, then closes everything. */
  stop(): Promise<void>;
}

/**
 * Runs control plane and data plane in this process. Resolves when everything that can listen listens. `quit` is called when a client of the
 * admin port requests the end of the process. Rejects with `ERR_GATEWAY_PORT` when the port of a flag is in use, or none of the listeners can
 * be opened, and with `ERR_CORE_DIRECTORY_UNREADABLE` when the directory of the resources does not exist.
 *
 * @example
 * const gateway = await startAll(settings, createLoggers(), () => process.exit());
 * await gateway.stop();
 */
export async function startAll(settings: GatewaySettings, log: Loggers, quit: () => void): Promise<RunningGateway> {
  const metrics = createMetrics();
  const watchdog = createWatchdog({ metrics, log: log.get('main'), thread: 'main_thread' });
  const checks = settings.workers > 1 ? [sharedSessionsCheck(settings.workers)] : [];
  const { proxyName } = settings;
  const { controlPlane, found } = createConfiguration({
    settings,
    source: directorySource(settings.config, { log: log.get('config') }),
    sourceId: resolve(settings.config),
    directory: settings.config,
    isDirectory: true,
    proxyName,
    log,
    metrics,
    checks,
  });
  const { context, dataPlane } = await createServing(settings, { log, metrics, secrets: controlPlane.secrets });
  let discovery: { close(): void } | undefined;
  let rejections: readonly ProxyRejection[] = [];
  const admin = await openAdminPorts({
    settings,
    context,
    controlPlane,
    dataPlane,
    rejections: () => rejections,
    quit,
  }).catch(async (error: unknown) => {
    watchdog.close();
    await dataPlane.close();
    throw error;
  });
  dataPlane.ownPortsChanged?.();
  let listenerChecks: NodeJS.Timeout | undefined;
  const stop = async (): Promise<void> => {
    clearInterval(listenerChecks);
    discovery?.close();
    await dataPlane.drain(settings.drainSeconds * 1000);
    await controlPlane.close();
    await dataPlane.close();
    await admin.close();
    watchdog.close();
  };
  try {
    await controlPlane.start();
    warnOfLostVersions(controlPlane.state, log.get('config'));
    const report = createRejectionReport(controlPlane);
    let parts: readonly ProxyRejection[] = [];
    let closed: readonly ClosedListener[] = [];
    const update = (): void => {
      const rejected = [...parts, ...closed.map(rejectionOfListener)];
      rejections = rejected.map((each) => ({ ...each, type: typeName(each.type) }));
      report(rejected.map((rejection) => ({ proxy: proxyName, node: NODE_ID, rejection })));
    };
    const first = firstResults({ controlPlane, dataPlane, settings }, (rejected) => {
      parts = rejected;
      update();
    });
    rejectTakenPorts(await first, controlPlane, dataPlane);
    const checkListeners = (): void => {
      const now = closedListeners(dataPlane);
      if (isDeepStrictEqual(now, closed)) return;
      closed = now;
      update();
    };
    checkListeners();
    listenerChecks = setInterval(checkListeners, LISTENER_CHECK_MS);
    // What serves has released its own: workers, or the data plane in this process.
    if (settings.workers > 1) await releaseLoadingMemory();
    discovery = startDiscovery({ controlPlane, dataPlane, log, metrics, source: found });
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    listeners: shownListeners(dataPlane),
    unserved: dataPlane.unserved.map(({ name, reason, resources }) => ({ name, reason, resources })),
    ...(settings.workers > 1 && { workers: settings.workers }),
    problems: controlPlane.state?.issues.length ?? 0,
    firstProblems: groupByCause(controlPlane.state?.issues ?? [])
      .slice(0, MAX_SHOWN)
      .map(([first]) => formatIssue(first)),
    ports: admin.ports,
    stop,
  };
}

function rejectionOfListener({ name, reason }: ClosedListener): ProxyRejection {
  return { type: TYPE.listener, resource: name, field: 'bindPort', message: reason };
}

type ListenResults = Awaited<AppliedState['listening']>;

interface Planes {
  readonly controlPlane: ControlPlane;
  readonly dataPlane: DataPlane;
  readonly settings: GatewaySettings;
}

/**
 * Applies each state of the control plane to the data plane; returns the results of the listeners of the first snapshot. `onRejections` is
 * called with the parts of the newest snapshot that cannot be compiled, whenever they change.
 */
function firstResults(
  { controlPlane, dataPlane, settings }: Planes,
  onRejections: (rejections: readonly ProxyRejection[]) => void,
): Promise<ListenResults> {
  let first: Promise<ListenResults> | undefined;
  /** What is served: the newest snapshot with previous versions of parts that cannot be compiled. */
  let compiled: Snapshot | undefined;
  const known = createKnownRejections(onRejections);
  controlPlane.subscribe(function* (state) {
    const snapshot = state.snapshots.get(settings.proxyName) ?? {
      proxy: settings.proxyName,
      version: '',
      listeners: [],
      upstreams: [],
      settings: DEFAULT_SNAPSHOT_SETTINGS,
    };
    const unserved = state.unservedListeners.get(settings.proxyName) ?? [];
    const secrets = () => secretsOf(snapshot, state.resources, controlPlane.secrets);
    const applied = yield* dataPlane.apply({ snapshot, unserved, secrets });
    const { failed, later } = applied;
    const kept = withPreviousParts(snapshot, failed, compiled);
    // In the same turn: no request is served by the parts that failed.
    const { listening } =
      kept === snapshot ? applied : runSteps(dataPlane.apply({ snapshot: kept, unserved, secrets }));
    // A replaced part was compiled again, so that its rejection is among the new ones.
    known.update(snapshot, compiled, failed);
    compiled = kept;
    // The data plane reports a state that it rejects as a whole.
    later?.then((found) => known.replace(found)).catch(() => {});
    first ??= listening;
  });
  return first ?? Promise.resolve([]);
}

/**
 * Throws `ERR_GATEWAY_PORT` when the port of a default gateway, which a flag names, cannot be listened on, or that of every
 * listener. The port of one Gateway resource among others is tried again while the others serve.
 */
function rejectTakenPorts(results: ListenResults, controlPlane: ControlPlane, dataPlane: DataPlane): void {
  const failed = results.filter(({ error }) => error?.code === 'ERR_ROUTING_LISTEN');
  for (const { name, error } of failed) {
    const listener = dataPlane.snapshot.listeners.find((each) => each.name === name)!;
    const { bindAddress: address, bindPort: port, gateway, ssl } = listener;
    const isDefault = !controlPlane.state?.resources.has(keyOf('Gateway', gateway));
    if (!isDefault && failed.length < results.length) continue;
    const { flag, what } = PORT_FLAGS[ssl ? 'httpsPort' : 'httpPort'];
    const own = `Gateway ${gateway.namespace}/${gateway.name}`;
    const remedy = isDefault ? `${flag} N (0 picks a free port)` : `bindPort of ${own}`;
    const addressRemedy = `bindAddress of ${own}`;
    throw portError({ port, address, what: isDefault ? what : own, remedy, addressRemedy, cause: error!.cause });
  }
}
