import { GRPC_STATUSES } from '@edge-gateway/core';

/**
 * Codes that reject this request, like a 4xx status over HTTP: the server did not fail. Includes
 * the code for a message that is too large.
 */
const REFUSALS: ReadonlySet<unknown> = new Set(
  [
    'INVALID_ARGUMENT',
    'NOT_FOUND',
    'ALREADY_EXISTS',
    'PERMISSION_DENIED',
    'RESOURCE_EXHAUSTED',
    'FAILED_PRECONDITION',
    'OUT_OF_RANGE',
    'UNAUTHENTICATED',
  ].map((name) => GRPC_STATUSES.indexOf(name)),
);

/** Returns true for an error of a call with which the server rejects the request. */
export function isRefusal(error: unknown): boolean {
  return REFUSALS.has((error as { readonly code?: unknown } | null)?.code);
}
