import { resolve } from 'node:path';
import {
  createContext,
  createMetrics,
  createWatchdog,
  directorySource,
  severalSources,
  type ControlPlane,
} from '@edge-gateway/core';
import type { EnvoyServices } from '@edge-gateway/core/envoy';
import { createDiscoveryServer, NODE_TRANSLATION, type DiscoveryServer } from '@edge-gateway/xds';
import { secretsOf } from '@edge-gateway/xds/resources';
import { XDS_PORT, type ControlPlaneSettings } from '../command-line/control-plane-role.ts';
import type { RoleProcess, RunningRole } from '../command-line/role.ts';
import { createParentUpstreams } from '../workers/parent-upstreams.ts';
import { openControlPorts } from './admin-ports.ts';
import { adminTokenOf } from './admin-token.ts';
import { openCluster } from './cluster.ts';
import { startClusterDiscovery } from './cluster-discovery.ts';
import { startClusterValidation, type ClusterValidation } from './cluster-validation.ts';
import { createConfiguration } from './configuration.ts';
import { startDiscovery } from './discovery.ts';
import { createEnvoys } from './envoys.ts';
import { exposedXds } from './exposed-xds.ts';
import { releaseLoadingMemory } from '../process/loading-memory.ts';
import { warnOfLostVersions } from './lost-versions.ts';
import { portError } from './port-error.ts';
import { locateRejection } from './rejected-field.ts';
import { createRejectionReport } from './rejections.ts';
import { readServerTls, serverCertificates } from './server-tls.ts';
import { watchTls } from './watched-tls.ts';

/** The proxy of the default gateways. */
const DEFAULT_PROXY = 'gateway-proxy';

/**
 * Runs the control plane on a directory or a cluster. Resolves when proxies can connect. Rejects with `ERR_GATEWAY_PORT` when a port is in use, and with `ERR_GATEWAY_TLS` for an
 * unusable certificate.
 */
