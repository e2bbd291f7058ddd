import { parseDuration, type SnapshotUpstream } from '@edge-gateway/core';
import type { SubsetSpec } from '@edge-gateway/core/schema';

/** The algorithms, by their names in the spec. */
export type AlgorithmName = 'roundRobin' | 'leastRequest' | 'random' | 'ringHash' | 'maglev';

/** Less traffic for hosts that were just added, or became healthy. */
export interface SlowStart {
  readonly windowMs: number;
  readonly aggression: number;
  /** Smallest share of the weight, 0 to 1. */
  readonly minimum: number;
}

/** The load balancing of one upstream, with defaults filled in. */
export interface LoadSettings {
  readonly algorithm: AlgorithmName;
  /** Panic threshold in percent; 0 disables it. */
  readonly panicThreshold: number;
  readonly overprovisioningFactor: number;
  /** Whether the weights of localities count. */
  readonly byLocality: boolean;
  /** Milliseconds in which changes of health or weight are merged. */
  readonly mergeWindowMs: number;
  readonly hashesHostnames: boolean;
  readonly closesOnChange: boolean;
  readonly choiceCount: number;
  readonly minimumRingSize: number;
  readonly maximumRingSize: number;
  readonly slowStart: SlowStart | undefined;
  readonly subsets: SubsetSpec | undefined;
}

const ALGORITHMS: readonly AlgorithmName[] = ['leastRequest', 'random', 'ringHash', 'maglev', 'roundRobin'];

/** Reads the load balancing from the spec of an upstream. */
export function loadSettings({ spec }: Pick<SnapshotUpstream, 'spec'>): LoadSettings {
  const config = spec.loadBalancerConfig ?? {};
  const algorithm = ALGORITHMS.find((name) => config[name] !== undefined) ?? 'roundRobin';
  const ring = config.ringHash?.ringHashConfig;
  return {
    algorithm,
    panicThreshold: config.healthyPanicThreshold ?? 50,
    overprovisioningFactor: spec.failover?.policy?.overprovisioningFactor ?? 140,
    byLocality: config.localityWeightedLbConfig !== undefined,
    mergeWindowMs: config.updateMergeWindow === undefined ? 1000 : parseDuration(config.updateMergeWindow),
    hashesHostnames: config.useHostnameForHashing === true,
    closesOnChange: config.closeConnectionsOnHostSetChange === true,
    choiceCount: config.leastRequest?.choiceCount ?? 2,
    minimumRingSize: ring?.minimumRingSize ?? 1024,
    maximumRingSize: ring?.maximumRingSize ?? 8_388_608,
    subsets: spec.static?.subsetSpec ?? spec.kube?.subsetSpec ?? spec.consul?.subsetSpec,
    slowStart: slowStartOf(config.roundRobin?.slowStartConfig ?? config.leastRequest?.slowStartConfig),
  };
}

interface SlowStartConfig {
  readonly slowStartWindow?: string;
  readonly aggression?: number;
  readonly minWeightPercent?: number;
}

function slowStartOf(config: SlowStartConfig | undefined): SlowStart | undefined {
  const windowMs = parseDuration(config?.slowStartWindow ?? '0s');
  if (!config || windowMs === 0) return undefined;
  return {
    windowMs,
    aggression: config.aggression || 1,
    minimum: (config.minWeightPercent ?? 10) / 100,
  };
}
