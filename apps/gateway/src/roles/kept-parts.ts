import type { Listener, ProxyRejection, Snapshot } from '@edge-gateway/core';
import { TYPE } from '@edge-gateway/xds/resources';

/**
 * Returns the snapshot with the previous version of the parts that cannot be compiled, as a proxy serves them; parts without a previous version stay. Returns
 * the same snapshot if there is nothing to replace.
 */
export function withPreviousParts(
  snapshot: Snapshot,
  failed: readonly ProxyRejection[],
  previous: Snapshot | undefined,
): Snapshot {
  if (failed.length === 0 || !previous) return snapshot;
  const isFailed = new Set(failed.map(({ type, resource }) => `${type} ${resource}`));
  const known = new Map(previous.listeners.flatMap(withInner).map((listener) => [listener.name, listener]));
  let isSame = true;

  function keep(listener: Listener): Listener {
    const { name } = listener;
    const before = known.get(name);
    const virtualHosts = listener.virtualHosts.map((host) => {
      if (!isFailed.has(`${TYPE.virtualHost} ${name}/${host.name}`)) return host;
      return before?.virtualHosts.find((each) => each.name === host.name) ?? host;
    });
    const parts = listener.parts?.map(({ http, ...part }) => ({ ...part, ...(http && { http: keep(http) }) }));
    const head = before && isFailed.has(`${TYPE.listener} ${name}`) ? before : listener;
    const isKept =
      head === listener &&
      virtualHosts.every((host, i) => host === listener.virtualHosts[i]) &&
      (parts?.every(({ http }, i) => http === listener.parts![i]!.http) ?? true);
    if (isKept) return listener;
    isSame = false;
    return Object.freeze({ ...head, virtualHosts: Object.freeze(virtualHosts), ...(parts && { parts }) });
  }

  const listeners = snapshot.listeners.map(keep);
  return isSame ? snapshot : Object.freeze({ ...snapshot, listeners: Object.freeze(listeners) });
}

function withInner(listener: Listener): Listener[] {
  return [listener, ...(listener.parts ?? []).flatMap(({ http }) => http ?? [])];
}