export async function startControlPlane(settings: ControlPlaneSettings, { log }: RoleProcess): Promise<RunningRole> {
  const metrics = createMetrics();
  const watchdog = createWatchdog({ metrics, log: log.get('main'), thread: 'main_thread' });
  const { config } = settings;
  const cluster = config === undefined ? await openCluster(settings, log) : undefined;
  const { controlPlane, found } = createConfiguration({
    settings,
    source: cluster
      ? severalSources([cluster.source, cluster.gatewayApi])
      : directorySource(config!, { log: log.get('config') }),
    services: cluster?.services,
    sourceId:
      config === undefined ? `kubernetes ${settings.context ?? ''} ${settings.kubeconfig ?? ''}` : resolve(config),
    directory: config ?? process.cwd(),
    isDirectory: config !== undefined,
    proxyName: DEFAULT_PROXY,
    log,
    metrics,
  });
  const context = createContext({ log, metrics, secrets: controlPlane.secrets });
  const upstreams = createParentUpstreams(context, DEFAULT_PROXY);
  const report = createRejectionReport(controlPlane);
  let isReporting = false;
  const services = {
    nodeProxies: settings.envoyNodeProxies,
    extauth: settings.envoyExtauth,
    rateLimit: settings.envoyRateLimit,
    tls: servicesTls(settings),
  };
  const server = createDiscoveryServer({
    log,
    metrics,
    translations: [NODE_TRANSLATION, createEnvoys(services, controlPlane)],
    onRejections() {
      if (isReporting) return;
      isReporting = true;
      // Of many nodes at once.
      setImmediate(() => {
        isReporting = false;
        report(server.rejections());
      });
    },
  });
  const flags = { tlsCert: settings.xdsTlsCert, tlsKey: settings.xdsTlsKey, tlsClientCa: settings.xdsTlsClientCa };
  const read = () => readServerTls(flags as Parameters<typeof readServerTls>[0], '--xds-tls');
  const tls = watchTls(read, {
    log: log.get('secret'),
    shown: (now) => serverCertificates(now, flags as Parameters<typeof readServerTls>[0], '--xds-tls'),
    onChange: (next) => next && listening?.replaceTls(next),
  });
  let listening: Awaited<ReturnType<DiscoveryServer['listen']>> | undefined;
  let validation: ClusterValidation | undefined;
  let discovery: { close(): void | Promise<void> } | undefined;
  const admin = await openControlPorts({
    settings,
    context,
    controlPlane,
    certificates: () => [...tls.certificates(), ...(validation?.certificates() ?? [])],
    // Proxies come and go; `/proxies` lists them.
    components: () => [],
    proxies: () =>
      server
        .proxies()
        .map((each) => (each.nack ? { ...each, nack: locateRejection(each.proxy, each.nack, controlPlane) } : each)),
    token: adminTokenOf(settings),
    served: () => ({
      snapshots: [...(controlPlane.state?.snapshots.values() ?? [])],
      unserved: (proxy) => controlPlane.state?.unservedListeners.get(proxy) ?? [],
    }),
  });
  const close = async (): Promise<void> => {
    tls.close();
    watchdog.close();
    await validation?.close();
    await discovery?.close();
    await controlPlane.close();
    await cluster?.close();
    listening?.close();
    await upstreams.close();
    await admin.close();
  };
  try {
    await controlPlane.start();
    await releaseLoadingMemory();
    publishStates(controlPlane, server);
    warnOfLostVersions(controlPlane.state, log.get('config'));
    listening = await listen(server, settings, tls.current);
    const { xdsAddress: address } = settings;
    const exposed = exposedXds(address, tls.current, settings.xdsSecrets === 'any');
    if (exposed !== undefined) log.get('main').warn({ address, port: listening.port }, exposed);
    const calls = {
      callUpstream: upstreams.callUpstream,
      get snapshot() {
        return upstreams.snapshot;
      },
    };
    // All snapshots have the same upstreams.
    controlPlane.subscribe(({ snapshots }) => {
      const [snapshot] = snapshots.values();
      if (snapshot) upstreams.apply(snapshot);
    });
    const parts = { controlPlane, dataPlane: calls, log, metrics };
    discovery = cluster
      ? startClusterDiscovery({ ...parts, cluster, isEnabled: settings.discovery !== false })
      : startDiscovery({ ...parts, source: found });
    cluster?.lead(controlPlane);
    validation = cluster && (await startClusterValidation({ settings, cluster, controlPlane, log, metrics }));
    const problems = controlPlane.state?.issues.length ?? 0;
    const facts = {
      xdsPort: listening.port,
      ...(validation && { validationPort: validation.port }),
      problems,
      statsPort: admin.statsPort,
    };
    return { facts, isReady: true, stop: close };
  } catch (error) {
    await close();
    throw error;
  }
}

function servicesTls({
  envoyServicesCa: ca,
  envoyServicesCert: cert,
  envoyServicesKey: key,
}: ControlPlaneSettings): EnvoyServices['tls'] {
  return ca === undefined ? undefined : { ca, cert, key };
}

/** Sends each state to the proxies. */
function publishStates(controlPlane: ControlPlane, server: DiscoveryServer): void {
  controlPlane.subscribe(({ snapshots, resources, unservedListeners, lacksServices: isPartial = false }) =>
    server.update(
      new Map(
        Array.from(snapshots, ([proxy, snapshot]) => {
          const secrets = secretsOf(snapshot, resources, controlPlane.secrets);
          return [proxy, { snapshot, unserved: unservedListeners.get(proxy) ?? [], secrets }] as const;
        }),
      ),
      // Running proxies must not lose the endpoints that they know.
      { isPartial },
    ),
  );
}

async function listen(
  server: DiscoveryServer,
  { xdsAddress: address, xdsPort: port, xdsClientNames: clientNames, xdsSecrets }: ControlPlaneSettings,
  tls: ReturnType<typeof readServerTls>,
): ReturnType<DiscoveryServer['listen']> {
  try {
    return await server.listen({ address, port, tls, clientNames, anonymousSecrets: xdsSecrets === 'any' });
  } catch (cause) {
    const remedy = `${XDS_PORT.flag} N (0 picks a free port)`;
    throw portError({ port, address, what: XDS_PORT.what, remedy, addressRemedy: '--xds-address', cause });
  }
}
