/** True when objects and lists are nested in a value more than `limit` deep. It looks no deeper than that. */
export function isDeeper(value: object, limit: number): boolean {
  if (limit === 0) return true;
  for (const inner of Object.values(value)) {
    if (typeof inner === 'object' && inner !== null && isDeeper(inner as object, limit - 1)) return true;
  }
  return false;
}
