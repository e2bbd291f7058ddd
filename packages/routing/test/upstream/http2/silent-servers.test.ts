import { request } from 'node:http';
import type { Socket } from 'node:net';
import { expect } from 'chai';
import { compileRetries, type SnapshotUpstream } from '@edge-gateway/core';
import type { ForwardHead } from '../../../src/forward/forward.ts';
import { forwardUpgrade } from '../../../src/forward/upgrade/forward-upgrade.ts';
import { createUpstreamCaller } from '../../../src/upstream/call.ts';
import { closeAll, forEachHttp2Client, get, until, whenDone } from '../../forward/harness.ts';
import { FLAG, FRAME } from '../../listen/http2/frames.ts';
import { frame, frameUpstream, lastHead, type FrameUpstream } from './frames.ts';
import { http2Gateway } from './servers.ts';

const OK = [':status', '200'] as const;

interface Server {
  readonly upstream: FrameUpstream;
  /** Connections that respond to nothing any more, neither requests nor pings; they stay open. */
  readonly silent: Set<Socket>;
  /** The connections of the responses, in order. */
  readonly responded: Socket[];
}

/** Starts a server; `isSilent` decides about each request whether its connection falls silent. */
async function server(isSilent: (index: number) => boolean): Promise<Server> {
  const silent = new Set<Socket>();
  const responded: Socket[] = [];
  let requests = 0;
  const upstream = await frameUpstream((socket, id) => {
    if (isSilent(requests++)) silent.add(socket);
    if (silent.has(socket)) return;
    responded.push(socket);
    socket.write(lastHead(id, ...OK));
  });
  return { upstream, silent, responded };
}

const pingsOf = ({ upstream }: Server): number => upstream.received.filter(({ type }) => type === FRAME.ping).length;

/** Confirms the pings of a connection that is silent otherwise. */
function answerPings({ upstream }: Server): void {
  let answered = 0;
  const timer = setInterval(() => {
    const pings = upstream.received.filter(({ type, flags }) => type === FRAME.ping && flags === 0);
    for (const { payload } of pings.slice(answered))
      for (const socket of upstream.sockets) socket.write(frame(FRAME.ping, FLAG.ack, 0, payload.toString('latin1')));
    answered = pings.length;
  }, 5);
  whenDone(() => clearInterval(timer));
}

const gatewayTo = ({ upstream }: Server, spec: SnapshotUpstream['spec'] = {}, head: Partial<ForwardHead> = {}) =>
  http2Gateway(upstream.port, spec, { timeoutMs: 1000, ...head });

