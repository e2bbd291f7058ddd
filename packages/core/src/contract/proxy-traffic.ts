/** The requests of a time span. */
export interface ReportedRequests {
  /** Of the proxy, the address of the listener, or the cluster name of the upstream. */
  readonly name: string;
  readonly requests: number;
  readonly clientErrors: number;
  readonly serverErrors: number;
  /** Latencies in milliseconds; missing without requests, and for listeners. */
  readonly p50?: number;
  readonly p99?: number;
}

/** The requests to an upstream, and the health of its endpoints. */
export interface ReportedUpstream extends ReportedRequests {
  readonly healthy: number;
  readonly unhealthy: number;
}

/** What a proxy reports about its traffic. Lists are limited to those that matter most. */
export interface TrafficReport {
  /** Length of the time span. */
  readonly seconds: number;
  readonly total: ReportedRequests;
  readonly listeners: readonly ReportedRequests[];
  readonly upstreams: readonly ReportedUpstream[];
}

/** The last report of a proxy, as known to the control plane. */
export interface ProxyTraffic extends TrafficReport {
  /** When it arrived, in ISO 8601. */
  readonly reportedAt: string;
  /** True if further reports are missing. */
  readonly isStale: boolean;
}
