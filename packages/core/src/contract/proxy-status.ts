import type { ProxyTraffic } from './proxy-traffic.ts';
import type { Origin } from '../resource/resource.ts';

/** The state of one process that serves a proxy, as known to the control plane. */
export interface ProxyStatus {
  /** Identifies the process, e.g. `host-1~4711`. */
  readonly node: string;
  /** Name of the proxy, e.g. `gateway-proxy`. */
  readonly proxy: string;
  /** Its address as `address:port`; `in process` if it runs in the process of the control plane. */
  readonly address: string;
  /** Version of the snapshot that it serves; empty before it has acknowledged one. */
  readonly version: string;
  /** False while it serves an older version than the control plane has for it. */
  readonly current: boolean;
  /** When it connected, in ISO 8601. */
  readonly connectedSince: string;
  /** When it acknowledged a version last, in ISO 8601; missing before the first. */
  readonly lastAck?: string;
  /** Why it rejected a part of the newest version; missing if it accepted everything. */
  readonly nack?: LocatedRejection;
  /** Its last report of traffic and the health of endpoints; missing before the first, and in the process of the control plane. */
  readonly traffic?: ProxyTraffic;
  /** Seconds since it acknowledged the version that it serves, or since it connected. */
  readonly age: number;
}

/** The first part of a version that a proxy rejected. */
export interface ProxyRejection {
  /** Type URL of the part. */
  readonly type: string;
  /** Name of the part, e.g. `listener-::-8080/gw-system.shop`. */
  readonly resource: string;
  /** Field with the problem, e.g. `routes[0]`; empty for the whole part. */
  readonly field: string;
  readonly message: string;
}

/** A rejection, and where the field is written. */
export interface LocatedRejection extends ProxyRejection {
  /** Missing if the part was not translated from a file or an object. */
  readonly origin?: Origin;
}
