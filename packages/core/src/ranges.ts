/** The part of two lists in which they may differ: before and after it they have the same items. */
export interface DifferingRange {
  readonly start: number;
  /** End in the new list. */
  readonly end: number;
  /** End in the previous list. */
  readonly oldEnd: number;
}

/** Returns the range outside of which two lists have the same items, compared by identity. */
export function differingRange(now: readonly unknown[], before: readonly unknown[]): DifferingRange {
  const shorter = Math.min(now.length, before.length);
  let start = 0;
  while (start < shorter && now[start] === before[start]) start++;
  let [end, oldEnd] = [now.length, before.length];
  while (end > start && oldEnd > start && now[end - 1] === before[oldEnd - 1]) {
    end--;
    oldEnd--;
  }
  return { start, end, oldEnd };
}

/** Items that only one of two lists of unique items has. */
export interface Difference<T> {
  readonly added: readonly T[];
  readonly removed: readonly T[];
}

/**
 * Returns how two lists of unique items differ. Only items at different places are looked at.
 *
 * @example
 * const { added, removed } = difference(now.virtualHosts, before.virtualHosts);
 */
export function difference<T>(now: readonly T[], before: readonly T[]): Difference<T> {
  const { start, end, oldEnd } = differingRange(now, before);
  let [fresh, old] = [now.slice(start, end), before.slice(start, oldEnd)];
  if (fresh.length === old.length) {
    const [all, allOld] = [fresh, old];
    fresh = all.filter((item, i) => item !== allOld[i]);
    old = allOld.filter((item, i) => item !== all[i]);
  }
  const [inNow, inBefore] = [new Set(fresh), new Set(old)];
  return { added: fresh.filter((item) => !inBefore.has(item)), removed: old.filter((item) => !inNow.has(item)) };
}
