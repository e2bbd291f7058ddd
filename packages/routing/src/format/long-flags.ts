const LONG: Readonly<Record<string, string>> = {
  DC: 'DownstreamConnectionTermination',
  DI: 'DelayInjected',
  DPE: 'DownstreamProtocolError',
  DT: 'DurationTimeout',
  FI: 'FaultInjected',
  IH: 'InvalidEnvoyRequestHeaders',
  LH: 'FailedLocalHealthCheck',
  LR: 'LocalReset',
  NC: 'NoClusterFound',
  NFCF: 'NoFilterConfigFound',
  NR: 'NoRouteFound',
  OM: 'OverloadManagerTerminated',
  RFCF: 'ResponseFromCacheFilter',
  RL: 'RateLimited',
  RLSE: 'RateLimitServiceError',
  SI: 'StreamIdleTimeout',
  UAEX: 'UnauthorizedExternalService',
  UC: 'UpstreamConnectionTermination',
  UF: 'UpstreamConnectionFailure',
  UH: 'NoHealthyUpstream',
  UMSDR: 'UpstreamMaxStreamDurationReached',
  UO: 'UpstreamOverflow',
  UPE: 'UpstreamProtocolError',
  UR: 'UpstreamRemoteReset',
  URX: 'UpstreamRetryLimitExceeded',
  UT: 'UpstreamRequestTimeout',
};

/** Flags with commas between them, each in full. */
export function longFlags(flags: string): string {
  return flags
    .split(',')
    .map((flag) => LONG[flag] ?? flag)
    .join(',');
}
