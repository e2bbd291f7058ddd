import { expect } from 'chai';
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { connect, type Socket } from 'node:net';
import { compileRetries, createContext, type SnapshotUpstream } from '@edge-gateway/core';
import type { Retries } from '@edge-gateway/core/schema';
import type { UpgradeOutcome, UpgradeTarget } from '../../../src/forward/forward.ts';
import { forwardUpgrade } from '../../../src/forward/upgrade/forward-upgrade.ts';
import { createUpstreams } from '../../../src/upstream/upstreams.ts';
import { closeAll, closedPort, listen, rawClient, rawUpstream, snapshotOf, until, whenDone } from '../harness.ts';

const HANDSHAKE =
  'GET /a HTTP/1.1\r\nhost: a\r\nconnection: Upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n';
const SWITCHED =
  'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\nsec-websocket-accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n';
const CONNECT = 'CONNECT a:443 HTTP/1.1\r\nhost: a:443\r\n\r\n';
const OPENED = 'HTTP/1.1 200 OK\r\n\r\n';
const FAILED = 'HTTP/1.1 503 Service Unavailable\r\ncontent-length: 2\r\n\r\nno';

/** A gateway for upgrades and CONNECT requests with a retry policy. */
async function gateway(
  ports: readonly number[],
  retries: Retries,
  { spec = {}, ...more }: Partial<UpgradeTarget> & { spec?: SnapshotUpstream['spec'] } = {},
) {
  const context = createContext();
  const upstreams = createUpstreams(context);
  const endpoints = ports.map((port) => ({ address: '127.0.0.1', port, weight: 1 }));
  const upstream = snapshotOf(0, { endpoints, spec });
  upstreams.apply([upstream]);
  const policy = compileRetries({ retryBackOff: { baseInterval: '1ms' }, ...retries });
  const outcomes: UpgradeOutcome[] = [];
  const retried: number[] = [];
  const server = createServer();
  for (const event of ['upgrade', 'connect'] as const)
    server.on(event, (req: IncomingMessage, socket: Socket, head: Buffer) =>
      forwardUpgrade(req, socket, head, {
        upstream: upstreams.get(upstream.name)!,
        path: req.url!,
        headers: req.rawHeaders.filter((_, i, all) => !/^(connection|upgrade)$/i.test(all[i - (i % 2)]!)),
        retries: policy,
        tunnel: event === 'connect' ? 'forward' : undefined,
        onRetry: (attempt) => void retried.push(attempt),
        ...more,
        onDone: (outcome) => void outcomes.push(outcome),
      }),
    );
  const port = await listen(server);
  whenDone(async () => {
    server.closeAllConnections();
    server.close();
    await upstreams.close();
  });
  const stat = (name: string): number => {
    const found = context.metrics.list().find(({ name: { path } }) => path === `cluster.${upstream.name}.${name}`);
    return (found!.stat as { value: number }).value;
  };
  return { port, outcomes, retried, stat };
}

/** An upstream that replies to one request after the other; `undefined` resets its connection. */
const replying = (...replies: readonly (string | undefined)[]) =>
  rawUpstream((socket, _request, index) => {
    const reply = replies[Math.min(index, replies.length - 1)];
    if (reply === undefined) socket.resetAndDestroy();
    else socket.write(reply);
    if (reply === SWITCHED || reply === OPENED) socket.on('data', (chunk) => socket.write(chunk));
  });

