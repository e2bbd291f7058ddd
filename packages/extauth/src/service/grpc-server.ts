import type { sendUnaryData, ServerUnaryCall } from '@grpc/grpc-js';
import { GRPC_STATUSES, type ListeningServer, type Logger } from '@edge-gateway/core';
import { listenGrpcServer } from '@edge-gateway/core/grpc';
import { clientStatusOf } from '../chain/failure.ts';
import { authorization, type CheckResponse } from '../grpc/protocol.ts';
import { rejection, type AuthService } from './auth-service.ts';
import { authRequestOfCheck, configIdOf, type ArrivedCheck } from './check-input.ts';
import { checkResponseOf } from './check-output.ts';
import type { ListenOptions } from './listen-options.ts';

/** Largest message: a request with its headers and the body that Envoy sends. */
const MAX_MESSAGE_BYTES = 4_194_304;
const SERVICE = 'envoy.service.auth.v3.Authorization';

/**
 * Serves `envoy.service.auth.v3.Authorization/Check` and `grpc.health.v1.Health`. The context extension `config_id` of a check names
 * the AuthConfig. Rejects with the error of the socket if it cannot listen.
 *
 * @example
 * const server = await listenGrpc(service, { port: 8083, address: '127.0.0.1', log });
 */
export function listenGrpc(service: AuthService, options: ListenOptions): Promise<ListeningServer> {
  const { log } = options;
  const implementation = {
    Check(call: ServerUnaryCall<ArrivedCheck, CheckResponse>, reply: sendUnaryData<CheckResponse>) {
      if (Number(call.getDeadline()) <= Date.now()) return reply(PAST_DEADLINE);
      const gone = new AbortController();
      call.on('cancelled', () => gone.abort());
      void answer(service, call.request, { signal: gone.signal, log }).then((response) => reply(null, response));
    },
  };
  return listenGrpcServer(
    { name: SERVICE, definition: authorization().service, implementation },
    { ...options, maxBytes: MAX_MESSAGE_BYTES },
  );
}

/** The client no longer waits: running a step could use up a login attempt. */
const PAST_DEADLINE = { code: GRPC_STATUSES.indexOf('DEADLINE_EXCEEDED'), details: 'the deadline has passed' } as const;

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
