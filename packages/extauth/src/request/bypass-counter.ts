import type { Counter, Metrics } from '@edge-gateway/core';

const NAMES = {
  http: 'extauth.vendor.io/http_passthrough_bypass_failure',
  grpc: 'extauth.vendor.io/passthrough_failure_bypass',
} as const;

/** Counts the requests that `failureModeAllow` of an own server lets pass because the server failed. */
export function bypassCounter(metrics: Metrics, mode: keyof typeof NAMES): Counter {
  return metrics.counter({ path: NAMES[mode], metric: NAMES[mode].replaceAll(/[./]/g, '_'), labels: {} });
}
