import type { WrittenResource } from './source.ts';
import { createYielder } from '../time/slices.ts';
import { stampOf } from './listing.ts';

/** Milliseconds after which a file that keeps changing is read anyway. */
const CEILING_MS = 400;
/** Milliseconds after its change during which a broken or empty file counts as half-written. */
const SETTLE_MS = 300;

interface Change {
  readonly since: number;
  last: number;
  stamp: string;
  /** Its content, if it looked half-written. */
  written?: readonly WrittenResource[];
}

/** A changed file that is stable. */
export interface Settled {
  readonly stamp: string;
  readonly written: readonly WrittenResource[];
}

/** Changed files that are not stable yet. Times are milliseconds of a monotonic clock. */
export interface Pending {
  readonly size: number;
  /** Records a change that was just observed. */
  touch(path: string, now: number): void;
  /** Records a change of a stable file, found by comparison. */
  add(path: string, stamp: string, now: number): void;
  /** Removes and returns the stable files with their content: no documents if the file is gone. */
  settled(now: number): Promise<ReadonlyMap<string, Settled>>;
  clear(): void;
}

export function createPending(
  debounceMs: number,
  read: (path: string) => Promise<readonly WrittenResource[]>,
): Pending {
  const changes = new Map<string, Change>();

  async function look(path: string, change: Change, now: number): Promise<readonly WrittenResource[] | undefined> {
    const waited = now - change.since;
    if (now - change.last < debounceMs && waited < CEILING_MS) return undefined;
    const stamp = stampOf(path);
    const moved = stamp !== change.stamp;
    change.stamp = stamp;
    if (moved) delete change.written;
    if (moved && waited < CEILING_MS) return undefined;
    if (stamp === 'gone') return [];
    const written = change.written ?? (await read(path));
    // It changed while it was read.
    if (changes.get(path) !== change) return undefined;
    if (waited >= SETTLE_MS || !looksHalfWritten(written)) return written;
    change.written = written;
    return undefined;
  }

  return {
    get size() {
      return changes.size;
    },
    touch(path, now) {
      const since = changes.get(path)?.since ?? now;
      changes.set(path, { since, last: now, stamp: stampOf(path) });
    },
    add(path, stamp, now) {
      if (!changes.has(path)) changes.set(path, { since: now, last: now - debounceMs, stamp });
    },
    async settled(now) {
      const settled = new Map<string, Settled>();
      const yieldIfDue = createYielder();
      for (const path of changes.keys()) {
        await yieldIfDue();
        const change = changes.get(path);
        if (!change) continue;
        const written = await look(path, change, now);
        if (!written) continue;
        changes.delete(path);
        settled.set(path, { stamp: change.stamp, written });
      }
      return settled;
    },
    clear: () => changes.clear(),
  };
}

function looksHalfWritten(written: readonly WrittenResource[]): boolean {
  return written.some(({ issues }) => issues.some(({ severity }) => severity === 'error'));
}