describe('an upgrade with a retry policy', () => {
  afterEach(closeAll);

  for (const [kind, request, accepted, status] of [
    ['WebSocket', HANDSHAKE, SWITCHED, 101],
    ['CONNECT', CONNECT, OPENED, 200],
  ] as const) {
    for (const [name, first, retryOn] of [
      ['a reset', undefined, 'reset'],
      ['a status', FAILED, '5xx'],
    ] as const)
      it(`is retried after ${name}, with what the client sent behind its request: ${kind}`, async () => {
        const upstream = await replying(first, accepted);
        const gw = await gateway([upstream.port], { retryOn });
        const client = connect(gw.port, '127.0.0.1');
        client.write(`${request}early`);
        let text = '';
        client.on('data', (chunk) => (text += chunk));
        await until(() => text.endsWith('early'));
        // The connection of the first attempt is closed.
        await until(() => upstream.sockets.size === 1);
        expect(text).to.match(new RegExp(`^HTTP/1.1 ${status} [^]*\r\n\r\nearly$`));
        client.destroy();
        await until(() => gw.outcomes.length === 1);
        expect(gw.outcomes[0]).to.include({ status, flags: '', attempts: 2 });
        expect(gw.retried).to.deep.equal([2]);
        expect(upstream.requests).to.have.lengthOf(2);
        expect([gw.stat('upstream_rq_retry'), gw.stat('upstream_rq_retry_success')]).to.deep.equal([1, 1]);
        expect([gw.stat('upstream_rq_total'), gw.stat('upstream_rq_completed')]).to.deep.equal([2, 2]);
        expect(gw.stat('upstream_rq_active')).to.equal(0);
      });

    it(`is sent to another host after a refused connection: ${kind}`, async () => {
      const upstream = await replying(accepted);
      const closed = await closedPort();
      const gw = await gateway([closed, upstream.port], { retryOn: 'connect-failure' });
      for (let i = 1; i <= 4; i++) {
        const client = connect(gw.port, '127.0.0.1');
        client.write(request);
        expect(String((await once(client, 'data'))[0])).to.match(new RegExp(`^HTTP/1.1 ${status} `));
        client.destroy();
        await until(() => gw.outcomes.length === i);
      }
      expect(gw.outcomes.map(({ attempts }) => attempts)).to.include(2);
    });

    it(`ends with the last response when no retry is left: ${kind}`, async () => {
      const upstream = await replying(FAILED);
      const gw = await gateway([upstream.port], { retryOn: '5xx', numRetries: 2 });
      const { text } = await rawClient(gw.port, request);
      expect(text).to.match(/^HTTP\/1.1 503 [^]*\r\n\r\nno$/);
      await until(() => gw.outcomes.length === 1);
      expect(gw.outcomes[0]).to.include({ status: 503, flags: 'URX', attempts: 3 });
      expect(upstream.requests).to.have.lengthOf(3);
    });
  }

  it('ends with a failure when no retry is left', async () => {
    const gw = await gateway([await closedPort()], { retryOn: 'connect-failure', numRetries: 2 });
    const { text } = await rawClient(gw.port, HANDSHAKE);
    expect(text).to.match(/^HTTP\/1.1 503 [^]*retried and the latest reset reason: remote connection failure$/);
    await until(() => gw.outcomes.length === 1);
    expect(gw.outcomes[0]).to.include({ status: 503, flags: 'URX,UF', attempts: 3 });
  });

  it('is not retried for other conditions, nor once it is accepted', async () => {
    const reset = await replying(undefined);
    const gw = await gateway([reset.port], { retryOn: 'connect-failure' });
    expect((await rawClient(gw.port, HANDSHAKE)).text).to.match(/^HTTP\/1.1 503 /);
    expect(reset.requests).to.have.lengthOf(1);
    const broken = await rawUpstream((socket) => socket.end(SWITCHED));
    const other = await gateway([broken.port], { retryOn: '5xx,reset' });
    expect((await rawClient(other.port, HANDSHAKE)).text).to.match(/^HTTP\/1.1 101 /);
    await until(() => other.outcomes.length === 1);
    expect(broken.requests).to.have.lengthOf(1);
  });

  it('is retried after the timeout of an attempt, but not after that of the request', async () => {
    const upstream = await replying('', SWITCHED);
    const gw = await gateway([upstream.port], { retryOn: '5xx', perTryTimeout: '0.5s' });
    const client = connect(gw.port, '127.0.0.1');
    client.write(HANDSHAKE);
    expect(String((await once(client, 'data'))[0])).to.match(/^HTTP\/1.1 101 /);
    client.destroy();
    const silent = await replying('');
    const policy = { retryOn: '5xx', perTryTimeout: '0.1s', numRetries: 1_000 };
    const limited = await gateway([silent.port], policy, { timeoutMs: 1500 });
    expect((await rawClient(limited.port, HANDSHAKE)).text).to.match(/^HTTP\/1.1 504 /);
    await until(() => limited.outcomes.length === 1);
    expect(limited.outcomes[0]).to.include({ flags: 'UT', details: 'response_timeout' });
    expect(silent.requests.length).to.be.greaterThan(1);
    expect(limited.stat('upstream_rq_active')).to.equal(0);
  });

  it('is not retried for a client that leaves during the back-off', async () => {
    const upstream = await replying(FAILED);
    const gw = await gateway([upstream.port], { retryOn: '5xx', retryBackOff: { baseInterval: '60s' } });
    const client = connect(gw.port, '127.0.0.1');
    client.write(HANDSHAKE);
    await until(() => upstream.requests.length === 1 && gw.stat('upstream_rq_active') === 0);
    client.destroy();
    await until(() => gw.outcomes.length === 1);
    expect(gw.outcomes[0]).to.include({ status: 0, flags: 'DC', attempts: 1 });
    expect([gw.stat('upstream_rq_completed'), gw.stat('upstream_rq_active')]).to.deep.equal([1, 0]);
    expect(gw.stat('upstream_rq_cancelled')).to.equal(1);
  });

  it('is not limited by an attempt during the back-off', async () => {
    const upstream = await replying(FAILED, SWITCHED);
    const retryBackOff = { baseInterval: '1s' };
    const gw = await gateway([upstream.port], { retryOn: '5xx', perTryTimeout: '0.3s', retryBackOff });
    const client = connect(gw.port, '127.0.0.1');
    client.write(HANDSHAKE);
    expect(String((await once(client, 'data'))[0])).to.match(/^HTTP\/1.1 101 /);
    client.destroy();
  });

  it('uses one of the retries of the upstream at a time', async () => {
    const upstream = await replying(FAILED, FAILED, SWITCHED);
    const spec = { circuitBreakers: { maxRetries: 1 } };
    const gw = await gateway([upstream.port], { retryOn: '5xx', numRetries: 2 }, { spec });
    for (let i = 1; i <= 2; i++) {
      const client = connect(gw.port, '127.0.0.1');
      client.write(HANDSHAKE);
      expect(String((await once(client, 'data'))[0])).to.match(/^HTTP\/1.1 101 /);
      client.destroy();
      await until(() => gw.outcomes.length === i);
    }
    expect(gw.outcomes[0]).to.include({ status: 101, attempts: 3 });
  });

  it('is not retried beyond the limit of the upstream', async () => {
    const upstream = await replying(FAILED);
    const gw = await gateway([upstream.port], { retryOn: '5xx' }, { spec: { circuitBreakers: { maxRetries: 0 } } });
    const { text } = await rawClient(gw.port, HANDSHAKE);
    expect(text).to.match(/^HTTP\/1.1 503 /);
    await until(() => gw.outcomes.length === 1);
    expect(gw.outcomes[0]).to.include({ status: 503, flags: 'UO' });
    expect(upstream.requests).to.have.lengthOf(1);
  });
});
