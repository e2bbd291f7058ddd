/** Where an endpoint is. Missing parts are unknown. */
export interface Locality {
  readonly region?: string;
  readonly zone?: string;
  readonly subZone?: string;
}

/** Why a host is not used, or used less, by the names of Envoy. */
export type HealthFlagName =
  | 'failed_active_hc'
  | 'failed_outlier_check'
  | 'degraded_active_hc'
  | 'pending_dynamic_removal'
  | 'pending_active_hc'
  | 'excluded_via_immediate_hc_fail'
  | 'active_hc_timeout';

/** Counters of one host, by the names that `/clusters` shows. */
export type HostCounters = {
  readonly cx_active: number;
  readonly cx_connect_fail: number;
  readonly cx_total: number;
  readonly rq_active: number;
  readonly rq_error: number;
  readonly rq_success: number;
  readonly rq_timeout: number;
  readonly rq_total: number;
};

/** The state of one host of an upstream: health, load and counters. */
export interface HostState {
  readonly address: string;
  readonly port: number;
  /** The DNS name that it was resolved from; otherwise the address. */
  readonly hostname: string;
  readonly weight: number;
  /** 0 is the highest. */
  readonly priority: number;
  readonly locality: Locality;
  readonly counters: HostCounters;
  /** Empty for a healthy host. */
  readonly healthFlags: readonly HealthFlagName[];
  /** Share of successful requests in percent; -1 if outlier detection has too few requests, or is off. */
  readonly successRate: number;
  /** The same for errors of the connection. */
  readonly localOriginSuccessRate: number;
  /** The last connection that could not be opened, or request without a response in time; missing if there was none. */
  readonly lastFailure?: ConnectionFailure;
}

/** A connection to a host that could not be opened, or a request to which it did not respond in time. */
export interface ConnectionFailure {
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** E.g. `Connection refused`. */
  readonly reason: string;
  /** True if a later connection was opened; after a timeout, if the host has responded. */
  readonly isOver: boolean;
  /** True for a request without a response in time: a process that hangs still accepts connections. */
  readonly isTimeout?: boolean;
}
