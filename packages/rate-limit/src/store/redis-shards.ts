/**
 * Hash tags whose slots are spread evenly over the 16,384 of a cluster. All keys with one tag can be charged in one command, so that a
 * turn of the event loop needs at most as many commands as there are tags.
 */
// prettier-ignore
export const HASH_TAGS: readonly string[] = [
  '18', '5x', 'dj', '223', 'd2', '22k', 'uh', '2g9', '265', '22u', 'uv', 'q6', '9s', '5f', 'dt', 'ha',
];

/** Returns the hash tag of a key. */
export function hashTagOf(key: string): string {
  let hash = 0x811c9dc5;
  for (let i = 0; i < key.length; i++) hash = Math.imul(hash ^ key.charCodeAt(i), 0x01000193);
  return HASH_TAGS[(hash ^ (hash >>> 15)) & (HASH_TAGS.length - 1)]!;
}
