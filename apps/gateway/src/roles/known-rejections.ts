import type { ProxyRejection, Snapshot } from '@edge-gateway/core';
import { TYPE } from '@edge-gateway/xds/resources';

/** All parts of the current snapshot that cannot be compiled; each change reports only new ones. */
export interface KnownRejections {
  /** Adds new rejections, and removes those of parts that changed since `before`, what was served, or no longer exist. */
  update(now: Snapshot, before: Snapshot | undefined, failed: readonly ProxyRejection[]): void;
  replace(rejections: readonly ProxyRejection[]): void;
}

/** Creates it without rejections. `onChange` is called in a later turn, because it may cause the next snapshot. */
export function createKnownRejections(onChange: (rejections: readonly ProxyRejection[]) => void): KnownRejections {
  let known: readonly ProxyRejection[] = [];
  const set = (next: readonly ProxyRejection[]): void => {
    if (next.length === 0 && known.length === 0) return;
    known = next;
    setImmediate(() => onChange(known));
  };
  return {
    update(now, before, failed) {
      if (known.length === 0 && failed.length === 0) return;
      const parts = partsOf(now);
      const old = before ? partsOf(before) : new Map<string, unknown>();
      const isNew = new Set(failed.map(({ type, resource }) => `${type} ${resource}`));
      const kept = known.filter(({ type, resource }) => {
        if (isNew.has(`${type} ${resource}`)) return false;
        const part = parts.get(`${type} ${resource}`);
        return part !== undefined && part === old.get(`${type} ${resource}`);
      });
      set([...kept, ...failed]);
    },
    replace: set,
  };
}

/** Returns the virtual hosts and the options of listeners by the name of their resource. */
function partsOf({ listeners }: Snapshot): Map<string, unknown> {
  const parts = new Map<string, unknown>();
  for (const { name, httpOptions, virtualHosts, parts: inner = [] } of listeners) {
    parts.set(`${TYPE.listener} ${name}`, httpOptions);
    for (const host of virtualHosts) parts.set(`${TYPE.virtualHost} ${name}/${host.name}`, host);
    for (const { http } of inner) {
      if (!http) continue;
      parts.set(`${TYPE.listener} ${http.name}`, http.httpOptions);
      for (const host of http.virtualHosts) parts.set(`${TYPE.virtualHost} ${http.name}/${host.name}`, host);
    }
  }
  return parts;
}
