import type { SnapshotUpstream } from '../contract/snapshot.ts';
import { shownPath, type MessageContext } from './translation-context.ts';
import { headerMutations } from './headers.ts';
import { message, protoDuration, renamed, type EnvoyMessage } from './message.ts';

type HealthCheck = NonNullable<SnapshotUpstream['spec']['healthChecks']>[number];
type OutlierDetection = NonNullable<SnapshotUpstream['spec']['outlierDetection']>;

const INTERVALS = [
  'timeout',
  'interval',
  'initialJitter',
  'intervalJitter',
  'noTrafficInterval',
  'unhealthyInterval',
  'unhealthyEdgeInterval',
  'healthyEdgeInterval',
] as const;
const PLAIN = [
  'intervalJitterPercent',
  'unhealthyThreshold',
  'healthyThreshold',
  'reuseConnection',
  'eventLogPath',
  'alwaysLogHealthCheckFailures',
] as const;

/** A health check as HealthCheck. Values of headers that come from secrets are redacted. */
export function healthCheck(check: HealthCheck, context: MessageContext): EnvoyMessage {
  const { httpHealthCheck: http, tcpHealthCheck: tcp, grpcHealthCheck: grpc } = check;
  return message({
    ...renamed(check, PLAIN),
    ...durations(check, INTERVALS),
    http_health_check: http && httpCheck(http, context),
    tcp_health_check: tcp && message({ ...tcp }),
    grpc_health_check: grpc && grpcCheck(grpc, context),
  });
}

/** Outlier detection as OutlierDetection. */
export function outlierDetection({ interval, baseEjectionTime, ...counts }: OutlierDetection): EnvoyMessage {
  const fields = Object.keys(counts) as (keyof typeof counts)[];
  return message({
    interval: protoDuration(interval),
    base_ejection_time: protoDuration(baseEjectionTime),
    ...Object.fromEntries(
      Object.entries(renamed(counts, fields)).map(([name, value]) => [
        name.replace('consecutive5xx', 'consecutive_5xx'),
        value,
      ]),
    ),
  });
}

function httpCheck(check: NonNullable<HealthCheck['httpHealthCheck']>, context: MessageContext): EnvoyMessage {
  const { serviceName, useHttp2, expectedStatuses, requestHeadersToAdd, requestHeadersToRemove } = check;
  return message({
    ...renamed(check, ['host', 'method']),
    path: check.path && shownPath(check.path, context),
    service_name_matcher: serviceName ? { prefix: serviceName } : undefined,
    codec_client_type: useHttp2 ? 'HTTP2' : undefined,
    // 64-bit numbers are strings.
    expected_statuses: expectedStatuses?.map(({ start, end }) => ({ start: String(start), end: String(end) })),
    ...headerMutations({ requestHeadersToAdd, requestHeadersToRemove }, context),
  });
}

function grpcCheck(check: NonNullable<HealthCheck['grpcHealthCheck']>, context: MessageContext): EnvoyMessage {
  const { request_headers_to_add: metadata } = headerMutations({ requestHeadersToAdd: check.initialMetadata }, context);
  return message({ ...renamed(check, ['serviceName', 'authority']), initial_metadata: metadata });
}

function durations(check: HealthCheck, fields: typeof INTERVALS): EnvoyMessage {
  const written = renamed(check, fields) as Readonly<Record<string, string | undefined>>;
  return Object.fromEntries(Object.entries(written).map(([name, value]) => [name, protoDuration(value)]));
}
