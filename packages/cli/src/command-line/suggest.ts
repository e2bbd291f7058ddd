/** How many letters have to be changed, added, dropped or swapped with their neighbour to make `to` of `from`. */
export function editDistance(from: string, to: string): number {
  const rows: number[][] = [Array.from({ length: to.length + 1 }, (_, j) => j)];
  for (let i = 1; i <= from.length; i++) {
    const row = [i];
    for (let j = 1; j <= to.length; j++) {
      const same = from[i - 1] === to[j - 1];
      row[j] = Math.min(rows[i - 1]![j]! + 1, row[j - 1]! + 1, rows[i - 1]![j - 1]! + (same ? 0 : 1));
      if (!same && i > 1 && j > 1 && from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1]) {
        row[j] = Math.min(row[j]!, rows[i - 2]![j - 2]! + 1);
      }
    }
    rows.push(row);
  }
  return rows[from.length]![to.length]!;
}

const LONGEST = 100;

/** The known word nearest to a mistyped one; `undefined` when none is near enough to be meant. */
export function nearest(word: string, known: readonly string[]): string | undefined {
  if (word.length > LONGEST) return undefined;
  const limit = Math.max(1, Math.floor(word.length / 3));
  const near = known
    .filter((one) => one.length <= LONGEST)
    .map((one) => ({ one, distance: editDistance(word.toLowerCase(), one.toLowerCase()) }))
    .filter(({ distance }) => distance <= limit)
    .sort((a, b) => a.distance - b.distance);
  return near[0]?.one;
}

/** ` (did you mean "x"?)`, or nothing when no known word is near. */
export function didYouMean(word: string, known: readonly string[]): string {
  const one = nearest(word, known);
  return one === undefined ? '' : ` (did you mean "${one}"?)`;
}
