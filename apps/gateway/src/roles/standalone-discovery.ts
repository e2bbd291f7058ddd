import { createControlAdmin } from '@edge-gateway/admin';
import { createContext, createMetrics } from '@edge-gateway/core';
import type { RoleProcess, RunningRole, SourceSettings } from '../command-line/role.ts';
import { BUILD } from '../settings.ts';
import { createParentUpstreams } from '../workers/parent-upstreams.ts';
import { adminTokenOf } from './admin-token.ts';
import { listenAdmin } from './admin-port.ts';
import { openCluster } from './cluster.ts';
import { startClusterDiscovery } from './cluster-discovery.ts';
import { createConfiguration } from './configuration.ts';

/** The proxy whose snapshot has the upstreams to call; all have the same. */
const PROXY = 'gateway-proxy';

/**
 * Runs discovery in a cluster, without serving proxies. Resolves when all Services are known. Rejects with `ERR_GATEWAY_PORT` when the stats
 * port is in use, and with `ERR_KUBERNETES_ACCESS` without access to a cluster.
 */
export async function startStandaloneDiscovery(settings: SourceSettings, { log }: RoleProcess): Promise<RunningRole> {
  const metrics = createMetrics();
  const cluster = await openCluster(settings, log, { lease: 'edge-gateway-discovery' });
  const { controlPlane } = createConfiguration({
    settings: { httpPort: 0, httpsPort: 0 },
    source: cluster.source,
    services: cluster.services,
    directory: process.cwd(),
    isDirectory: false,
    proxyName: PROXY,
    log,
    metrics,
  });
  const context = createContext({ log, metrics, secrets: controlPlane.secrets });
  const upstreams = createParentUpstreams(context, PROXY);
  const admin = createControlAdmin({
    state: () => controlPlane.state,
    loggers: log,
    metrics,
    ...BUILD,
    components: () => [{ name: 'discovery', kind: 'control-plane', state: controlPlane.state ? 'ready' : 'starting' }],
    token: adminTokenOf(settings),
  });
  let discovery: { close(): Promise<void> } | undefined;
  const close = async (): Promise<void> => {
    await discovery?.close();
    await controlPlane.close();
    await cluster.close();
    await upstreams.close();
    await admin.close();
  };
  try {
    const statsPort = await listenAdmin(admin, 'statsPort', settings);
    await controlPlane.start();
    controlPlane.subscribe(({ snapshots }) => {
      const [snapshot] = snapshots.values();
      if (snapshot) upstreams.apply(snapshot);
    });
    const dataPlane = {
      callUpstream: upstreams.callUpstream,
      get snapshot() {
        return upstreams.snapshot;
      },
    };
    discovery = startClusterDiscovery({ cluster, isEnabled: true, controlPlane, dataPlane, log, metrics });
    cluster.lead();
    return { facts: { statsPort }, isReady: true, stop: close };
  } catch (error) {
    await close();
    throw error;
  }
}
