import { createRequire } from 'node:module';
import { keepSessionsOfFailedStreams } from '../http/failed-http2-streams.ts';

const require = createRequire(import.meta.url);

/** Loads the gRPC library with the first client or server: most gateways have none. */
export function grpcLibrary(): typeof import('@grpc/grpc-js') {
  keepSessionsOfFailedStreams();
  return require('@grpc/grpc-js') as typeof import('@grpc/grpc-js');
}

/** Loads what reads definitions with the first service. */
export const protoLoader = () => require('@grpc/proto-loader') as typeof import('@grpc/proto-loader');
