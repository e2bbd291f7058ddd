import type { Counter, Metrics } from '@edge-gateway/core';
import { RESOURCE_TYPES, TYPE, typeName } from '../resources/resource-type.ts';

/** Envoy's names for the types that exist in Envoy. */
const ENVOY_NAMES: Readonly<Record<string, string>> = {
  [TYPE.listener]: 'listener_manager.lds',
  [TYPE.upstream]: 'cluster_manager.cds',
};

/** The statistics of the updates of one type. */
export interface UpdateStats {
  /** Responses that were received. */
  readonly attempt: Counter;
  /** Responses that were applied. */
  readonly success: Counter;
  readonly rejected: Counter;
  /** Streams that ended or could not be opened. */
  readonly failure: Counter;
}

/** Creates the statistics of all types, with Envoy's names. */
export function createUpdateStats(metrics: Metrics): ReadonlyMap<string, UpdateStats> {
  return new Map(
    RESOURCE_TYPES.map((type) => {
      const snake = typeName(type)
        .replace(/([a-z])([A-Z])/g, '$1_$2')
        .toLowerCase();
      const prefix = ENVOY_NAMES[type] ?? `xds.${snake}`;
      const counter = (name: string): Counter => {
        const path = `${prefix}.update_${name}`;
        return metrics.counter({ path, metric: `envoy_${path.replaceAll('.', '_')}` });
      };
      const stats = {
        attempt: counter('attempt'),
        success: counter('success'),
        rejected: counter('rejected'),
        failure: counter('failure'),
      };
      return [type, stats] as const;
    }),
  );
}
