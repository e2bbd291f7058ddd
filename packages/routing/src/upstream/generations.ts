import type { SnapshotUpstream } from '@edge-gateway/core';
import type { Upstreams } from './upstream.ts';

interface Generation {
  readonly upstreams: readonly SnapshotUpstream[];
  waiting: number;
}

/**
 * Delays the removal of upstreams. A request that has a route but still waits for a concern will be forwarded to an
 * upstream that does not count it yet.
 */
export function createGenerations(upstreams: Upstreams) {
  const older = new Set<Generation>();
  let current: Generation = { upstreams: [], waiting: 0 };

  function settle(): void {
    const wanted = new Map(current.upstreams.map((each) => [each.name, each]));
    for (const generation of older) {
      for (const each of generation.upstreams) if (!wanted.has(each.name)) wanted.set(each.name, each);
    }
    upstreams.apply([...wanted.values()]);
  }

  return {
    apply(next: readonly SnapshotUpstream[]) {
      if (current.waiting > 0) older.add(current);
      current = { upstreams: next, waiting: 0 };
      settle();
    },
    /** Keeps the current upstreams until the returned function is called; calling it again has no effect. */
    pinUpstreams() {
      const held = current;
      let released = false;
      held.waiting++;
      return () => {
        if (released) return;
        released = true;
        held.waiting--;
        if (held.waiting === 0 && older.delete(held)) settle();
      };
    },
  };
}
