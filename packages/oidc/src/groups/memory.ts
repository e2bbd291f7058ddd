/** Most ids that are kept in all, some 64 bytes each. */
const MAX_IDS = 500_000;

/** Groups by user, bounded by how many they are together. */
export interface GroupMemory {
  get(key: string): readonly string[] | undefined;
  /** `until` in milliseconds since the epoch. */
  set(key: string, groups: readonly string[], until: number): void;
}

interface Entry {
  readonly groups: readonly string[];
  readonly until: number;
}

/** Makes a {@link GroupMemory}: the entry that has been unused for longest goes first. */
export function createGroupMemory(now: () => number, maxIds = MAX_IDS): GroupMemory {
  const entries = new Map<string, Entry>();
  let ids = 0;

  function take(key: string): Entry | undefined {
    const entry = entries.get(key);
    if (!entry) return undefined;
    entries.delete(key);
    ids -= weigh(entry);
    return entry.until > now() ? entry : undefined;
  }

  function put(key: string, entry: Entry): void {
    entries.set(key, entry);
    ids += weigh(entry);
  }

  return {
    get(key) {
      const entry = take(key);
      if (entry) put(key, entry);
      return entry?.groups;
    },
    set(key, groups, until) {
      take(key);
      put(key, { groups, until });
      for (const oldest of entries.keys()) {
        if (ids <= maxIds) break;
        take(oldest);
      }
    },
  };
}

/** A user without groups takes room too. */
function weigh({ groups }: Entry): number {
  return groups.length + 1;
}
