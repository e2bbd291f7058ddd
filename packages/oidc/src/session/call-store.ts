import { failure } from '../error-codes.ts';

/** A call to a store fails after this time, as a command to Redis does. */
const DEADLINE_MS = 1000;

/** Calls a store. Rejects with `ERR_OIDC_STORE_UNAVAILABLE` for any error, and if the store does not respond within a second. */
export function callStore<T>(start: (done: (error: unknown, value?: T) => void) => void): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const fail = (error: unknown): void => reject(failure('ERR_OIDC_STORE_UNAVAILABLE', undefined, error));
    const timer = setTimeout(() => fail(new Error('the session store did not respond in time')), DEADLINE_MS);
    try {
      start((error, value) => {
        clearTimeout(timer);
        if (error) fail(error);
        else resolve(value as T);
      });
    } catch (error) {
      clearTimeout(timer);
      fail(error);
    }
  });
}
