import {
  DEFAULT_SNAPSHOT_SETTINGS,
  createContext,
  createControlPlane,
  createMetrics,
  directorySource,
  GatewayError,
  memorySource,
  severalSources,
  type Loggers,
} from '@edge-gateway/core';
import { graphqlApiCheck } from '@edge-gateway/graphql';
import { accessChecks } from '@edge-gateway/rbac';
import { openAdminPorts } from '../admin-ports.ts';
import { createDataPlane, type DataPlane } from '../data-plane.ts';
import { startDiscovery } from '../discovery.ts';
import { readErrorPages } from '../error-pages.ts';
import type { GatewaySettings } from '../settings.ts';

/** A gateway that serves. */
export interface RunningGateway {
  readonly listeners: readonly {
    readonly name: string;
    readonly address: string;
    readonly port: number;
    readonly protocol: 'http' | 'https';
  }[];
  readonly adminPort: number;
  readonly statsPort: number;
  /** Stops taking connections, lets requests under way finish within the limit, then closes everything. */
  stop(): Promise<void>;
}

/**
 * Runs control plane and data plane in this process. Resolves when everything that can listen listens.
 * Rejects with `ERR_GATEWAY_PORT` when a listener of the first configuration has no port to listen on.
 */
export async function startAll(settings: GatewaySettings, log: Loggers, quit: () => void): Promise<RunningGateway> {
  const metrics = createMetrics();
  const found = memorySource();
  const controlPlane = createControlPlane({
    source: severalSources([directorySource(settings.config, { log: log.get('config') }), found]),
    defaultGateways: { httpPort: settings.httpPort, httpsPort: settings.httpsPort, proxyName: settings.proxyName },
    log,
    metrics,
    checks: [graphqlApiCheck, ...accessChecks],
  });
  const context = createContext({
    log,
    metrics,
    secrets: controlPlane.secrets,
    env: shownVariables(settings),
    ...(settings.errorPages !== undefined && { pages: readErrorPages(settings.errorPages) }),
    filesRoot: settings.config,
  });
  const dataPlane = createDataPlane(context, settings);
  let discovery: { close(): void } | undefined;
  const admin = await openAdminPorts({ settings, context, controlPlane, dataPlane, quit });
  const stop = async (): Promise<void> => {
    discovery?.close();
    await dataPlane.drain(settings.drainSeconds * 1000);
    await controlPlane.close();
    await dataPlane.close();
    await admin.close();
  };
  try {
    await controlPlane.start();
    const first = firstResults(controlPlane, dataPlane, settings);
    refuseTakenPorts(await first);
    discovery = startDiscovery({ controlPlane, dataPlane, log, metrics, source: found });
  } catch (error) {
    await stop();
    throw error;
  }
  const { snapshot } = dataPlane;
  return {
    listeners: dataPlane.listeners.addresses().map((each) => ({
      ...each,
      protocol: snapshot.listeners.find(({ name }) => name === each.name)?.ssl ? 'https' : 'http',
    })),
    adminPort: admin.adminPort,
    statsPort: admin.statsPort,
    stop,
  };
}

type ListenResults = Awaited<ReturnType<DataPlane['apply']>>;

/** Has the data plane follow the control plane; gives how the listeners of the first snapshot fared. */
function firstResults(
  controlPlane: ReturnType<typeof createControlPlane>,
  dataPlane: DataPlane,
  settings: GatewaySettings,
): Promise<ListenResults> {
  let first: Promise<ListenResults> | undefined;
  controlPlane.subscribe((state) => {
    const snapshot = state.snapshots.get(settings.proxyName) ?? {
      proxy: settings.proxyName,
      version: '',
      listeners: [],
      upstreams: [],
      settings: DEFAULT_SNAPSHOT_SETTINGS,
    };
    const applied = dataPlane.apply(snapshot);
    first ??= applied;
  });
  return first ?? Promise.resolve([]);
}

function refuseTakenPorts(results: ListenResults): void {
  const failed = results.flatMap(({ name, error }) =>
    error?.code === 'ERR_ROUTING_LISTEN' ? [`${name}: ${error.message}`] : [],
  );
  if (failed.length > 0) throw new GatewayError(failed.join('\n'), { code: 'ERR_GATEWAY_PORT' });
}

function shownVariables({ templateEnv = [] }: GatewaySettings): NodeJS.ProcessEnv {
  return Object.fromEntries(templateEnv.map((name) => [name, process.env[name]]));
}
