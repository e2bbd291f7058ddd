import type { Listener, Route, SnapshotUpstream } from '@edge-gateway/core';
import { whenDone } from '../../forward/harness.ts';
import { http2Gateway, type Http2Gateway, type Http2GatewayParts } from '../../listen/http2/gateway.ts';

/** A gateway in front of a gRPC server, which clients reach over HTTP/1.1 and HTTP/2. */
export async function grpcGateway(
  port: number,
  {
    spec = { useHttp2: true },
    route,
    listener,
    ...parts
  }: {
    readonly spec?: SnapshotUpstream['spec'];
    readonly route?: Partial<Route>;
    readonly listener?: Partial<Listener>;
  } & Omit<Http2GatewayParts, 'upstream'> = {},
): Promise<Http2Gateway> {
  const upstream = { spec, endpoints: [{ address: '127.0.0.1', port, weight: 1 }] };
  const gateway = await http2Gateway({ upstream, ...(route && { route }), ...(listener && { listener }), ...parts });
  whenDone(() => gateway.close());
  return gateway;
}
