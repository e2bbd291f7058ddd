import { settingsKey } from '@edge-gateway/core';
import type { SettingsSpec } from '@edge-gateway/core/schema';
import {
  createDiscoveredApis,
  createDiscoveredFunctions,
  createUpstreamDiscovery,
  followNamespaceLabels,
  isDiscoveredApi,
} from '@edge-gateway/kubernetes';
import { writeLimit, type Cluster } from './cluster.ts';
import { startDiscovery } from './discovery.ts';

interface ClusterDiscoveryParts extends Omit<
  Parameters<typeof startDiscovery>[0],
  'source' | 'functions' | 'isOwn' | 'isLeading'
> {
  readonly cluster: Cluster;
  /** False if another process discovers. */
  readonly isEnabled: boolean;
}

/** Writes the Upstreams of Services, and the functions and GraphQLApis of upstreams to the cluster while this process leads, until it is closed. */
export function startClusterDiscovery({ cluster, isEnabled, ...parts }: ClusterDiscoveryParts): {
  close(): Promise<void>;
} {
  const { controlPlane, metrics } = parts;
  const { client, services, limit } = cluster;
  const log = parts.log.get('config');
  const apis = createDiscoveredApis({ client, log, limit });
  const functions = createDiscoveredFunctions({ client, log, limit });
  const upstreams = createUpstreamDiscovery({ client, services, log, metrics, limit });
  const discovery = startDiscovery({ ...parts, source: apis, functions, isOwn: isDiscoveredApi, isLeading: false });
  const namespaces = followNamespaceLabels({ client, log, onChange: discovery.setNamespaces });
  let known: SettingsSpec | undefined;
  const unsubscribe = controlPlane.subscribe(({ resources }) => {
    const settings = (resources.get(settingsKey())?.spec ?? NO_SETTINGS) as SettingsSpec;
    limit.set(writeLimit({ resources }));
    if (settings !== known) upstreams.setSettings(settings);
    known = settings;
  });
  const setLeading = (isLeading: boolean): void => {
    upstreams.setLeading(isLeading);
    // First, because the others forget what they have found when they no longer lead.
    apis.setLeading(isLeading);
    functions.setLeading(isLeading);
    discovery.setLeading(isLeading);
  };
  if (isEnabled) cluster.onLeadership(setLeading);
  return {
    async close() {
      unsubscribe();
      discovery.close();
      await Promise.all([upstreams.close(), apis.close(), functions.close(), namespaces.close()]);
    },
  };
}

const NO_SETTINGS: SettingsSpec = {};
