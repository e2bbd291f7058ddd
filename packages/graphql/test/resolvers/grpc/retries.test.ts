import { compileRetries, createContext } from '@edge-gateway/core';
import { status, type handleUnaryCall } from '@grpc/grpc-js';
import { expect } from 'chai';
import { ask, type TestServer } from '../../servers.ts';
import { grpcApi, startGrpc, usersUpstream, type GrpcServer, type Named } from './server.ts';

const QUERY = '{ user(name: "sam") { username } }';
const MUTATION = 'mutation { change(name: "sam") { username } }';

describe('the retries of a route, for gRPC resolvers', () => {
  const open: (() => unknown)[] = [];
  afterEach(async () => {
    for (const close of open.splice(0).toReversed()) await close();
  });

  /** Fails so often with a status, then answers. */
  async function failing(code: status, times: number): Promise<GrpcServer> {
    let left = times;
    const answer: handleUnaryCall<Named, Named> = (call, callback) => {
      if (left-- > 0) callback({ code });
      else callback(null, call.request);
    };
    const server = await startGrpc(answer);
    open.push(server.close);
    return server;
  }

  async function apiAt(ports: readonly number[], retries: object, resolver = {}): Promise<TestServer> {
    const upstream = usersUpstream(ports);
    const policy = compileRetries(retries);
    const api = await grpcApi({ upstream: () => upstream, context: createContext(), retries: policy, resolver });
    open.push(api.close);
    return api;
  }

  it('share one call if two have the same metadata, and not if it differs', async () => {
    const requestTransform = {
      serviceName: 'user.UserService',
      methodName: 'GetUser',
      outgoingMessageJson: { username: 'sam' },
      requestMetadata: { 'x-tenant': '{$args.name}' },
    };
    const server = await failing(status.OK, 0);
    const api = await apiAt([server.port], {}, { requestTransform });
    await ask(api.url, '{ a: user(name: "x") { username } b: user(name: "x") { username } }');
    expect(server.asked).to.have.length(1);
    await ask(api.url, '{ a: user(name: "x") { username } b: user(name: "y") { username } }');
    expect(server.asked).to.have.length(3);
  });

  const named: readonly (readonly [string, status])[] = [
    ['cancelled', status.CANCELLED],
    ['deadline-exceeded', status.DEADLINE_EXCEEDED],
    ['internal', status.INTERNAL],
    ['resource-exhausted', status.RESOURCE_EXHAUSTED],
    ['unavailable', status.UNAVAILABLE],
    ['5xx', status.UNAVAILABLE],
  ];
  for (const [retryOn, code] of named) {
    it(`retry on ${retryOn} after status ${status[code]}`, async () => {
      const server = await failing(code, 2);
      const api = await apiAt([server.port], { retryOn, numRetries: 2 });
      expect((await ask(api.url, QUERY)).body).to.deep.equal({ data: { user: { username: 'sam' } } });
      expect(server.asked).to.have.length(3);
    });
  }

  it('stop at the maximum number', async () => {
    const server = await failing(status.UNAVAILABLE, 9);
    const api = await apiAt([server.port], { retryOn: 'unavailable', numRetries: 3 });
    expect((await ask(api.url, QUERY)).body.data).to.deep.equal({ user: null });
    expect(server.asked).to.have.length(4);
  });

  it('do not apply to other statuses, and to mutations that the server may have received', async () => {
    const server = await failing(status.UNAVAILABLE, 9);
    const other = await apiAt([server.port], { retryOn: 'cancelled,connect-failure', numRetries: 3 });
    expect((await ask(other.url, QUERY)).body.data).to.deep.equal({ user: null });
    expect(server.asked).to.have.length(1);
    const api = await apiAt([server.port], { retryOn: 'unavailable,5xx,reset', numRetries: 3 });
    expect((await ask(api.url, MUTATION)).body.data).to.deep.equal({ change: null });
    expect(server.asked).to.have.length(2);
  });

  it('use the next endpoint if one accepts no connections, also for mutations', async () => {
    const server = await failing(status.OK, 0);
    const gone = await failing(status.OK, 0);
    gone.close();
    const api = await apiAt([gone.port, server.port], { retryOn: 'connect-failure', numRetries: 2 });
    for (let i = 0; i < 6; i++) {
      expect((await ask(api.url, MUTATION)).body).to.deep.equal({ data: { change: { username: 'sam' } } });
    }
    expect(server.asked).to.have.length(6);
  });

  it('give each attempt its own time', async () => {
    let calls = 0;
    const server = await startGrpc((call, callback) => {
      if (calls++ > 0) callback(null, call.request);
    });
    open.push(server.close);
    const api = await apiAt([server.port], { retryOn: 'deadline-exceeded', perTryTimeout: '2s' });
    expect((await ask(api.url, QUERY)).body).to.deep.equal({ data: { user: { username: 'sam' } } });
    expect(calls).to.equal(2);
  });
});
