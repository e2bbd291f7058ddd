const LONGEST = 60;
/** A longer word, in characters, is not a mistyped name. */
const LONGEST_NAME = 1000;

/** Returns the most similar candidate, if at most a third of its letters differ, or one of two. */
export function nearest(word: string, candidates: Iterable<string>): string | undefined {
  if (word.length > LONGEST_NAME) return undefined;
  const lower = word.toLowerCase();
  let best: string | undefined;
  let least = Math.max(word.length > 1 ? 1 : 0, Math.floor(Math.min(word.length, LONGEST) / 3)) + 1;
  for (const candidate of candidates) {
    const distance = editDistance(lower, candidate.toLowerCase(), least);
    if (distance < least) [best, least] = [candidate, distance];
  }
  return best;
}

/** Returns `did you mean X?` for the nearest candidate, else `known: a, b, c` if there are few. */
export function suggest(word: string, candidates: readonly string[]): string | undefined {
  const near = nearest(word, candidates);
  if (near !== undefined) return `did you mean ${near}?`;
  return candidates.length > 0 && candidates.length <= 12 ? `known: ${candidates.join(', ')}` : undefined;
}

/** Names of one kind often begin alike, such as `upstream-1` and `upstream-2`: only what differs is compared. */
function withoutCommonEnds(a: string, b: string): [string, string] {
  const shorter = Math.min(a.length, b.length);
  let start = 0;
  while (start < shorter && a[start] === b[start]) start++;
  let end = 0;
  while (end < shorter - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end++;
  return [a.slice(start, a.length - end), b.slice(start, b.length - end)];
}

/** Returns the edit distance (insert, delete, replace, swap); `limit` as soon as it is reached. */
function editDistance(left: string, right: string, limit: number): number {
  if (left === right) return 0;
  if (limit <= 1 || Math.abs(left.length - right.length) >= limit || left.length > LONGEST) return limit;
  const [a, b] = withoutCommonEnds(left, right);
  let before: number[] = [];
  let row = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1];
      let cost = Math.min(row[j]! + 1, next[j - 1]! + 1, row[j - 1]! + (same ? 0 : 1));
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) cost = Math.min(cost, before[j - 2]! + 1);
      next.push(cost);
    }
    if (Math.min(...next) >= limit) return limit;
    [before, row] = [row, next];
  }
  return row[b.length]!;
}
