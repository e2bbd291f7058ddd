import type { Facts, Logger } from '@edge-gateway/core';

/** Why a field has no value, including the reason that clients do not see. */
export interface Failure {
  readonly reason: string;
  readonly path: readonly (string | number)[];
}

/** Writes a failure to the log of the API of this name. */
export function logFailure(
  { log, name }: { readonly log: Logger; readonly name: string },
  { requestId }: Facts,
  { reason, path }: Failure,
): void {
  log.warn({ api: name, requestId, path: path.join('.'), reason }, 'a field could not be resolved');
}
