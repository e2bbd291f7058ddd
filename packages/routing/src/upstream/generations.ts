import type { SnapshotUpstream } from '@edge-gateway/core';
import type { Upstreams } from './upstream.ts';

interface Generation {
  readonly upstreams: readonly SnapshotUpstream[];
  waiting: number;
}

/**
 * Adds upstreams before they are used, and delays their removal. A request that has a route but still waits for a concern will be forwarded to an
 * upstream that does not count it yet.
 */
export function createGenerations(upstreams: Upstreams) {
  const older = new Set<Generation>();
  let current: Generation = { upstreams: [], waiting: 0 };
  /** Those of the next snapshot, while it is compiled. */
  let coming: readonly SnapshotUpstream[] = [];

  function settle(): void {
    const wanted = new Map(current.upstreams.map((each) => [each.name, each]));
    for (const { upstreams: more } of [...older, { upstreams: coming }])
      for (const each of more) if (!wanted.has(each.name)) wanted.set(each.name, each);
    upstreams.apply([...wanted.values()]);
  }

  return {
    /** Adds the upstreams that only the next snapshot has. All others stay as they are until `apply`. */
    prepare(next: readonly SnapshotUpstream[]) {
      coming = next;
      if (next.some(({ name }) => !upstreams.get(name))) settle();
    },
    apply(next: readonly SnapshotUpstream[]) {
      coming = [];
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
