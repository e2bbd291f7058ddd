import type { IncomingMessage } from 'node:http';
import { GatewayError, restoreBody } from '@edge-gateway/core';
import { clientError } from '../chain/failure.ts';

/**
 * Returns the body that an earlier parser consumed: its bytes if the parser kept them, otherwise JSON, a form or text
 * serialized again. Throws `ERR_EXTAUTH_REQUEST` (400) for a body that cannot be restored, and `ERR_EXTAUTH_CONFIG`
 * if earlier middleware consumed the body and left nothing of it.
 */
export function parsedBody(req: IncomingMessage): Buffer {
  const restored = restoreBody(req);
  if (restored.bytes) return restored.bytes;
  const message = `the body was read before external auth: ${restored.reason}`;
  if (!restored.isMissing) throw clientError(message, 400);
  throw new GatewayError(`${message}; mount external auth first`, { code: 'ERR_EXTAUTH_CONFIG' });
}
