/**
 * Returns true if a path begins with one of these prefixes, which end with a dot. The time depends on the parts of the path, not on the number
 * of prefixes.
 *
 * @example
 * isBelow('cluster.cart.upstream_rq_total', new Set(['cluster.cart.'])); // true
 */
export function isBelow(path: string, prefixes: ReadonlySet<string>): boolean {
  for (let end = path.indexOf('.'); end >= 0; end = path.indexOf('.', end + 1)) {
    if (prefixes.has(path.slice(0, end + 1))) return true;
  }
  return false;
}
