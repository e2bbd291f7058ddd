import type { UpstreamSpec } from '../schema/kind/upstream.ts';
import type { ServiceSpec } from '../schema/upstream/service-spec.ts';

/** HTTP version of the requests to an upstream; `downstream` is that of the client. */
export type UpstreamHttpVersion = 'http1' | 'http2' | 'downstream';

/**
 * Returns the HTTP version of the requests to an upstream: `useHttp2`, which gRPC services imply, unless `protocolSelection` chooses
 * that of the client.
 *
 * @example
 * upstreamHttpVersion({ useHttp2: true }); // 'http2'
 */
export function upstreamHttpVersion(spec: UpstreamSpec): UpstreamHttpVersion {
  if (spec.protocolSelection === 'USE_DOWNSTREAM_PROTOCOL') return 'downstream';
  return (spec.useHttp2 ?? isGrpcService(spec)) ? 'http2' : 'http1';
}

function isGrpcService(spec: UpstreamSpec): boolean {
  return Object.values(spec).some((type: unknown) => {
    const service =
      typeof type === 'object' && type !== null ? (type as { serviceSpec?: ServiceSpec }).serviceSpec : undefined;
    return service?.grpc !== undefined || service?.grpcJsonTranscoder !== undefined;
  });
}
