/** A value that is fetched when first needed, by one call for all who wait, and kept. */
export interface Cached<T> {
  /** The value; an old one is given at once while a new one is fetched. Throws what fetching the first one threw. */
  get(): Promise<T>;
  /** The call that is under way. */
  readonly flight: Promise<T> | undefined;
  /** Fetches anew, or waits for the call under way. Throws what fetching threw. */
  fetchAgain(): Promise<T>;
}

/** After a failed fetch the next is made no sooner than this. */
const COOL_DOWN_MS = 1000;

/** Makes a {@link Cached}: `maxAgeMs` after a fetch the value is old. */
export function createCached<T>(
  fetchValue: () => Promise<T>,
  times: { readonly maxAgeMs: number; readonly now: () => number },
): Cached<T> {
  let stored: { readonly value: T; readonly at: number } | undefined;
  let flight: Promise<T> | undefined;
  let failed: { readonly error: unknown; readonly at: number } | undefined;

  function start(): Promise<T> {
    flight ??= fetchValue()
      .then((value) => {
        stored = { value, at: times.now() };
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
      if (!stored) {
        if (failed && !mayTry()) throw failed.error;
        return start();
      }
      if (times.now() - stored.at >= times.maxAgeMs && mayTry()) start().catch(() => {});
      return stored.value;
    },
    get flight() {
      return flight;
    },
    fetchAgain: start,
  };
}
