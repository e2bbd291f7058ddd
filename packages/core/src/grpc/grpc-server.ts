import type { SecureContextOptions } from 'node:tls';
import type { Server, ServerCredentials, ServiceDefinition, UntypedServiceImplementation } from '@grpc/grpc-js';
import type { ListeningServer, ServerAddress, ServerTls } from '../http/listening-server.ts';
import { createHealthService } from './health-service.ts';
import { grpcLibrary } from './library.ts';

const MAX_STREAMS = 1000;

/** One service of a server. */
export interface GrpcService {
  /** With its package, e.g. `envoy.service.auth.v3.Authorization`. */
  readonly name: string;
  readonly definition: ServiceDefinition;
  readonly implementation: UntypedServiceImplementation;
}

/** Options of {@link listenGrpcServer}. */
export interface GrpcServerOptions extends ServerAddress {
  /** Largest message of a client, before and after decompression. */
  readonly maxBytes: number;
  /** Clients must respond to a ping after this time without traffic, in milliseconds; otherwise their connection is closed. Default: no pings. */
  readonly keepaliveMs?: number;
}

/** A gRPC server that listens. */
export interface GrpcServer extends ListeningServer {
  /** Replaces the certificate for new connections. Has no effect on a plain-text server. */
  replaceTls(tls: ServerTls): void;
}

/**
 * Serves a service and `grpc.health.v1.Health`. Rejects with the error of the socket if it cannot listen.
 *
 * @example
 * const service = { name: 'shop.v1.Orders', definition: Orders.service, implementation: { Get: getOrder } };
 * const server = await listenGrpcServer(service, { address: '127.0.0.1', port: 9000, maxBytes: 65_536 });
 */
export async function listenGrpcServer(service: GrpcService, options: GrpcServerOptions): Promise<GrpcServer> {
  const { address, port, tls, maxBytes, keepaliveMs } = options;
  const { Server, ServerCredentials } = grpcLibrary();
  const health = createHealthService(['', service.name]);
  const server = new Server({
    'grpc.max_receive_message_length': maxBytes,
    'grpc.max_concurrent_streams': MAX_STREAMS,
    ...(keepaliveMs !== undefined && {
      'grpc.keepalive_time_ms': keepaliveMs,
      'grpc.keepalive_timeout_ms': keepaliveMs,
    }),
  });
  server.addService(service.definition, service.implementation);
  server.addService(health.definition, health.implementation);
  const secure = tls && replaceableCredentials(tls);
  const bound = await bind(server, secure ?? ServerCredentials.createInsecure(), {
    address: address.includes(':') ? `[${address}]` : address,
    port,
  });
  return {
    port: bound,
    drain() {
      health.setServing(false);
      return new Promise((resolve) => server.tryShutdown(() => resolve()));
    },
    close: () => server.forceShutdown(),
    replaceTls: (next) => secure?.replace(next),
  };
}

/** Creates a certificate that can be replaced while the server listens. */
function replaceableCredentials(first: ServerTls): ServerCredentials & { replace(tls: ServerTls): void } {
  const needsClient = first.clientCa !== undefined;
  class ReplaceableCredentials extends grpcLibrary().ServerCredentials {
    replace(tls: ServerTls): void {
      this.updateSecureContextOptions(contextOf(tls));
    }

    override _equals(other: ServerCredentials): boolean {
      return other === this;
    }
  }
  return new ReplaceableCredentials({ requestCert: needsClient, rejectUnauthorized: needsClient }, contextOf(first));
}

function contextOf({ certificate, key, clientCa }: ServerTls): SecureContextOptions {
  return { cert: certificate, key, ...(clientCa !== undefined && { ca: clientCa }) };
}

function bind(
  server: Server,
  credentials: ServerCredentials,
  { address, port }: { readonly address: string; readonly port: number },
): Promise<number> {
  return new Promise((resolve, reject) => {
    server.bindAsync(`${address}:${port}`, credentials, (error, bound) =>
      error ? reject(withCode(error)) : resolve(bound),
    );
  });
}

/** Sets the code of the socket's error, which gRPC only mentions in its message. */
function withCode(error: Error): Error {
  const [code] = /\bE[A-Z]{4,}\b/.exec(error.message) ?? [];
  return code === undefined ? error : Object.assign(error, { code });
}
