/** A value that is fetched at first use, once for all concurrent callers, and kept. */
export interface Cached<T> {
  /** Returns the value; an old one at once while a new one is fetched. Rejects if the first fetch fails. */
  get(): Promise<T>;
  /** The fetch in progress. */
  readonly flight: Promise<T> | undefined;
  /** Fetches again, or waits for the fetch in progress. Rejects if that fails. */
  fetchAgain(): Promise<T>;
}

/** Minimum time between a failed fetch and the next one. */
const COOL_DOWN_MS = 1000;

/** Creates a {@link Cached}: `maxAgeMs` after a fetch the value is old. */
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
