import { GatewayError } from '@edge-gateway/core';

/** A transformation that cannot be compiled: its routes answer 500. */
export function unusable(message: string): GatewayError {
  return new GatewayError(message, { code: 'ERR_ROUTING_OPTION' });
}

/** A request that cannot be transformed; `reason` is for the log only. */
export function badRequest(reason: string): GatewayError {
  return new GatewayError('bad request: the request cannot be transformed', {
    code: 'ERR_ROUTING_TRANSFORMATION',
    status: 400,
    cause: new Error(reason),
  });
}
