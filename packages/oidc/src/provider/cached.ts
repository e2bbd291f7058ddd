/** A value that is fetched when first needed, by one call for all who wait, and kept. */
export interface Cached<T> {
  /** The value; an old one is given at once while a new one is fetched. Throws what fetching the first one threw. */
  get(): Promise<T>;
  /** Fetches anew, unless that happened within the cool-down or is under way; then what there is. */
  refetch(): Promise<T>;
}

/** After a failed fetch the next is made no sooner than this. */
const COOL_DOWN_MS = 1000;

/** Makes a {@link Cached}: `maxAgeMs` after a fetch the value is old, `coolDownMs` bounds `refetch`. */
export function createCached<T>(
  fetchValue: () => Promise<T>,
  times: { readonly maxAgeMs: number; readonly coolDownMs: number; readonly now: () => number },
): Cached<T> {
  let held: { readonly value: T; readonly at: number } | undefined;
  let flight: Promise<T> | undefined;
  let failed: { readonly error: unknown; readonly at: number } | undefined;

  function start(): Promise<T> {
    flight ??= fetchValue()
      .then((value) => {
        held = { value, at: times.now() };
        failed = undefined;
        return value;
      })
      .catch((error: unknown) => {
        failed = { error, at: times.now() };
        throw error;
      })
      .finally(() => {
        flight = undefined;
      });
    return flight;
  }

  const mayTry = (): boolean => !failed || times.now() - failed.at >= COOL_DOWN_MS;

  return {
    async get() {
      if (!held) {
        if (failed && !mayTry()) throw failed.error;
        return start();
      }
      if (times.now() - held.at >= times.maxAgeMs && mayTry()) start().catch(() => {});
      return held.value;
    },
    async refetch() {
      if (held && (times.now() - held.at < times.coolDownMs || !mayTry())) return flight ?? held.value;
      return start().catch((error: unknown) => {
        if (held) return held.value;
        throw error;
      });
    },
  };
}
