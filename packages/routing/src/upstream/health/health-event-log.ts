import { createLineSink, type Context, type LineSink } from '@edge-gateway/core';
import type { Host } from '../hosts/host.ts';
import type { CheckFailureType } from './health-state.ts';

/** The change that an event reports, by its name in Envoy's event log. */
export type HealthEvent =
  | { readonly eject_unhealthy_event: { readonly failure_type: CheckFailureType } }
  | { readonly add_healthy_event: { readonly first_check: boolean } }
  | { readonly health_check_failure_event: { readonly failure_type: CheckFailureType; readonly first_check: boolean } }
  | { readonly degraded_healthy_host: {} }
  | { readonly no_longer_degraded_host: {} };

/** Writes the events of one upstream. */
export interface HealthEventLog {
  write(host: Host, event: HealthEvent): void;
  close(): void;
}

interface SharedSink {
  readonly sink: LineSink;
  users: number;
}

export interface EventSource {
  readonly cluster: string;
  readonly type: 'HTTP' | 'TCP' | 'GRPC';
}

/** Opens the event log of an upstream: a JSON object per line. Upstreams with the same path share the file. */
export function openEventLog(path: string, { cluster, type }: EventSource, context: Context): HealthEventLog {
  const sinks = context.state('health-event-logs', () => new Map<string, SharedSink>());
  const shared = sinks.get(path) ?? { sink: openSink(path, context), users: 0 };
  sinks.set(path, shared);
  shared.users++;
  return {
    write(host, event) {
      const line = {
        health_checker_type: type,
        host: { socket_address: addressOf(host) },
        cluster_name: cluster,
        ...event,
        timestamp: new Date(context.now()).toISOString(),
        locality: {
          region: host.locality.region ?? '',
          zone: host.locality.zone ?? '',
          sub_zone: host.locality.subZone ?? '',
        },
      };
      shared.sink.write(`${JSON.stringify(line)}\n`);
    },
    close() {
      if (--shared.users > 0) return;
      sinks.delete(path);
      void shared.sink.close();
    },
  };
}

function openSink(path: string, { log }: Context): LineSink {
  const logger = log.get('upstream');
  return createLineSink(path, {
    onFailure: (reason) => logger.warn({ path, reason }, 'health check event log write failed'),
    onDropped: (dropped) => logger.warn({ path, dropped }, 'health check event log lines dropped'),
  });
}

function addressOf({ address, port }: Host): object {
  return { protocol: 'TCP', address, resolver_name: '', ipv4_compat: false, port_value: port };
}
