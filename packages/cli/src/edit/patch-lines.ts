/** A comparison of more lines than this would take too long. */
const MAX_CELLS = 4_000_000;

/**
 * Applies the difference between two renderings of a text to the text as it was written, so that unchanged lines keep their
 * layout. Returns `undefined` if the texts are too long to compare. The caller must check that the result means the same as
 * `after`.
 */
export function patchLines(written: string, before: string, after: string): string | undefined {
  const [own, from, to] = [written, before, after].map((text) => text.split('\n')) as [string[], string[], string[]];
  const related = commonLines(from.map(compact), own.map(compact));
  const kept = commonLines(from, to);
  if (!related || !kept) return undefined;
  const ownOf = new Map(related);
  const lines: string[] = [];
  let last = { from: -1, own: -1, to: -1 };
  for (const [line, target] of [...kept, [from.length, to.length] as const]) {
    const mine = line === from.length ? own.length : ownOf.get(line);
    if (mine === undefined) continue;
    const [oldLines, newLines] = [from.slice(last.from + 1, line), to.slice(last.to + 1, target)];
    const isSame = oldLines.length === newLines.length && oldLines.every((text, i) => text === newLines[i]);
    lines.push(...(isSame ? own.slice(last.own + 1, mine) : newLines), ...own.slice(mine, mine + 1));
    last = { from: line, own: mine, to: target };
  }
  return lines.join('\n');
}

const compact = (line: string): string => line.replaceAll(/\s+/g, '');

/** Returns the index pairs of a longest common subsequence, in ascending order. */
function commonLines(a: readonly string[], b: readonly string[]): (readonly [number, number])[] | undefined {
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start++;
  let end = 0;
  while (end < a.length - start && end < b.length - start && a.at(-1 - end) === b.at(-1 - end)) end++;
  const middle = middlePairs(a.slice(start, a.length - end), b.slice(start, b.length - end));
  return (
    middle && [
      ...Array.from({ length: start }, (_, i) => [i, i] as const),
      ...middle.map(([i, j]) => [i + start, j + start] as const),
      ...Array.from({ length: end }, (_, i) => [a.length - end + i, b.length - end + i] as const),
    ]
  );
}

function middlePairs(a: readonly string[], b: readonly string[]): [number, number][] | undefined {
  const width = b.length + 1;
  if ((a.length + 1) * width > MAX_CELLS) return undefined;
  // The length of a longest common subsequence of the lines from i and j on.
  const lengths = new Uint32Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; i--)
    for (let j = b.length - 1; j >= 0; j--)
      lengths[i * width + j] =
        a[i] === b[j]
          ? lengths[(i + 1) * width + j + 1]! + 1
          : Math.max(lengths[(i + 1) * width + j]!, lengths[i * width + j + 1]!);
  const pairs: [number, number][] = [];
  for (let [i, j] = [0, 0]; i < a.length && j < b.length;) {
    if (a[i] === b[j]) pairs.push([i++, j++]);
    else if (lengths[(i + 1) * width + j]! >= lengths[i * width + j + 1]!) i++;
    else j++;
  }
  return pairs;
}
