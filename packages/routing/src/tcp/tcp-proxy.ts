import type { Socket } from 'node:net';
import type { Context, TcpHost } from '@edge-gateway/core';
import type { RequestRecord } from '../format/record.ts';
import type { Upstreams } from '../upstream/upstream.ts';
import { TcpSession } from './tcp-session.ts';
import { compileTcpSettings, type TcpSettings } from './tcp-settings.ts';
import { createTcpStats } from './tcp-stats.ts';

/** Forwards a TCP connection, whose TLS is already terminated if the host terminates it, and writes its access log. */
export type ServeTcp = (socket: Socket, host: TcpHost, write: (record: RequestRecord) => void) => void;

export function createTcpProxy(upstreams: Upstreams, context: Context): ServeTcp {
  const { metrics, now, log } = context;
  const stats = createTcpStats(metrics);
  const compiled = new WeakMap<TcpHost, TcpSettings | undefined>();

  function settingsOf(host: TcpHost): TcpSettings | undefined {
    if (compiled.has(host)) return compiled.get(host);
    let settings: TcpSettings | undefined;
    try {
      settings = compileTcpSettings(host);
    } catch (error) {
      log.get('config').error({ host: host.name, reason: (error as Error).message }, 'invalid TCP host');
    }
    compiled.set(host, settings);
    return settings;
  }

  function onExhausted(cluster: string): void {
    const name = 'upstream_cx_connect_attempts_exceeded';
    const labels = { envoy_cluster_name: cluster };
    metrics.counter({ path: `cluster.${cluster}.${name}`, metric: `envoy_cluster_${name}`, labels }).value++;
  }

  return (socket, host, write) => {
    const settings = settingsOf(host);
    if (!settings) socket.destroy();
    else new TcpSession({ socket, host, settings, upstreams, stats, now, onExhausted, write }).start();
  };
}
