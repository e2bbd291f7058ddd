import { expect } from 'chai';
import { createServer } from 'node:https';
import { createServer as createNetServer, type Server } from 'node:net';
import { compileRetries, createContext } from '@edge-gateway/core';
import { closeAll, gateway, get, listen, rawUpstream, snapshotOf, whenDone, type Gateway } from '../forward/harness.ts';
import { certificates, secretsOf } from './certificates.ts';

const OK = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok';

/** Returns how often each status was the response to `count` requests, `parallel` at a time. */
async function statuses(gw: Gateway, count: number, parallel = 10): Promise<Record<number, number>> {
  const found: Record<number, number> = {};
  for (let sent = 0; sent < count; sent += parallel) {
    const answers = await Promise.all(Array.from({ length: parallel }, () => get(gw.url)));
    for (const { status } of answers) found[status] = (found[status] ?? 0) + 1;
  }
  return found;
}

async function closedPort(): Promise<number> {
  const server = createNetServer();
  const port = await listen(server);
  await new Promise((resolve) => server.close(resolve));
  return port;
}

describe('faults of upstream connections, counted', () => {
  afterEach(closeAll);

  it('responds with 503 within 50 ms to each of 200 requests while the upstream refuses connections', async () => {
    const gw = await gateway({ upstream: snapshotOf(await closedPort()) });
    await get(gw.url);
    const times: number[] = [];
    for (let i = 0; i < 200; i++) {
      const start = performance.now();
      expect((await get(gw.url)).status).to.equal(503);
      times.push(performance.now() - start);
    }
    // The median, because the machine itself may pause.
    expect(times.sort((a, b) => a - b)[100]).to.be.lessThan(50);
    expect(gw.stat('upstream_cx_connect_fail')).to.equal(201);
    expect(gw.outcomes.filter(({ flags }) => flags === 'UF')).to.have.length(201);
  });

  for (const version of [1, 2] as const) {
    it(`keeps when and why a connection failed, and whether a later one was opened, over HTTP/${version}`, async () => {
      const port = await closedPort();
      const spec = version === 2 ? { useHttp2: true } : {};
      const gw = await gateway({ upstream: snapshotOf(port, { spec }) });
      const failure = () => gw.upstreams.get('echo_gw-system')!.hostStates[0]!.lastFailure;
      expect(failure()).to.equal(undefined);
      const before = Date.now();
      await get(gw.url);
      expect(failure()).to.deep.include({ reason: 'Connection refused', isOver: false });
      expect(failure()!.at).to.be.within(before, Date.now());
      const server = createNetServer((socket) => socket.on('error', () => {}).destroy());
      await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
      whenDone(() => server.close());
      await get(gw.url);
      expect(failure()).to.deep.include({ reason: 'Connection refused', isOver: true });
    });
  }

  for (const perTryTimeout of [false, true]) {
    it(`keeps that a host has not responded in time ${perTryTimeout ? 'to a try' : 'to a request'}, until it responds`, async () => {
      let answers = false;
      const upstream = await rawUpstream((socket) => void (answers && socket.write(OK)));
      const retries = compileRetries({ retryOn: '5xx', numRetries: 1, perTryTimeout: '0.1s' });
      const limits = perTryTimeout ? { retries } : { timeoutMs: 100 };
      const gw = await gateway({ upstream: snapshotOf(upstream.port), head: () => (answers ? {} : limits) });
      const failure = () => gw.upstreams.get('echo_gw-system')!.hostStates[0]!.lastFailure;
      expect((await get(gw.url)).status).to.equal(504);
      // Later connections are accepted: the kernel does so for a process that hangs.
      expect((await get(gw.url)).status).to.equal(504);
      expect(failure()).to.deep.include({ reason: 'no response in 100 ms', isOver: false, isTimeout: true });
      answers = true;
      expect((await get(gw.url)).status).to.equal(200);
      expect(failure()).to.deep.include({ isOver: true, isTimeout: true });
    });
  }

  it('responds with 200 to each of 500 requests while the upstream resets every reused connection', async () => {
    const served = new WeakSet<object>();
    const upstream = await rawUpstream((socket) => {
      if (served.has(socket)) return void socket.resetAndDestroy();
      served.add(socket);
      return void socket.write(OK);
    });
    const gw = await gateway({ upstream: snapshotOf(upstream.port) });
    expect(await statuses(gw, 500, 5)).to.deep.equal({ 200: 500 });
    expect(gw.stat('upstream_rq_retry')).to.be.greaterThan(0);
  });

  it('responds with 503 at the connect timeout to each of 20 requests to a host that never responds', async () => {
    // A server with a full queue of connections does not answer further ones; neither does a TLS server that is silent.
    const silent = createNetServer((socket) => socket.on('error', () => {}));
    const port = await listen(silent);
    whenDone(() => silent.close());
    const spec = { connectionConfig: { connectTimeout: '0.2s' }, sslConfig: {} };
    const gw = await gateway({ upstream: snapshotOf(port, { tls: true, spec }) });
    const start = performance.now();
    expect(await statuses(gw, 20, 20)).to.deep.equal({ 503: 20 });
    expect(performance.now() - start).to.be.within(190, 5000);
    expect([gw.stat('upstream_cx_connect_fail'), gw.stat('upstream_cx_active')]).to.deep.equal([20, 0]);
  });

  it('serves 300 requests while the certificate of the upstream is replaced, and refuses the ones it cannot verify', async () => {
    const { ca, otherCa, server, expired } = certificates();
    const secure = createServer(server, (_req, res) => void res.setHeader('connection', 'close').end('ok'));
    secure.on('tlsClientError', () => {});
    const port = await listen(secure as unknown as Server);
    whenDone(() => {
      secure.closeAllConnections();
      secure.close();
    });
    const secrets = secretsOf({ tls: { 'ca.crt': ca } });
    const spec = { sslConfig: { secretRef: { name: 'tls' }, sni: 'api.example.com' } };
    const upstream = snapshotOf(port, { tls: true, spec });
    const gw = await gateway({ upstream, context: createContext({ secrets }) });
    const during = statuses(gw, 300);
    for (let i = 0; i < 5; i++) {
      await get(gw.url);
      secure.setSecureContext({ ...server, minVersion: i % 2 === 0 ? 'TLSv1.2' : 'TLSv1.3' });
      secrets.set('tls', { 'ca.crt': i % 2 === 0 ? `${ca}\n${otherCa}` : ca });
      gw.upstreams.apply([upstream]);
    }
    expect(await during).to.deep.equal({ 200: 300 });

    secure.setSecureContext(expired);
    gw.outcomes.length = 0;
    secrets.set('tls', { 'ca.crt': `${ca}\n` });
    gw.upstreams.apply([upstream]);
    expect(await statuses(gw, 20)).to.deep.equal({ 503: 20 });
    expect(gw.outcomes.every(({ cause = '' }) => cause.includes('CERT_HAS_EXPIRED'))).to.equal(true);

    secure.setSecureContext(server);
    gw.outcomes.length = 0;
    secrets.set('tls', { 'ca.crt': otherCa });
    gw.upstreams.apply([upstream]);
    expect(await statuses(gw, 20)).to.deep.equal({ 503: 20 });
    expect(gw.outcomes.every(({ cause = '' }) => cause.includes('UNABLE_TO_VERIFY'))).to.equal(true);
  });
});
