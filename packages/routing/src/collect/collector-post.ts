import type { CallUpstream } from '@edge-gateway/core';
import type { Upstreams } from '../upstream/upstream.ts';

const MAX_RESPONSE_BYTES = 65_536;

/** One POST to an upstream of the snapshot, found by its cluster name at each call. */
export interface CollectorPost {
  readonly path: string;
  /** Flat, names in lower case. */
  readonly headers: readonly string[];
  readonly body: string | Uint8Array;
  readonly timeoutMs: number;
}

/** Sends a POST to a collector. Rejects if it does not exist, cannot be reached, or responds with another status than 2xx. */
export async function postToCluster(
  { upstreams, call }: { readonly upstreams: Upstreams; readonly call: CallUpstream | undefined },
  cluster: string,
  { path, headers, body, timeoutMs }: CollectorPost,
): Promise<void> {
  const ref = upstreams.get(cluster)?.snapshot.ref;
  if (!ref || !call) throw new Error(`the upstream ${cluster} does not exist`);
  const maxBodyBytes = MAX_RESPONSE_BYTES;
  const { status } = await call(ref, { method: 'POST', path, headers, body, timeoutMs, maxBodyBytes });
  if (status < 200 || status > 299) throw new Error(`the collector responded with status ${status}`);
}
