/** The part of two lists in which they may differ: before and after it they have the same items. */
export interface DifferingRange {
  readonly start: number;
  /** End in the new list. */
  readonly end: number;
  /** End in the previous list. */
  readonly oldEnd: number;
}

/** Comparisons of shorter lists cost less than remembering them. */
const MIN_REMEMBERED = 256;
/** Larger differences are not remembered: they would keep the items of the previous list in memory. */
const MAX_REMEMBERED_ITEMS = 1024;

/** The last comparison of a list. It does not keep the other list in memory. */
interface Comparison {
  readonly before: WeakRef<readonly unknown[]>;
  readonly range: DifferingRange;
  difference?: Difference<unknown>;
}

const comparisons = new WeakMap<readonly unknown[], Comparison>();

/**
 * Returns the range outside of which two lists have the same items, compared by identity. The lists must not be modified later: the
 * steps of one change compare the same long lists.
 */
export function differingRange(now: readonly unknown[], before: readonly unknown[]): DifferingRange {
  if (now.length < MIN_REMEMBERED) return compare(now, before);
  const known = rememberedRange(now, before);
  if (known) return known;
  const range = compare(now, before);
  rememberRange(now, before, range);
  return range;
}

/** Remembers the range of two lists, one of which was made of the other, so that they are not compared. */
export function rememberRange(now: readonly unknown[], before: readonly unknown[], range: DifferingRange): void {
  if (now.length >= MIN_REMEMBERED) comparisons.set(now, { before: new WeakRef(before), range });
}

/** Returns the range of two lists if it is remembered. */
export function rememberedRange(now: readonly unknown[], before: readonly unknown[]): DifferingRange | undefined {
  const known = now.length < MIN_REMEMBERED ? undefined : comparisons.get(now);
  return known?.before.deref() === before ? known.range : undefined;
}

function compare(now: readonly unknown[], before: readonly unknown[]): DifferingRange {
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
  const range = differingRange(now, before);
  const comparison = comparisons.get(now);
  const known = comparison?.before.deref() === before ? comparison : undefined;
  if (known?.difference) return known.difference as Difference<T>;
  const found = differenceIn(range, now, before);
  if (known && found.added.length + found.removed.length <= MAX_REMEMBERED_ITEMS) known.difference = found;
  return found;
}

function differenceIn<T>(
  { start, end, oldEnd }: DifferingRange,
  now: readonly T[],
  before: readonly T[],
): Difference<T> {
  let [fresh, old] = [now.slice(start, end), before.slice(start, oldEnd)];
  if (fresh.length === old.length) {
    const [all, allOld] = [fresh, old];
    fresh = all.filter((item, i) => item !== allOld[i]);
    old = allOld.filter((item, i) => item !== all[i]);
  }
  const [inNow, inBefore] = [new Set(fresh), new Set(old)];
  return { added: fresh.filter((item) => !inBefore.has(item)), removed: old.filter((item) => !inNow.has(item)) };
}
