import type { ServiceError } from '@grpc/grpc-js';
import type { AuthRequest } from '@edge-gateway/core';
import { expireCall, type GrpcClients } from '@edge-gateway/core/grpc';
import { UnusableAnswer } from '../chain/failure.ts';
import { isRefusal } from '../grpc/refusals.ts';
import { authorization, type CheckRequest, type CheckResponse } from '../grpc/protocol.ts';

/**
 * Asks a server over gRPC. Rejects with `ERR_EXTAUTH_ANSWER` if it rejects the call, otherwise with the error of the call, and with the reason of
 * the signal of the request if that aborts.
 */
export function checkByGrpc(
  clients: GrpcClients,
  { attributes }: CheckRequest,
  { signal, timeoutMs }: Pick<AuthRequest, 'signal'> & { readonly timeoutMs: number },
): Promise<CheckResponse> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason as Error);
    const { client } = clients.client();
    const { path, requestSerialize, responseDeserialize } = authorization().service['Check']!;
    const done = (error: ServiceError | null, answer?: CheckResponse): void => {
      signal?.removeEventListener('abort', cancel);
      if (!error) resolve(answer!);
      else if (signal?.aborted) reject(signal.reason as Error);
      else reject(isRefusal(error) ? rejected(error) : error);
    };
    const options = { deadline: Date.now() + timeoutMs + DEADLINE_MARGIN_MS };
    const request = { attributes };
    const call = client.makeUnaryRequest(path, requestSerialize, responseDeserialize, request, options, done as never);
    const cancel = (): void => (isTimeout(signal?.reason) ? expireCall(call) : call.cancel());
    signal?.addEventListener('abort', cancel, { once: true });
  });
}

/** The step that calls the server ends first. */
const DEADLINE_MARGIN_MS = 1000;

function isTimeout(reason: unknown): boolean {
  return reason instanceof DOMException && reason.name === 'TimeoutError';
}

/** The content of the request may be the cause, so the server did not fail. */
function rejected(cause: ServiceError): UnusableAnswer {
  return new UnusableAnswer(`the auth server rejected the call with code ${cause.code}`, { answered: 400, cause });
}
