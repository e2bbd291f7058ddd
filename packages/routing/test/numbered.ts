import type { Endpoint, SnapshotUpstream } from '@edge-gateway/core';
import { endpointOf, start, upstreamOf } from './snapshots.ts';

/** An upstream of servers that respond with their index. */
export async function numberedUpstream(
  count: number,
  spec: SnapshotUpstream['spec'] = {},
  partsOf: (i: number) => Partial<Endpoint> = () => ({}),
): Promise<SnapshotUpstream> {
  const servers = await Promise.all(
    Array.from({ length: count }, (_, i) => start((_req, res) => void res.end(`${i}`))),
  );
  const upstream = upstreamOf(servers.map(({ port }, i) => ({ ...endpointOf(port), ...partsOf(i) })));
  return { ...upstream, spec: { ...upstream.spec, ...spec } };
}
