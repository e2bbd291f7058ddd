import type { sendUnaryData, ServerUnaryCall, ServiceError } from '@grpc/grpc-js';
import { GatewayError, GRPC_STATUSES, type ListeningServer, type Logger, type ServerAddress } from '@edge-gateway/core';
import { listenGrpcServer } from '@edge-gateway/core/grpc';
import { rateLimitService, SERVICE_NAME, type WireRequest, type WireResponse } from '../protocol/messages.ts';
import type { RateLimitService } from './rate-limit-service.ts';

/** Largest message, before and after decompression: descriptors with the longest header values that proxies accept. */
const MAX_MESSAGE_BYTES = 1_048_576;
/** Time for the store if a call has no deadline, or a later one. */
export const MAX_CHECK_MS = 5000;

/** Where a rate limit server listens. */
export interface RateLimitListenOptions extends ServerAddress {
  readonly log: Logger;
}

/**
 * Serves `envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit` and `grpc.health.v1.Health`. Fails a call with INVALID_ARGUMENT if its
 * request is invalid, with UNAVAILABLE if it cannot be counted: the proxy then allows or rejects the request, and with DEADLINE_EXCEEDED,
 * uncounted, if its deadline has passed. Rejects with the error of the socket if it cannot listen.
 *
 * @example
 * const server = await listenRateLimitGrpc(service, { port: 18081, address: '127.0.0.1', log });
 */
export function listenRateLimitGrpc(
  service: RateLimitService,
  { log, ...address }: RateLimitListenOptions,
): Promise<ListeningServer> {
  const ShouldRateLimit = (
    call: ServerUnaryCall<WireRequest, WireResponse>,
    reply: sendUnaryData<WireResponse>,
  ): void => {
    const fail = (error: unknown): void => reply(errorOf(error, log));
    const leftMs = checkMs(call);
    if (leftMs <= 0) return reply(PAST_DEADLINE);
    try {
      const response = service.check(call.request, leftMs);
      if (response instanceof Promise) response.then((each) => reply(null, each), fail);
      else reply(null, response);
    } catch (error) {
      fail(error);
    }
  };
  return listenGrpcServer(
    { name: SERVICE_NAME, definition: rateLimitService().service, implementation: { ShouldRateLimit } },
    { ...address, maxBytes: MAX_MESSAGE_BYTES },
  );
}

/** Returns the number of a gRPC status. */
const codeOf = (name: string): number => GRPC_STATUSES.indexOf(name);

/** The client no longer waits for the response. */
const PAST_DEADLINE = { code: codeOf('DEADLINE_EXCEEDED'), details: 'the deadline has passed' } as const;

/** Returns the time that is left for a call, in milliseconds; not more than 0 if its deadline has passed. */
function checkMs(call: ServerUnaryCall<WireRequest, WireResponse>): number {
  return Math.min(Number(call.getDeadline()) - Date.now(), MAX_CHECK_MS);
}

function errorOf(error: unknown, log: Logger): Pick<ServiceError, 'code' | 'details'> {
  if (error instanceof GatewayError && error.code === 'ERR_RATE_LIMIT_REQUEST') {
    log.info({ err: error }, 'check rejected');
    return { code: codeOf('INVALID_ARGUMENT'), details: error.message };
  }
  log.debug({ err: error }, 'check failed');
  return { code: codeOf('UNAVAILABLE'), details: 'the request cannot be counted' };
}
