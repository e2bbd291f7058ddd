import { status } from '@grpc/grpc-js';

/**
 * Codes that reject this request, like a 4xx status over HTTP: the server did not fail. Includes
 * the code for a message that is too large.
 */
const REFUSALS: ReadonlySet<unknown> = new Set([
  status.INVALID_ARGUMENT,
  status.NOT_FOUND,
  status.ALREADY_EXISTS,
  status.PERMISSION_DENIED,
  status.RESOURCE_EXHAUSTED,
  status.FAILED_PRECONDITION,
  status.OUT_OF_RANGE,
  status.UNAUTHENTICATED,
]);

/** Returns true for an error of a call with which the server rejects the request. */
export function isRefusal(error: unknown): boolean {
  return REFUSALS.has((error as { readonly code?: unknown } | null)?.code);
}
