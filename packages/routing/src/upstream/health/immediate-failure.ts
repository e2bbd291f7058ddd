import { findHeader } from '../../http1/flat-headers.ts';
import type { Host } from '../hosts/host.ts';
import type { ClusterHealth } from './cluster-health.ts';

const HEADER = 'x-envoy-immediate-health-check-fail';

/** Takes a host out of service if its response asks for it, until its health checks pass. */
export function applyReportedFailure(health: ClusterHealth, host: Host, headers: readonly string[]): void {
  if (findHeader(headers, HEADER) !== undefined) health.failPassively(host, `the response has the header ${HEADER}`);
}
