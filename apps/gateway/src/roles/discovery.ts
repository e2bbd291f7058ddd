import { clusterName, type ControlPlane, type Loggers, type MemorySource, type Metrics } from '@edge-gateway/core';
import { createDiscovery, createSchemaWatch } from '@edge-gateway/graphql';
import { createPolicyWatch } from '@edge-gateway/extauth';
import { POLICIES } from '../concerns.ts';
import type { DataPlane } from './data-plane.ts';

interface DiscoveryParts {
  readonly controlPlane: ControlPlane;
  /** Calls upstreams. */
  readonly dataPlane: Pick<DataPlane, 'callUpstream' | 'snapshot'>;
  readonly log: Loggers;
  readonly metrics: Metrics;
  /** Receives the discovered APIs. */
  readonly source: MemorySource;
}

/**
 * Creates GraphQLApis for the upstreams that Settings and labels name, compares written ones with their servers, and checks the policies of
 * AuthConfigs, until it is closed.
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
  const policies = createPolicyWatch({ compiler: POLICIES, observe });
  const unsubscribe = controlPlane.subscribe((state) => {
    discovery.update(state.resources);
    watch.update(state);
    void policies.update(state);
  });
  return {
    close() {
      unsubscribe();
      discovery.close();
      watch.close();
      policies.close();
    },
  };
}
