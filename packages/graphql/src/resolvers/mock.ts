import { parseDuration } from '@edge-gateway/core';
import type { Resolution } from '@edge-gateway/core/schema';
import { FieldFailure, shownFailure } from '../api/field-failure.ts';
import type { Resolve } from './resolver.ts';

/** Compiles a resolver that makes no request: it returns a value, at once or after a delay, or an error. */
export function compileMock(mock: NonNullable<Resolution['mockResolver']>): Resolve {
  const { syncResponse, asyncResponse, errorResponse } = mock;
  if (errorResponse !== undefined) {
    return () => {
      throw shownFailure(errorResponse);
    };
  }
  if (!asyncResponse) return () => syncResponse;
  const delayMs = asyncResponse.delay === undefined ? 0 : parseDuration(asyncResponse.delay);
  return (_parent, _args, { calls }) => later(asyncResponse.response, delayMs, calls.signal);
}

function later(value: unknown, delayMs: number, signal: AbortSignal): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const abort = (): void => {
      clearTimeout(timer);
      reject(new FieldFailure('the operation has ended', { code: 'ERR_GRAPHQL_TIMEOUT' }));
    };
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', abort);
      resolve(value);
    }, delayMs);
    if (signal.aborted) abort();
    else signal.addEventListener('abort', abort, { once: true });
  });
}
