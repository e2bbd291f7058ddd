import type { IncomingMessage } from 'node:http';
import type { GatewayError } from '@edge-gateway/core';
import { routingError } from '../error-codes.ts';

/**
 * Returns the error for a request of the compatibility API of `node:http2`, or `undefined`. Its headers include pseudo-header fields and do
 * not indicate whether there is a body, so the message forwarded over HTTP/1.1 would differ.
 */
export function compatibilityProblem(req: Pick<IncomingMessage, 'httpVersionMajor'>): GatewayError | undefined {
  if (req.httpVersionMajor < 2) return undefined;
  return routingError('ERR_ROUTING_VERSION', 'a node:http2 server cannot forward requests: use createListeners');
}