forEachHttp2Client(() =>
  describe('a server that falls silent on an open HTTP/2 connection', () => {
    afterEach(closeAll);

    it('gets the next requests on another connection as soon as one was not answered', async () => {
      const silent = await server((index) => index === 1);
      const gw = await gatewayTo(silent);
      expect((await get(gw.url)).status).to.equal(200);
      expect((await get(gw.url)).status).to.equal(504);
      for (let i = 0; i < 3; i++) expect((await get(gw.url)).status).to.equal(200);
      expect(silent.upstream.connections).to.equal(2);
      expect(pingsOf(silent)).to.equal(1);
    });

    it('is noticed on the first request of a connection', async () => {
      const silent = await server((index) => index === 0);
      const gw = await gatewayTo(silent);
      expect((await get(gw.url)).status).to.equal(504);
      expect((await get(gw.url)).status).to.equal(200);
      expect(silent.upstream.connections).to.equal(2);
    });

    it('is not tried again on the same connection by a retry', async () => {
      const silent = await server((index) => index === 1);
      const retries = compileRetries({ retryOn: 'retriable-4xx,reset', numRetries: 1, perTryTimeout: '1s' });
      const gw = await gatewayTo(silent, {}, { timeoutMs: 60_000, retries });
      expect((await get(gw.url)).status).to.equal(200);
      expect((await get(gw.url)).status).to.equal(200);
      expect(gw.outcomes.map(({ attempts }) => attempts)).to.deep.equal([1, 2]);
      expect(silent.upstream.connections).to.equal(2);
    });

    it('loses its connection, with its other requests, when it does not confirm a PING', async () => {
      const silent = await server((index) => index === 0);
      const gw = await gatewayTo(silent, { connectionKeepalive: { timeout: '0.05s' } }, { timeoutMs: 0 });
      const other = get(`${gw.url}/other`);
      await until(() => silent.silent.size === 1);
      const call = createUpstreamCaller(gw.upstreams);
      const ref = { name: 'echo', namespace: 'gw-system' };
      const failed = await call(ref, { method: 'GET', path: '/', timeoutMs: 50, maxBodyBytes: 10 }).catch(
        (error: Error) => error,
      );
      expect(failed).to.include({ code: 'ERR_ROUTING_UPSTREAM_TIMEOUT' });
      expect((await other).status).to.equal(503);
      expect(gw.outcomes[0]).to.include({ flags: 'UC' });
      expect(gw.outcomes[0]!.cause).to.include('no response to a PING in 50 ms');
      await until(() => gw.stat('upstream_cx_active') === 0);
    });

    it('keeps its connection, and gets requests on it again, when it confirms the PING', async () => {
      const slow = await server((index) => index === 0);
      answerPings(slow);
      const gw = await gatewayTo(slow);
      expect((await get(gw.url)).status).to.equal(504);
      await until(() => pingsOf(slow) === 1);
      const [first] = slow.silent;
      slow.silent.clear();
      await until(async () => (await get(gw.url)).status === 200 && slow.responded.at(-1) === first);
      expect(first!.destroyed).to.equal(false);
    });

    it('gets the requests that wait for its only connection when it confirms the PING', async () => {
      const slow = await server((index) => index === 0);
      const spec = { circuitBreakers: { maxConnections: 1 }, connectionKeepalive: { timeout: '60s' } };
      const gw = await gatewayTo(slow, spec, { timeoutMs: 0 });
      // It keeps the connection open.
      const other = get(`${gw.url}/other`).catch(() => undefined);
      await until(() => slow.silent.size === 1);
      const call = createUpstreamCaller(gw.upstreams);
      const ref = { name: 'echo', namespace: 'gw-system' };
      const failed = await call(ref, { method: 'GET', path: '/', timeoutMs: 50, maxBodyBytes: 10 }).catch(
        (error: Error) => error,
      );
      expect(failed).to.include({ code: 'ERR_ROUTING_UPSTREAM_TIMEOUT' });
      const waiting = get(gw.url);
      await until(() => gw.stat('upstream_rq_pending_active') === 1 && pingsOf(slow) === 1);
      slow.silent.clear();
      answerPings(slow);
      expect((await waiting).status).to.equal(200);
      expect(slow.upstream.connections).to.equal(1);
      for (const socket of slow.upstream.sockets) socket.destroy();
      await other;
    });

    it('is noticed when a client gives up after a second', async () => {
      const silent = await server((index) => index === 0);
      const gw = await gatewayTo(silent, {}, { timeoutMs: 0 });
      const waiting = request(gw.url).on('error', () => {});
      waiting.end();
      await until(() => silent.silent.size === 1);
      const since = performance.now();
      await until(() => performance.now() - since > 1000);
      waiting.destroy();
      await until(() => pingsOf(silent) === 1);
      expect((await get(gw.url)).status).to.equal(200);
      expect(silent.upstream.connections).to.equal(2);
    });

    it('is not suspected because of a client that gives up early', async () => {
      const silent = await server((index) => index === 0);
      const gw = await gatewayTo(silent, {}, { timeoutMs: 0 });
      const waiting = request(gw.url).on('error', () => {});
      waiting.end();
      await until(() => silent.silent.size === 1);
      waiting.destroy();
      await until(() => gw.outcomes.length === 1);
      silent.silent.clear();
      expect((await get(gw.url)).status).to.equal(200);
      expect(silent.upstream.connections).to.equal(1);
      expect(pingsOf(silent)).to.equal(0);
    });

    it('is found by connectionKeepalive without a request', async () => {
      const silent = await server(() => false);
      const gw = await gatewayTo(silent, { connectionKeepalive: { interval: '0.03s', timeout: '0.03s' } });
      expect((await get(gw.url)).status).to.equal(200);
      await until(() => gw.stat('upstream_cx_active') === 0);
      expect(pingsOf(silent)).to.be.greaterThan(0);
      await until(() => silent.upstream.sockets.size === 0);
    });

    it('stays connected while it confirms the pings of connectionKeepalive', async () => {
      const alive = await server(() => false);
      const gw = await gatewayTo(alive, { connectionKeepalive: { interval: '0.02s', timeout: '5s' } });
      expect((await get(gw.url)).status).to.equal(200);
      alive.upstream.sockets.forEach((socket) => alive.silent.add(socket));
      answerPings(alive);
      await until(() => pingsOf(alive) >= 3);
      expect(gw.stat('upstream_cx_active')).to.equal(1);
    });

    it('gets the next WebSocket on another connection', async () => {
      const settings = frame(FRAME.settings, 0, 0, Buffer.from([0, 8, 0, 0, 0, 1]));
      const heads: Socket[] = [];
      const upstream = await frameUpstream((socket) => heads.push(socket), settings);
      const gw = await http2Gateway(upstream.port);
      gw.server.on('upgrade', (req, socket, head) =>
        forwardUpgrade(req, socket as Socket, head, {
          upstream: gw.upstreams.get('echo_gw-system')!,
          timeoutMs: 100,
          path: '/',
          headers: ['host', 'a'],
        }),
      );
      const open = () =>
        new Promise<number>((resolve) => {
          const headers = {
            connection: 'Upgrade',
            upgrade: 'websocket',
            'sec-websocket-version': '13',
            'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
          };
          request(gw.url, { agent: false, headers })
            .on('response', (res) => res.resume().on('end', () => resolve(res.statusCode!)))
            .on('error', () => resolve(0))
            .end();
        });
      expect(await open()).to.equal(504);
      expect(await open()).to.equal(504);
      expect(new Set(heads).size).to.equal(2);
    });
  }),
);
