import {
  clusterName,
  differingKeys,
  type ControlPlane,
  type ControlPlaneState,
  type Loggers,
  type MemorySource,
  type Metrics,
  type Resource,
  type ResourceKey,
} from '@edge-gateway/core';
import type { SettingsSpec, UpstreamSpec } from '@edge-gateway/core/schema';
import { createPolicyWatch } from '@edge-gateway/extauth';
import { POLICIES } from '../concerns.ts';
import type { DataPlane } from './data-plane.ts';
import { graphqlPackage } from './graphql-parts.ts';

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
export function startDiscovery(parts: DiscoveryParts): { close(): void } {
  const { controlPlane } = parts;
  const graphql = createGraphQLLoops(parts);
  const policies = createPolicyWatch({ compiler: POLICIES, observe: controlPlane.observe });
  const unsubscribe = controlPlane.subscribe((state) => {
    graphql.update(state);
    void policies.update(state);
  });
  return {
    close() {
      unsubscribe();
      graphql.close();
      policies.close();
    },
  };
}

/** Creates the loops of GraphQLApis, which start with the first resource that they need. */
function createGraphQLLoops(parts: DiscoveryParts): { update(state: ControlPlaneState): void; close(): void } {
  let known: ReadonlyMap<ResourceKey, Resource> = new Map();
  let loops: ReturnType<typeof startGraphQLLoops> | undefined;
  return {
    update(state) {
      if (!loops) {
        const changed = differingKeys(known, state.resources);
        known = state.resources;
        if (![...changed].some((key) => needsLoops(state.resources.get(key)))) return;
        loops = startGraphQLLoops(parts);
      }
      loops.update(state);
    },
    close: () => loops?.close(),
  };
}

/** True for GraphQLApis, and for what enables their discovery. */
function needsLoops(resource: Resource | undefined): boolean {
  switch (resource?.kind) {
    case 'GraphQLApi':
      return true;
    case 'Settings':
      return (resource.spec as SettingsSpec).discovery !== undefined;
    case 'Upstream': {
      const { labels } = (resource.spec as UpstreamSpec).discoveryMetadata ?? {};
      return [resource.metadata.labels, labels].some((each) => each?.[DISCOVERY_LABEL] !== undefined);
    }
    default:
      return false;
  }
}

const DISCOVERY_LABEL = 'discovery.vendor.io/function_discovery';

function startGraphQLLoops({ controlPlane, dataPlane, log, metrics, source }: DiscoveryParts) {
  const { createDiscovery, createSchemaWatch } = graphqlPackage();
  const { observe, secrets } = controlPlane;
  const parts = { callUpstream: dataPlane.callUpstream, log: log.get('graphql'), observe };
  const discovery = createDiscovery({
    ...parts,
    source,
    findUpstream: (ref) => dataPlane.snapshot.upstreams.find(({ name }) => name === clusterName(ref)),
    secrets,
  });
  const watch = createSchemaWatch({ ...parts, metrics });
  return {
    update(state: ControlPlaneState): void {
      discovery.update(state.resources);
      watch.update(state);
    },
    close(): void {
      discovery.close();
      watch.close();
    },
  };
}
