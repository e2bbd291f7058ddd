import { failureText, readUpstreamHosts, type UpstreamHost } from '../gateway/upstream-hosts.ts';
import type { Connection } from '../gateway/connection.ts';

/** Older failures may be over: no connection was tried since. */
const RECENT_MS = 3_600_000;
/** Flags of hosts that are used. */
const USED = new Set(['degraded_active_hc', 'pending_active_hc']);

/** Returns the hosts of upstreams that a running proxy cannot use. A proxy that does not respond is left to the check of proxies. */
export async function hostProblems({
  connection,
  readOnly,
}: {
  readonly connection: Connection;
  readonly readOnly: boolean;
}): Promise<string[]> {
  if (readOnly) return [];
  const upstreams = await readUpstreamHosts(connection).catch(() => new Map<string, readonly UpstreamHost[]>());
  const now = Date.now();
  return Array.from(upstreams, ([name, hosts]) =>
    hosts.flatMap((host) => {
      const problem = problemOf(host, now);
      return problem === undefined ? [] : [`Upstream ${name}: ${host.address} ${problem}`];
    }),
  ).flat();
}

function problemOf({ flags, failure }: UpstreamHost, now: number): string | undefined {
  const bad = flags.filter((flag) => !USED.has(flag));
  const failing = failure && !failure.isOver && now - failure.at < RECENT_MS ? failureText(failure, now) : '';
  if (bad.length > 0) return ['is not healthy', bad.join(' '), failing].filter(Boolean).join(', ');
  return failing ? `${failure!.isTimeout ? 'does not respond' : 'cannot be connected'}, ${failing}` : undefined;
}
