import { clusterName, type ControlPlane, type Loggers, type MemorySource, type Metrics } from '@edge-gateway/core';
import { createDiscovery, createSchemaWatch } from '@edge-gateway/graphql';
import type { DataPlane } from './data-plane.ts';

interface DiscoveryParts {
  readonly controlPlane: ControlPlane;
  readonly dataPlane: DataPlane;
  readonly log: Loggers;
  readonly metrics: Metrics;
  /** Receives the discovered APIs. */
  readonly source: MemorySource;
}

/**
 * Makes GraphQLApis of the upstreams that Settings and labels name, and compares written ones with their servers, until it
 * is closed.
 */
export function startDiscovery({ controlPlane, dataPlane, log, metrics, source }: DiscoveryParts): { close(): void } {
  const { observe } = controlPlane;
  const parts = { callUpstream: dataPlane.callUpstream, log: log.get('graphql'), observe };
  const discovery = createDiscovery({
    ...parts,
    source,
    findUpstream: (ref) => dataPlane.snapshot.upstreams.find(({ name }) => name === clusterName(ref)),
    secrets: controlPlane.secrets,
  });
  const watch = createSchemaWatch({ ...parts, metrics });
  const unsubscribe = controlPlane.subscribe((state) => {
    discovery.update(state.resources);
    watch.update(state);
  });
  return {
    close() {
      unsubscribe();
      discovery.close();
      watch.close();
    },
  };
}
