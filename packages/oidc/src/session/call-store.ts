import { withDeadline } from '@edge-gateway/core';
import { failure } from '../error-codes.ts';

/** A call to a store fails after this time, as a command to Redis does. */
const DEADLINE_MS = 1000;

/** Calls a store. Rejects with `ERR_OIDC_STORE_UNAVAILABLE` for any error, and if the store does not respond within a second. */
export async function callStore<T>(start: (done: (error: unknown, value?: T) => void) => void): Promise<T> {
  const called = new Promise<T>((resolve, reject) =>
    start((error, value) => (error ? reject(error) : resolve(value as T))),
  );
  try {
    return await withDeadline(called, DEADLINE_MS);
  } catch (error) {
    throw failure('ERR_OIDC_STORE_UNAVAILABLE', undefined, error);
  }
}
