import {
  clusterName,
  DISCOVERY_LABEL,
  differingKeys,
  FUNCTIONS_ANNOTATION,
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
import { checkedFunctions, observedFunctions, type FunctionsSink } from './discovered-functions.ts';
import { graphqlPackage } from './graphql-parts.ts';

interface DiscoveryParts {
  readonly controlPlane: ControlPlane;
  /** Calls upstreams. */
  readonly dataPlane: Pick<DataPlane, 'callUpstream' | 'snapshot'>;
  readonly log: Loggers;
  readonly metrics: Metrics;
  /** Receives the discovered APIs. */
  readonly source: Pick<MemorySource, 'set' | 'delete'>;
  /** Receives the functions of upstreams. Default: they are part of the state of the control plane. */
  readonly functions?: FunctionsSink;
  /** Returns whether an API was discovered. Default: if it comes from `source` in memory. */
  readonly isOwn?: (api: Resource) => boolean;
  /** Whether APIs are discovered from the start. Default true. */
  readonly isLeading?: boolean;
}

/** Labels of the namespaces of a cluster. */
type NamespaceLabels = ReadonlyMap<string, Readonly<Record<string, string>>>;

/** Discovery that runs. */
export interface RunningDiscovery {
  setNamespaces(labels: NamespaceLabels): void;
  /** Whether APIs are discovered; of several processes one does that. */
  setLeading(isLeading: boolean): void;
  close(): void;
}

/**
 * Discovers the functions of the upstreams that Settings and labels name, creates GraphQLApis for them, compares written ones with their servers, and checks the policies of
 * AuthConfigs, until it is closed.
 */
export function startDiscovery(parts: DiscoveryParts): RunningDiscovery {
  const { controlPlane } = parts;
  const graphql = createGraphQLLoops(parts);
  const policies = createPolicyWatch({ compiler: POLICIES, observe: controlPlane.observe });
  const unsubscribe = controlPlane.subscribe((state) => {
    graphql.update(state);
    void policies.update(state);
  });
  return {
    setNamespaces: graphql.setNamespaces,
    setLeading: graphql.setLeading,
    close() {
      unsubscribe();
      graphql.close();
      policies.close();
    },
  };
}

/** Creates the loops of GraphQLApis, which start with the first resource that they need. */
function createGraphQLLoops(parts: DiscoveryParts): RunningDiscovery & { update(state: ControlPlaneState): void } {
  let namespaces: NamespaceLabels = new Map();
  let { isLeading = true } = parts;
  let known: ReadonlyMap<ResourceKey, Resource> = new Map();
  let loops: ReturnType<typeof startGraphQLLoops> | undefined;
  function update(state: ControlPlaneState): void {
    if (!loops) {
      const changed = differingKeys(known, state.resources);
      known = state.resources;
      const isNeeded = [...changed].some((key) => needsLoops(state.resources.get(key))) || areLabelled(namespaces);
      if (!isNeeded) return;
      loops = startGraphQLLoops(parts);
    }
    loops.update(state, isLeading ? state.resources : NOTHING, namespaces);
  }
  function updateAgain(): void {
    if (parts.controlPlane.state) update(parts.controlPlane.state);
  }
  return {
    update,
    setNamespaces(labels) {
      namespaces = labels;
      updateAgain();
    },
    setLeading(leads) {
      isLeading = leads;
      updateAgain();
    },
    close: () => loops?.close(),
  };
}

const NOTHING: ReadonlyMap<ResourceKey, Resource> = new Map();

function areLabelled(namespaces: NamespaceLabels): boolean {
  return [...namespaces.values()].some((labels) => labels[DISCOVERY_LABEL] !== undefined);
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
      if (resource.metadata.annotations?.[FUNCTIONS_ANNOTATION] !== undefined) return true;
      return [resource.metadata.labels, labels].some((each) => each?.[DISCOVERY_LABEL] !== undefined);
    }
    default:
      return false;
  }
}

function startGraphQLLoops({ controlPlane, dataPlane, log, metrics, source, functions, isOwn }: DiscoveryParts) {
  const { createDiscovery, createSchemaWatch } = graphqlPackage();
  const { observe, secrets } = controlPlane;
  const parts = { callUpstream: dataPlane.callUpstream, log: log.get('graphql'), observe };
  const discovery = createDiscovery({
    ...parts,
    source,
    functions: checkedFunctions(functions ?? observedFunctions(observe), observe),
    ...(isOwn && { isOwn }),
    findUpstream: (ref) => dataPlane.snapshot.upstreams.find(({ name }) => name === clusterName(ref)),
    secrets,
  });
  const watch = createSchemaWatch({ ...parts, metrics });
  return {
    update(state: ControlPlaneState, discovered: ControlPlaneState['resources'], namespaces: NamespaceLabels): void {
      discovery.update(discovered, namespaces);
      watch.update(state);
    },
    close(): void {
      discovery.close();
      watch.close();
    },
  };
}
