import { dig, entries, items, text } from '../resources/objects.ts';
import { badAnswer, parseJson, type Connection } from './connection.ts';

/** A line for each host of an upstream, by the name of its cluster. */
export type UpstreamHosts = ReadonlyMap<string, readonly string[]>;

/** Names of health flags in text, by those in JSON. */
const FLAGS: Readonly<Record<string, string>> = {
  failed_active_health_check: 'failed_active_hc',
  failed_active_degraded_check: 'degraded_active_hc',
};

/** Reads the health of all hosts that a running proxy sends requests to. */
export async function readUpstreamHosts(connection: Connection): Promise<UpstreamHosts> {
  const page = { base: connection.proxyAdmin, flag: '--proxy-admin', path: '/clusters?format=json' } as const;
  const response = parseJson(await connection.proxy(page.path), page);
  const statuses = dig(response, 'cluster_statuses');
  if (!Array.isArray(statuses)) throw badAnswer(page);
  return new Map(statuses.map((status) => [text(status, 'name'), items(status, 'host_statuses').map(hostLine)]));
}

/** E.g. `127.0.0.1:8080 failed_active_hc, 12 requests, 3 errors`. */
function hostLine(host: unknown): string {
  const address = text(host, 'address', 'socket_address', 'address');
  const port = text(host, 'address', 'socket_address', 'port_value');
  const flags = entries(host, 'health_status').flatMap(([name, on]) => (on === true ? [FLAGS[name] ?? name] : []));
  const counters = new Map(items(host, 'stats').map((stat) => [text(stat, 'name'), Number(text(stat, 'value'))]));
  const health = flags.length === 0 ? 'healthy' : flags.join(' ');
  const counted = (name: string, unit: string): string[] => {
    const value = counters.get(name) ?? 0;
    return value > 0 ? [`${value} ${unit}${value === 1 ? '' : 's'}`] : [];
  };
  const shown = [health, ...counted('rq_total', 'request'), ...counted('rq_error', 'error')];
  return `${address.includes(':') ? `[${address}]` : address}:${port} ${shown.join(', ')}`;
}
