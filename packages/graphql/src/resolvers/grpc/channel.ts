import type { Secrets, SnapshotUpstream } from '@edge-gateway/core';
import { createGrpcClients } from '@edge-gateway/core/grpc';
import { FieldFailure } from '../../errors/field-failure.ts';
import { callUnary, type GrpcCall } from './unary.ts';

/** Creates the calls to one upstream; see `createGrpcClients`. */
export function createGrpcChannel(
  find: () => SnapshotUpstream | undefined,
  options: { readonly secrets: Secrets; readonly maxBytes: number },
) {
  const { client, next, close } = createGrpcClients(find, {
    ...options,
    failure: (reason) => new FieldFailure(reason),
  });
  return {
    /** Rejects with a `GrpcFailure`, or with an `Error` if the upstream is invalid. */
    async call(call: GrpcCall): Promise<Uint8Array> {
      const to = client();
      return callUnary(to.client, call, to.connectMs);
    },
    next,
    close,
  };
}

export type GrpcChannel = ReturnType<typeof createGrpcChannel>;
