import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import {
  gatewayNamespace,
  settingsKey,
  type ControlPlane,
  type ControlPlaneState,
  type Kind,
  type Loggers,
  type Resource,
} from '@edge-gateway/core';
import type { SettingsSpec } from '@edge-gateway/core/schema';
import {
  createClusterClient,
  createClusterServices,
  createLeaderElection,
  createProxyWriter,
  createStatusWriter,
  createWriteLimit,
  findClusterAccess,
  gatewayApiSource,
  kubernetesSource,
  type ClusterClient,
  type GatewayApiSource,
  type KubernetesSource,
  type LeaderElection,
  type RequestLimit,
  type WatchedServices,
  type WriteLimit,
  type WrittenProxies,
} from '@edge-gateway/kubernetes';
import { BUILD } from '../settings.ts';
import type { SourceSettings } from '../command-line/role.ts';

/** A connected cluster. */
export interface Cluster {
  readonly client: ClusterClient;
  readonly source: KubernetesSource;
  /** Services with their endpoints. */
  readonly services: WatchedServices;
  /** What the Gateway API describes. */
  readonly gatewayApi: GatewayApiSource;
  /** Limits all writes, as the Settings say. */
  readonly limit: WriteLimit;
  /** Elects the one control plane that writes to the cluster. */
  readonly election: Pick<LeaderElection, 'isLeader'>;
  /** Calls back with each change of leadership. */
  onLeadership(listener: (isLeader: boolean) => void): void;
  /** Takes part in the election, and writes the statuses of a control plane while it leads. */
  lead(controlPlane?: ControlPlane): void;
  close(): Promise<void>;
}

interface ClusterOptions {
  /** Processes with the same lease elect one of them. Default: that of control planes. */
  readonly lease?: string;
  /** Kinds to read. Default: all. */
  readonly kinds?: ReadonlySet<Kind>;
}

/**
 * Opens the cluster of the settings, without any request yet. Rejects with `ERR_KUBERNETES_ACCESS` if there is no access.
 */
export async function openCluster(
  { kubeconfig, context }: SourceSettings,
  log: Loggers,
  { lease = 'edge-gateway-control-plane', kinds }: ClusterOptions = {},
): Promise<Cluster> {
  const access = findClusterAccess({ kubeconfig, context, env: process.env });
  const client = await createClusterClient(access, { userAgent: `edge-gateway/${BUILD.version}` });
  const listeners = new Set<(isLeader: boolean) => void>();
  const election = createLeaderElection({
    client,
    lease: { namespace: gatewayNamespace(), name: lease },
    identity: `${hostname()}_${randomUUID()}`,
    log: log.get('main'),
    onChange(isLeader) {
      for (const listener of listeners) listener(isLeader);
    },
  });
  const { isLeader } = election;
  const limit = createWriteLimit();
  const writer = createStatusWriter({ client, namespace: gatewayNamespace(), log: log.get('config'), isLeader, limit });
  listeners.add((leads) => leads && writer.resume());
  const proxies = createProxyWriter({
    client,
    namespace: gatewayNamespace(),
    log: log.get('config'),
    isLeader,
    onProxy: (unit, exists) => writer.observe(unit, undefined, exists),
  });
  listeners.add((leads) => leads && proxies.resume());
  const source = kubernetesSource({ client, kinds, log: log.get('config'), onStatus: writer.observe });
  const services = createClusterServices({ client, log: log.get('config') });
  const gatewayApi = gatewayApiSource({ client, services, log: log.get('config'), limit });
  listeners.add(gatewayApi.setLeading);
  let unsubscribe: (() => void) | undefined;
  return {
    client,
    source,
    services,
    gatewayApi,
    limit,
    election,
    onLeadership: (listener) => void listeners.add(listener),
    lead(controlPlane) {
      unsubscribe = controlPlane?.subscribe((state) => {
        limit.set(writeLimit(state));
        writer.update(state.statuses);
        proxies.update(wantedProxies(state));
      });
      election.start();
    },
    async close() {
      unsubscribe?.();
      await Promise.all([writer.close(), proxies.close()]);
      await election.close();
      await Promise.all([source.close(), gatewayApi.close(), services.close()]);
      await client.close();
    },
  };
}

/** Returns the limit of writes that Settings set. By default the API server alone limits them. */
export function writeLimit(state: Pick<ControlPlaneState, 'resources'>): RequestLimit | undefined {
  const { QPS, burst } = settingsOf(state)?.kubernetes?.rateLimits ?? {};
  if (!QPS && !burst) return undefined;
  return { qps: QPS || 50, burst: burst || 100 };
}

function wantedProxies(state: ControlPlaneState): WrittenProxies | undefined {
  const { gateway, discoveryNamespace } = settingsOf(state) ?? {};
  if (!gateway?.persistProxySpec) return undefined;
  return { namespace: discoveryNamespace || gatewayNamespace(), proxies: state.proxies };
}

function settingsOf({ resources }: Pick<ControlPlaneState, 'resources'>): SettingsSpec | undefined {
  return (resources.get(settingsKey()) as Resource<SettingsSpec> | undefined)?.spec;
}
