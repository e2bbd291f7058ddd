const SPECIAL = /[\\^$.|?*+()[\]{}]/;

/**
 * The text that every match of an RE2 expression begins with, as far as that is plain to see; often empty.
 * It lets expressions stand in the same index as prefixes.
 */
export function literalPrefix(pattern: string): string {
  if (pattern.includes('|') || pattern.startsWith('(?')) return '';
  const start = pattern.startsWith('^') ? 1 : 0;
  let end = start;
  while (end < pattern.length && !SPECIAL.test(pattern[end]!)) end++;
  // A quantifier makes the character before it optional.
  if (end < pattern.length && '?*{+'.includes(pattern[end]!)) end = Math.max(start, end - 1);
  return pattern.slice(start, end);
}
