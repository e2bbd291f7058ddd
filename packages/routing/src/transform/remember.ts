/** Shorter values are not cached, in characters. */
const SHORTEST = 64;
/** Maximum size of the cache of one function, in characters of values. */
const CAPACITY = 512 * 1024;

/**
 * Caches results of a pure function for long values: a browser sends its cookies with every request, and parsing them
 * costs far more than a lookup. The oldest entries are evicted first.
 */
export function remember(read: (value: string) => string, capacity = CAPACITY): (value: string) => string {
  const known = new Map<string, string>();
  let held = 0;

  function keep(value: string, given: string): void {
    if (value.length > capacity / 4) return;
    known.set(value, given);
    held += value.length;
    for (const oldest of known.keys()) {
      if (held <= capacity) break;
      known.delete(oldest);
      held -= oldest.length;
    }
  }

  return (value) => {
    if (value.length < SHORTEST) return read(value);
    let given = known.get(value);
    if (given === undefined) keep(value, (given = read(value)));
    return given;
  };
}
