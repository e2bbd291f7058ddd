import { createServer, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2';
import { createServer as createTcpServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { createContext, type SnapshotUpstream } from '@edge-gateway/core';
import { status, type handleUnaryCall } from '@grpc/grpc-js';
import { isDeepStrictEqual } from 'node:util';
import { expect } from 'chai';
import { until } from '../../../../../test/parts/until.ts';
import { ask, type TestServer } from '../../servers.ts';
import { grpcApi, startGrpc, usersUpstream, type GrpcServer, type Named } from './server.ts';

const QUERY = '{ user(name: "sam") { username } good { username } }';
const GOOD = { user: { username: 'sam' }, good: { username: 'good' } };
const FAILED = { user: null, good: { username: 'good' } };

describe('a gRPC server', () => {
  const open: (() => unknown)[] = [];
  afterEach(async () => {
    for (const close of open.splice(0).toReversed()) await close();
  });

  async function started(answer: handleUnaryCall<Named, Named>, port = 0): Promise<GrpcServer> {
    const server = await startGrpc(answer, { port });
    open.push(server.close);
    return server;
  }

  /** A server that does what it wants with each stream. */
  async function rawServer(answer: (stream: ServerHttp2Stream) => void): Promise<number> {
    const server = createServer();
    const sessions = new Set<ServerHttp2Session>();
    server.on('session', (session) => sessions.add(session));
    server.on('stream', (stream) => {
      stream.on('error', () => {});
      answer(stream);
    });
    open.push(() => {
      for (const session of sessions) session.destroy();
      server.close();
    });
    return listening(server as unknown as Server);
  }

  async function listening(server: Server): Promise<number> {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return (server.address() as AddressInfo).port;
  }

  async function apiFor(
    upstream: SnapshotUpstream | (() => SnapshotUpstream),
    parts: object = {},
  ): Promise<TestServer> {
    const find = typeof upstream === 'function' ? upstream : () => upstream;
    const api = await grpcApi({ upstream: find, context: createContext(), ...parts });
    open.push(api.close);
    return api;
  }

  async function isMasked(api: TestServer): Promise<void> {
    const { status: http, body } = await ask(api.url, QUERY);
    expect(http).to.equal(200);
    expect(body.data).to.deep.equal(FAILED);
    expect(body.errors).to.have.length(1);
    expect(body.errors[0].path).to.deep.equal(['user']);
    expect(body.errors[0].message).to.be.oneOf(['A field could not be resolved.', 'The operation took too long.']);
    expect(JSON.stringify(body)).to.not.match(/secret|127\.0\.0\.1|users|\.ts/);
  }

  for (const [name, code] of Object.entries(status)) {
    if (typeof code !== 'number' || code === status.OK) continue;
    it(`that responds with ${name}: an error of that field only, without the message of the server`, async () => {
      const server = await started((_call, callback) => callback({ code, details: 'secret at /srv/app.go:1' }));
      await isMasked(await apiFor(usersUpstream([server.port])));
    });
  }

  it('that does not respond in time: an error of the field, and the call is cancelled', async () => {
    const cancelled = Promise.withResolvers<void>();
    const server = await started((call) => void call.on('cancelled', () => cancelled.resolve()));
    const api = await apiFor(usersUpstream([server.port]), { resolver: { timeout: '0.2s' } });
    // A call whose time is over before it is connected never reaches the server.
    while (server.asked.length === 0) await isMasked(api);
    await cancelled.promise;
  });

  it('that accepts no connection in the connect timeout: an error of the field before its time is over', async () => {
    const sockets: Socket[] = [];
    const silent = createTcpServer((socket) => void sockets.push(socket));
    const port = await listening(silent);
    open.push(() => {
      for (const socket of sockets) socket.destroy();
      silent.close();
    });
    const spec = { connectionConfig: { connectTimeout: '0.2s' } };
    const patient = { resolver: { timeout: '600s' }, limits: { operationTimeoutMs: 600_000 } };
    await isMasked(await apiFor(usersUpstream([port], { spec }), patient));
  });

  const HEAD = { ':status': 200, 'content-type': 'application/grpc' };
  const faults: Record<string, (stream: ServerHttp2Stream) => void> = {
    'sends half a message': (stream) => {
      stream.respond(HEAD, { waitForTrailers: true });
      stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
      stream.end(Buffer.from([0, 0, 0, 0, 99, 10, 6]));
    },
    'sends a message that is none': (stream) => {
      stream.respond(HEAD, { waitForTrailers: true });
      stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
      stream.end(Buffer.from([0, 0, 0, 0, 3, 10, 99, 1]));
    },
    'sends no message': (stream) => {
      stream.respond({ ...HEAD, 'grpc-status': '0' }, { endStream: true });
    },
    'resets the stream': (stream) => stream.close(2),
    'ends in the middle': (stream) => {
      stream.respond(HEAD);
      stream.write(Buffer.from([0, 0, 0, 0, 99, 10]));
      setImmediate(() => stream.session?.destroy());
    },
    'answers 404': (stream) => stream.respond({ ':status': 404 }, { endStream: true }),
    'answers a page': (stream) => {
      stream.respond({ ':status': 200, 'content-type': 'text/html' });
      stream.end('<html>secret</html>');
    },
  };
  for (const [name, answer] of Object.entries(faults)) {
    it(`that ${name}: an error of that field only`, async () => {
      await isMasked(await apiFor(usersUpstream([await rawServer(answer)])));
    });
  }

  it('that does not support HTTP/2: an error of the field', async () => {
    const other = createTcpServer((socket) => socket.on('error', () => {}).end('HTTP/1.1 400 Bad Request\r\n\r\n'));
    const port = await listening(other);
    open.push(() => other.close());
    await isMasked(await apiFor(usersUpstream([port])));
  });

  it('that sends more than 10 MiB: an error of the field; a little less is accepted', async () => {
    let size = 10 * 1024 * 1024;
    const server = await started((_call, callback) => callback(null, { username: 'x'.repeat(size) }));
    const api = await apiFor(usersUpstream([server.port]));
    await isMasked(api);
    size -= 100;
    const { body } = await ask(api.url, QUERY);
    expect(body.data.user.username).to.have.length(size);
  });

  it('that is down: an error of the field; it is called again soon after it recovers', async () => {
    const answer: handleUnaryCall<Named, Named> = (call, callback) => callback(null, call.request);
    const first = await started(answer);
    const api = await apiFor(usersUpstream([first.port]));
    expect((await ask(api.url, QUERY)).body.data).to.deep.equal(GOOD);
    first.close();
    for (let i = 0; i < 20; i++) await isMasked(api);
    await wait(2000);
    await isMasked(api);
    await started(answer, first.port);
    await until(
      async () => isDeepStrictEqual((await ask(api.url, QUERY)).body.data, GOOD),
      'a call to the restarted server',
    );
  });

  it('is one of several: calls are balanced by weight', async () => {
    const answer: handleUnaryCall<Named, Named> = (call, callback) => callback(null, call.request);
    const servers = [await started(answer), await started(answer)];
    const endpoints = servers.map(({ port }, i) => ({ address: '127.0.0.1', port, weight: i === 0 ? 3 : 1 }));
    const api = await apiFor(usersUpstream([], { endpoints }));
    for (let i = 0; i < 8; i++) expect((await ask(api.url, QUERY)).body.data).to.deep.equal(GOOD);
    expect(servers.map(({ asked }) => asked.length)).to.deep.equal([6, 2]);
  });

  it('is replaced by another: calls in progress finish, later ones go to the new one', async () => {
    const waiting: (() => void)[] = [];
    const old = await started((call, callback) => void waiting.push(() => callback(null, call.request)));
    const fresh = await started((_call, callback) => callback(null, { username: 'fresh' }));
    let upstream = usersUpstream([old.port]);
    const api = await apiFor(() => upstream);
    const underWay = ask(api.url, QUERY);
    await until(() => waiting.length > 0);
    upstream = usersUpstream([fresh.port]);
    expect((await ask(api.url, QUERY)).body.data.user).to.deep.equal({ username: 'fresh' });
    waiting[0]!();
    expect((await underWay).body.data).to.deep.equal(GOOD);
    expect(old.asked).to.have.length(1);
  });

  it('is missing: an upstream without endpoints is an error of the field', async () => {
    await isMasked(await apiFor(usersUpstream([])));
  });
});
