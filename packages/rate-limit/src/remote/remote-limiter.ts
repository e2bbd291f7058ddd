import type { ServiceError } from '@grpc/grpc-js';
import { clusterName, gatewayNamespace, type Context } from '@edge-gateway/core';
import { createGrpcClients, type GrpcClients } from '@edge-gateway/core/grpc';
import type { RateLimitServer } from '@edge-gateway/core/schema';
import { rateLimitError } from '../error-codes.ts';
import type { Decision, Limiter } from '../limiter.ts';
import { rateLimitService, type WireRequest, type WireResponse } from '../protocol/messages.ts';
import { toWireDescriptor } from '../protocol/wire-descriptor.ts';
import { decisionOfResponse } from './decision-of-response.ts';

/** Largest response, before and after decompression. */
const MAX_RESPONSE_BYTES = 1_048_576;

/** A server with the reference to its upstream. */
export type RemoteServer = RateLimitServer & Required<Pick<RateLimitServer, 'ratelimitServerRef'>>;

/**
 * Creates a limiter that calls the server of `ratelimitServerRef` over gRPC. While its upstream does not exist, `embedded` decides.
 * Checks reject with `ERR_RATE_LIMIT_SERVICE` if the server fails or does not respond in time. All limiters of a context share the
 * connections to a server, which open before the listeners do.
 *
 * @example
 * const concerns = createRateLimit({ createRemoteLimiter });
 */
export function createRemoteLimiter(
  { ratelimitServerRef: { name = '', namespace }, grpcService }: RemoteServer,
  embedded: Limiter,
  { callUpstream, secrets, state, holdListeners }: Context,
): Limiter {
  const ref = { name, namespace: namespace || gatewayNamespace() };
  const cluster = clusterName(ref);
  const authority = grpcService?.authority ?? '';
  const find = () => callUpstream?.find?.(ref);
  const clients = state(`rateLimit.service ${cluster} ${authority}`, () =>
    createGrpcClients(() => find()?.snapshot, {
      secrets,
      maxBytes: MAX_RESPONSE_BYTES,
      pick: () => find()?.pick(),
      failure: (reason) => serviceError(cluster, reason),
      ...(authority !== '' && { authority }),
    }),
  );
  if (find()) {
    const connected = clients.connect();
    holdListeners?.(`the connection to the rate limit server ${cluster}`, connected);
  }
  return {
    check(domain, descriptors, deadlineMs) {
      if (!find()) return embedded.check(domain, descriptors, deadlineMs);
      const request = { domain, descriptors: descriptors.map((each) => toWireDescriptor(each, domain)) };
      return ask(clients, request, { cluster, deadlineMs });
    },
  };
}

function ask(
  clients: GrpcClients,
  request: WireRequest,
  { cluster, deadlineMs }: { readonly cluster: string; readonly deadlineMs: number },
): Promise<Decision> {
  return new Promise((resolve, reject) => {
    const { client } = clients.client();
    const { path, requestSerialize, responseDeserialize } = rateLimitService().service['ShouldRateLimit']!;
    const done = (error: ServiceError | null, response?: WireResponse): void => {
      if (error) return reject(serviceError(cluster, `the call failed with code ${error.code}`, error));
      try {
        resolve(decisionOfResponse(response!));
      } catch (invalid) {
        reject(invalid as Error);
      }
    };
    const options = { deadline: Date.now() + deadlineMs };
    client.makeUnaryRequest(path, requestSerialize, responseDeserialize, request, options, done as never);
  });
}

function serviceError(cluster: string, reason: string, cause?: unknown) {
  return rateLimitError('ERR_RATE_LIMIT_SERVICE', `${cluster}: ${reason}`, { cause });
}
