import { Server, ServerCredentials, type sendUnaryData, type ServerUnaryCall } from '@grpc/grpc-js';
import type { Logger } from '@edge-gateway/core';
import { createHealthService } from '@edge-gateway/core/grpc';
import { clientStatusOf } from '../chain/failure.ts';
import { Authorization, type CheckResponse } from '../grpc/protocol.ts';
import { rejection, type AuthService } from './auth-service.ts';
import { authRequestOfCheck, configIdOf, type ArrivedCheck } from './check-input.ts';
import { checkResponseOf } from './check-output.ts';
import type { CheckServer, ListenOptions } from './listen-options.ts';

/** Largest message: a request with its headers and the body that Envoy sends. */
const MAX_MESSAGE_BYTES = 4_194_304;
const MAX_STREAMS = 1000;
const SERVICE = 'envoy.service.auth.v3.Authorization';

/**
 * Serves `envoy.service.auth.v3.Authorization/Check` and `grpc.health.v1.Health`. The context extension `config_id` of a check names
 * the AuthConfig. Rejects with the error of the socket if it cannot listen.
 *
 * @example
 * const server = await listenGrpc(service, { port: 8083, address: '127.0.0.1', log });
 */
export async function listenGrpc(service: AuthService, options: ListenOptions): Promise<CheckServer> {
  const { log, tls, address, port } = options;
  const health = createHealthService(['', SERVICE]);
  const server = new Server({
    'grpc.max_receive_message_length': MAX_MESSAGE_BYTES,
    'grpc.max_concurrent_streams': MAX_STREAMS,
  });
  server.addService(Authorization.service, {
    Check(call: ServerUnaryCall<ArrivedCheck, CheckResponse>, reply: sendUnaryData<CheckResponse>) {
      const gone = new AbortController();
      call.on('cancelled', () => gone.abort());
      void answer(service, call.request, { signal: gone.signal, log }).then((response) => reply(null, response));
    },
  });
  server.addService(health.definition, health.implementation);
  const bound = await bind(server, tls ? secure(tls) : ServerCredentials.createInsecure(), {
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
  };
}

/** A failure is a rejection, not an error of gRPC, which `failure_mode_allow` of a proxy would allow. */
async function answer(
  service: AuthService,
  check: ArrivedCheck,
  { signal, log }: { readonly signal: AbortSignal; readonly log: Logger },
): Promise<CheckResponse> {
  const config = configIdOf(check);
  try {
    return checkResponseOf(await service.check(config, authRequestOfCheck(check, signal)));
  } catch (error) {
    const status = clientStatusOf(error);
    log[status === undefined ? 'error' : 'info']({ config, err: error }, 'check rejected');
    return checkResponseOf(rejection(status ?? 403, 'invalid check'));
  }
}

function secure({ certificate, key, clientCa }: NonNullable<ListenOptions['tls']>): ServerCredentials {
  const pair = { cert_chain: Buffer.from(certificate), private_key: Buffer.from(key) };
  return ServerCredentials.createSsl(
    clientCa === undefined ? null : Buffer.from(clientCa),
    [pair],
    clientCa !== undefined,
  );
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
