import { parseDuration, wait } from '@edge-gateway/core';
import type { Resolution } from '@edge-gateway/core/schema';
import { shownFailure } from '../errors/field-failure.ts';
import { operationEnded } from './calls.ts';
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
  return wait(delayMs, value, { signal }).catch(() => {
    throw operationEnded();
  });
}
