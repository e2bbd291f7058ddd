import { getEventListeners } from 'node:events';
import type { ServiceError } from '@grpc/grpc-js';
import type { GrpcClients } from '@edge-gateway/core/grpc';
import { expect } from 'chai';
import type { CheckRequest, CheckResponse } from '../../src/grpc/protocol.ts';
import { checkByGrpc } from '../../src/remote/grpc-check.ts';

type Done = (error: ServiceError | null, answer?: CheckResponse) => void;

describe('a call of an auth server over gRPC', () => {
  /** Calls without a server, each of which ends when `done` is called. */
  function start(signal?: AbortSignal) {
    const calls: { done: Done; cancelled: number }[] = [];
    const makeUnaryRequest = (...args: readonly unknown[]) => {
      const call = { done: args.at(-1) as Done, cancelled: 0, cancel: () => void call.cancelled++ };
      calls.push(call);
      return call;
    };
    const clients = { client: () => ({ client: { makeUnaryRequest } }) } as unknown as GrpcClients;
    return { calls, response: checkByGrpc(clients, {} as CheckRequest, { signal, timeoutMs: 1000 }) };
  }
  const failed = (call: Promise<unknown>): Promise<unknown> => call.catch((error: unknown) => error);

  it('leaves no listener at the signal of the request', async () => {
    const over = new AbortController();
    const { calls, response } = start(over.signal);
    expect(getEventListeners(over.signal, 'abort')).to.have.length(1);
    const answer = {} as CheckResponse;
    calls[0]!.done(null, answer);
    expect(await response).to.equal(answer);
    expect(getEventListeners(over.signal, 'abort')).to.deep.equal([]);
  });

  it('is cancelled when the request ends, and fails with its reason', async () => {
    const over = new AbortController();
    const { calls, response } = start(over.signal);
    const reason = new Error('the client has left');
    over.abort(reason);
    expect(calls[0]!.cancelled).to.equal(1);
    calls[0]!.done(Object.assign(new Error('cancelled'), { code: 1 }) as ServiceError);
    expect(await failed(response)).to.equal(reason);
  });

  it('is not made for a request that has ended', async () => {
    const reason = new Error('the client has left');
    const { calls, response } = start(AbortSignal.abort(reason));
    expect(await failed(response)).to.equal(reason);
    expect(calls).to.deep.equal([]);
  });
});
