import type { MapChanges } from '../layered-map.ts';
import type { ResourceRef } from '../resource/resource.ts';
import type { UpstreamSpec } from '../schema/kind/upstream.ts';
import type { Endpoint } from './snapshot.ts';

/** A Service of a cluster with the endpoints of its ports. Frozen; unchanged parts are the same objects as before. */
export interface ClusterService {
  readonly ref: ResourceRef;
  /** Labels of the pods that it selects; empty if its endpoints are written by hand. */
  readonly selector: Readonly<Record<string, string>>;
  /** Sorted by number; each number once. */
  readonly ports: readonly ClusterServicePort[];
}

/** A port of a Service. */
export interface ClusterServicePort {
  readonly port: number;
  /** The upstream that discovery makes of the port, for `kube` destinations; missing if it has a fault. */
  readonly upstream?: UpstreamSpec;
  /** Why no upstream can be made of the port. */
  readonly fault?: string;
  /** Endpoints that accept new requests; `metadata` contains the labels of their pods, if they are known. */
  readonly endpoints: readonly Endpoint[];
}

/** The Services of a cluster. */
export interface ClusterServices {
  /**
   * Calls back with changes by `<namespace>/<name>`; `undefined` is a removed Service. Resolves after the first complete listing was
   * delivered. Continues after errors.
   */
  start(onChange: (changes: MapChanges<string, ClusterService>) => void): Promise<void>;
  close(): Promise<void>;
}
