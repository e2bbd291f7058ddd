import { expect } from 'chai';
import { createServer } from 'node:net';
import { createContext, GatewayError, type Concern, type UpstreamCall } from '@edge-gateway/core';
import { createRouter } from '../../src/router.ts';
import { createUpstreamCaller } from '../../src/upstream/call.ts';
import { createUpstreams } from '../../src/upstream/upstreams.ts';
import { closeAll, httpUpstream, listen, rawUpstream, snapshotOf, whenDone } from '../forward/harness.ts';
import { endpointOf, hostOf, routeOf, snapshotOf as hosts, upstreamOf } from '../snapshots.ts';

const ECHO = { name: 'echo', namespace: 'gw-system' };
const CALL: UpstreamCall = { method: 'GET', path: '/keys', timeoutMs: 10_000, maxBodyBytes: 1000 };

function callerOf(port: number) {
  const context = createContext();
  const upstreams = createUpstreams(context);
  upstreams.apply([snapshotOf(port)]);
  whenDone(() => upstreams.close());
  const stat = (name: string) => {
    const found = context.metrics.list().find((each) => each.name.path === `cluster.echo_gw-system.${name}`);
    return found && found.type !== 'histogram' ? found.stat.value : 0;
  };
  return { call: createUpstreamCaller(upstreams), stat };
}

async function failureOf(asked: Promise<unknown>): Promise<GatewayError> {
  const error = await asked.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).to.be.instanceOf(GatewayError);
  return error as GatewayError;
}

/** A connection is given back one turn of the event loop after its answer. */
const connectionIsIdle = () => new Promise((resolve) => setImmediate(resolve));

