import type { ControlPlane, Loggers, MemorySource } from '@edge-gateway/core';
import { createDiscovery } from '@edge-gateway/graphql';
import type { DataPlane } from './data-plane.ts';

export interface DiscoveryParts {
  readonly controlPlane: ControlPlane;
  readonly dataPlane: DataPlane;
  readonly log: Loggers;
  /** What is found is put into it. */
  readonly source: MemorySource;
}

/** Makes GraphQLApis of the upstreams that Settings and labels name, for as long as it is open. */
export function startDiscovery({ controlPlane, dataPlane, log, source }: DiscoveryParts): { close(): void } {
  const discovery = createDiscovery({ callUpstream: dataPlane.callUpstream, source, log: log.get('graphql') });
  const unsubscribe = controlPlane.subscribe((state) => discovery.update(state.resources));
  return {
    close() {
      unsubscribe();
      discovery.close();
    },
  };
}
