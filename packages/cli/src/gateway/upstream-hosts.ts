import { dig, entries, items, text } from '../resources/objects.ts';
import { count } from '../output/problem-lines.ts';
import { badAnswer, parseJson, type Connection } from './connection.ts';

/** A host of an upstream as a running proxy sees it. */
export interface UpstreamHost {
  readonly address: string;
  /** Why it is not used; empty if it is. */
  readonly flags: readonly string[];
  readonly requests: number;
  readonly errors: number;
  /** The last connection that could not be opened, or request without a response in time. */
  readonly failure?: {
    readonly at: number;
    readonly reason: string;
    readonly isOver: boolean;
    readonly isTimeout: boolean;
  };
}

/** The hosts of upstreams, by the name of their cluster. */
export type UpstreamHosts = ReadonlyMap<string, readonly UpstreamHost[]>;

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
  return new Map(statuses.map((status) => [text(status, 'name'), items(status, 'host_statuses').map(hostOf)]));
}

function hostOf(host: unknown): UpstreamHost {
  const address = text(host, 'address', 'socket_address', 'address');
  const port = text(host, 'address', 'socket_address', 'port_value');
  const counters = new Map(items(host, 'stats').map((stat) => [text(stat, 'name'), Number(text(stat, 'value'))]));
  const failure = dig(host, 'last_failure');
  return {
    address: `${address.includes(':') ? `[${address}]` : address}:${port}`,
    flags: entries(host, 'health_status').flatMap(([name, on]) => (on === true ? [FLAGS[name] ?? name] : [])),
    requests: counters.get('rq_total') ?? 0,
    errors: counters.get('rq_error') ?? 0,
    ...(failure !== undefined && {
      failure: {
        at: Date.parse(text(failure, 'time')),
        reason: text(failure, 'reason'),
        isOver: dig(failure, 'is_over') === true,
        isTimeout: dig(failure, 'is_timeout') === true,
      },
    }),
  };
}

/** Returns a host as a line, e.g. `127.0.0.1:8080 unchecked, 12 requests, 3 errors`. Without checks of its upstream, its health is unknown. */
export function hostLine(
  host: UpstreamHost,
  { checked, now }: { readonly checked: boolean; readonly now: number },
): string {
  const { address, flags, requests, errors, failure } = host;
  const failing = failure && !failure.isOver;
  const health =
    flags.length > 0
      ? flags.join(' ')
      : failing
        ? failure.isTimeout
          ? 'does not respond'
          : 'connections fail'
        : checked
          ? 'healthy'
          : 'unchecked';
  const counted = [
    ...(requests > 0 ? [count(requests, 'request')] : []),
    ...(errors > 0 ? [count(errors, 'error')] : []),
  ];
  return [`${address} ${health}`, ...counted, ...(failure ? [failureText(failure, now)] : [])].join(', ');
}

/** Returns when and why the last connection or request failed. */
export function failureText({ at, reason, isTimeout }: NonNullable<UpstreamHost['failure']>, now: number): string {
  return `last ${isTimeout ? 'timeout' : 'connection failure'} ${agoText(now - at)}: ${reason}`;
}

function agoText(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 120) return `${seconds} s ago`;
  return seconds < 7200 ? `${Math.round(seconds / 60)} min ago` : `${Math.round(seconds / 3600)} h ago`;
}