describe('a call of an upstream', () => {
  afterEach(closeAll);

  it('returns status, headers and body, and sends the endpoint as host', async () => {
    const port = await httpUpstream((req, res) => {
      res
        .writeHead(201, { 'X-Many': ['a', 'b'], 'set-cookie': ['c=1; Path=/', 'd=2'] })
        .end(JSON.stringify([req.method, req.url, req.headers.host]));
    });
    const { call, stat } = callerOf(port);
    const answer = await call(ECHO, CALL);
    expect(answer.status).to.equal(201);
    expect(answer.headers['x-many']).to.equal('a, b');
    const cookies = answer.rawHeaders!.filter((_, i) => answer.rawHeaders![i - 1]?.toLowerCase() === 'set-cookie');
    expect(cookies).to.deep.equal(['c=1; Path=/', 'd=2']);
    expect(JSON.parse(String(answer.body))).to.deep.equal(['GET', '/keys', `127.0.0.1:${port}`]);
    expect([stat('upstream_rq_201'), stat('upstream_rq_active'), stat('upstream_rq_completed')]).to.deep.equal([
      1, 0, 1,
    ]);
  });

  it('sends the body with its length, and the given host', async () => {
    const port = await httpUpstream(async (req, res) => {
      const chunks: Buffer[] = [];
      for await (const chunk of req) chunks.push(chunk as Buffer);
      res.end(`${req.headers.host} ${req.headers['content-length']} ${String(Buffer.concat(chunks))}`);
    });
    const { call } = callerOf(port);
    const headers = ['Host', 'idp.example', 'content-length', '9999', 'transfer-encoding', 'chunked'];
    const answer = await call(ECHO, { ...CALL, method: 'POST', headers, body: 'a=b' });
    expect(String(answer.body)).to.equal('idp.example 3 a=b');
  });

  it('finds an upstream and its endpoints for other clients', () => {
    const { call } = callerOf(4321);
    const found = call.find!(ECHO)!;
    expect(found.snapshot.name).to.equal('echo_gw-system');
    expect(found.pick()).to.include({ address: '127.0.0.1', port: 4321 });
    expect(call.find!({ name: 'other', namespace: 'gw-system' })).to.equal(undefined);
  });

  it('keeps the connection for the next one', async () => {
    const upstream = await rawUpstream((socket) => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok'));
    const { call } = callerOf(upstream.port);
    await call(ECHO, CALL);
    await connectionIsIdle();
    await call(ECHO, CALL);
    expect(upstream.connections).to.equal(1);
  });

  it('retries once if the idle connection was closed', async () => {
    const upstream = await rawUpstream((socket, _head, index) => {
      if (index === 1) socket.destroy();
      else socket.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok');
    });
    const { call } = callerOf(upstream.port);
    await call(ECHO, CALL);
    await connectionIsIdle();
    expect((await call(ECHO, CALL)).status).to.equal(200);
    expect(upstream.requests).to.have.length(3);
  });

  it('rejects with 503 without such an upstream and without endpoint', async () => {
    const { call } = callerOf(1);
    expect(await failureOf(call({ name: 'none', namespace: 'gw-system' }, CALL))).to.include({
      status: 503,
      code: 'ERR_ROUTING_NO_ENDPOINT',
    });
  });

  it('rejects with 503 when the connection is rejected or reset', async () => {
    const server = createServer();
    const port = await listen(server);
    await new Promise((resolve) => server.close(resolve));
    expect(await failureOf(callerOf(port).call(ECHO, CALL))).to.include({
      code: 'ERR_ROUTING_UPSTREAM_CONNECT',
      status: 503,
    });
    const upstream = await rawUpstream((socket) => socket.destroy());
    expect(await failureOf(callerOf(upstream.port).call(ECHO, CALL))).to.include({
      code: 'ERR_ROUTING_UPSTREAM_RESET',
      status: 503,
    });
  });

  it('rejects with 504 when the response is too slow, and when it stops in the middle', async () => {
    const silent = await rawUpstream(() => {});
    const { call, stat } = callerOf(silent.port);
    expect(await failureOf(call(ECHO, { ...CALL, timeoutMs: 30 }))).to.include({
      status: 504,
      code: 'ERR_ROUTING_UPSTREAM_TIMEOUT',
    });
    expect([stat('upstream_rq_timeout'), stat('upstream_rq_active')]).to.deep.equal([1, 0]);
    const half = await rawUpstream((socket) => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf'));
    expect((await failureOf(callerOf(half.port).call(ECHO, { ...CALL, timeoutMs: 30 }))).status).to.equal(504);
  });

  it('rejects with 502 responses that are too large or not HTTP', async () => {
    const large = await httpUpstream((_req, res) => void res.end('x'.repeat(1001)));
    expect(await failureOf(callerOf(large).call(ECHO, CALL))).to.include({
      status: 502,
      code: 'ERR_ROUTING_UPSTREAM_TOO_LARGE',
    });
    const exact = await httpUpstream((_req, res) => void res.end('x'.repeat(1000)));
    expect((await callerOf(exact).call(ECHO, CALL)).body).to.have.length(1000);
    const odd = await rawUpstream((socket) => socket.write('SSH-2.0-OpenSSH_9.2p1\r\n\r\n'));
    expect((await failureOf(callerOf(odd.port).call(ECHO, CALL))).status).to.equal(502);
  });

  it('never returns an incomplete response', async () => {
    const upstream = await rawUpstream((socket) => {
      socket.end('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf');
    });
    expect((await failureOf(callerOf(upstream.port).call(ECHO, CALL))).status).to.be.oneOf([502, 503]);
  });

  it('ends with the reason of its signal', async () => {
    const upstream = await rawUpstream(() => abort.abort(new Error('enough')));
    const abort = new AbortController();
    const { call, stat } = callerOf(upstream.port);
    const asked = call(ECHO, { ...CALL, signal: abort.signal }).catch((error: Error) => error.message);
    expect(await asked).to.equal('enough');
    expect([stat('upstream_rq_cancelled'), stat('upstream_rq_active')]).to.deep.equal([1, 0]);
    expect(await call(ECHO, { ...CALL, signal: abort.signal }).catch((error: Error) => error.message)).to.equal(
      'enough',
    );
  });

  it('ends with all others of its signal, but for those that are over', async () => {
    const upstream = await rawUpstream((socket, _request, index) => {
      if (index === 0) socket.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok');
      if (index === 5) abort.abort(new Error('enough'));
    });
    const abort = new AbortController();
    const { call, stat } = callerOf(upstream.port);
    const ask = (): Promise<unknown> =>
      call(ECHO, { ...CALL, timeoutMs: 60_000, signal: abort.signal }).catch((error: Error) => error.message);
    expect(await ask()).to.include({ status: 200 });
    expect(await Promise.all([ask(), ask(), ask(), ask(), ask()])).to.deep.equal(Array(5).fill('enough'));
    expect([stat('upstream_rq_cancelled'), stat('upstream_rq_active')]).to.deep.equal([5, 0]);
  });

  it('returns responses with the same head with their own bodies, and frozen heads', async () => {
    let count = 0;
    const upstream = await rawUpstream((socket) =>
      socket.write(`HTTP/1.1 200 OK\r\nx-a: 1\r\nX-A: 2\r\ncontent-length: 1\r\n\r\n${count++}`),
    );
    const { call } = callerOf(upstream.port);
    for (const expected of ['0', '1', '2']) {
      const { headers, body } = await call(ECHO, CALL);
      expect([headers['x-a'], body.toString()]).to.deep.equal(['1, 2', expected]);
      expect(() => ((headers as Record<string, string>)['x-a'] = '3')).to.throw(TypeError);
    }
  });

  it('rejects a path that is not absolute', async () => {
    expect((await failureOf(callerOf(1).call(ECHO, { ...CALL, path: 'http://elsewhere/' }))).status).to.equal(500);
  });

  it('is available to concerns in the context of a router', async () => {
    const port = await httpUpstream((_req, res) => void res.end('keys'));
    let seen: ((...args: any[]) => Promise<any>) | undefined;
    const concern: Concern = {
      name: 'asks',
      option: 'rbac',
      stage: 'rbac',
      compile: (_options, context) => void (seen = context.callUpstream),
    };
    const router = createRouter({ concerns: [concern] });
    whenDone(() => router.close());
    const upstream = upstreamOf([endpointOf(port)], 'echo');
    router.apply(hosts([hostOf([routeOf({ to: upstream.name, options: { rbac: {} } })])], [upstream]));
    expect(String((await router.call(ECHO, CALL)).body)).to.equal('keys');
    expect(String((await seen!(ECHO, CALL)).body)).to.equal('keys');
  });
});
