import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { WebSocket, WebSocketServer } from 'ws';
import { createContext, type Route, type SnapshotUpstream } from '@edge-gateway/core';
import { createRouter, type Router } from '../../src/router.ts';
import { endpointOf, hostOf, LISTENER, routeOf, snapshotOf, start, stopAll, upstreamOf } from '../snapshots.ts';
import { startOtlp, until, type OtlpServer, type ReceivedSpan } from './otlp-server.ts';

const PARENT = /^00-([0-9a-f]{32})-([0-9a-f]{16})-01$/;

describe('spans of calls to upstreams', () => {
  let collector: OtlpServer;
  let router: Router | undefined;

  beforeEach(async () => {
    collector = await startOtlp();
  });
  afterEach(async () => {
    await router?.close();
    router = undefined;
    await collector.close();
    await stopAll();
  });

  type Handler = (req: IncomingMessage, res: ServerResponse, attempt: number) => void;

  /** Sends a request that the upstream handles by attempt; returns the span ids that it received, and all spans. */
  async function traced(handle: Handler, retries: object, tracing: object = {}) {
    const received: string[] = [];
    const backend = await start((req, res) => {
      received.push(PARENT.exec(String(req.headers['traceparent']))?.[2] ?? '');
      handle(req, res, received.length);
    });
    const route: Route = routeOf({ options: { retries } as never });
    const serve = serveTraced(route, [upstreamOf([endpointOf(backend.port)])], tracing);
    const { port } = await start((req, res) => serve(req, res, () => res.destroy()));
    const { status } = await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', body: 'x' });
    return { status, received, ...(await sentSpans()) };
  }

  function serveTraced(route: Route, upstreams: readonly SnapshotUpstream[], tracing: object = {}) {
    const otlp = { openTelemetryConfig: { clusterName: 'collector_gw-system' }, spawnUpstreamSpan: true };
    const httpOptions = { httpConnectionManagerSettings: { tracing: { ...otlp, ...tracing } } };
    router = createRouter({ context: createContext() });
    const all = [...upstreams, upstreamOf([endpointOf(collector.port)], 'collector')];
    router.apply(snapshotOf([hostOf([route])], all, { httpOptions } as never));
    return router.listener(LISTENER);
  }

  /** The spans of one request, after the router has sent them. */
  async function sentSpans() {
    await router!.close();
    router = undefined;
    const request = collector.spans.find(({ kind }) => kind === 2)!;
    const attempts = collector.spans.filter(({ kind }) => kind === 3).sort((a, b) => a.startMs - b.startMs);
    return { request, attempts };
  }

  const tagsOf = (spans: readonly ReceivedSpan[], tag: string): (string | undefined)[] =>
    spans.map(({ tags }) => tags[tag]);

  for (const [name, fail, status, flags] of [
    ['a retriable response', (_req, res) => res.writeHead(503).end('busy'), '503', '-'],
    ['a retriable response with a long body', (_req, res) => res.writeHead(503).end('x'.repeat(500_000)), '503', '-'],
    ['a connection that breaks', (req) => req.socket.destroy(), '0', 'UC'],
  ] as readonly [string, Handler, string, string][]) {
    it(`sends each attempt with its own span after ${name}`, async () => {
      const result = await traced((req, res, n) => (n < 3 ? fail(req, res, n) : res.end('ok')), {
        retryOn: '5xx,reset',
        numRetries: 2,
      });
      expect(result.status).to.equal(200);
      const { attempts, request, received } = result;
      expect(attempts.map(({ spanId }) => spanId)).to.deep.equal(received);
      expect(new Set(received)).to.have.lengthOf(3);
      expect(new Set(attempts.map(({ parentId }) => parentId))).to.deep.equal(new Set([request.spanId]));
      expect(tagsOf(attempts, 'http.status_code')).to.deep.equal([status, status, '200']);
      expect(tagsOf(attempts, 'response_flags')).to.deep.equal([flags, flags, '-']);
      expect(tagsOf(attempts, 'error')).to.deep.equal(['true', 'true', undefined]);
      expect(tagsOf(attempts, 'retry.count')).to.deep.equal([undefined, '1', '2']);
      for (const [i, { startMs, endMs }] of attempts.entries()) {
        expect(endMs).to.be.at.least(startMs);
        if (i > 0) expect(startMs).to.be.at.least(attempts[i - 1]!.endMs);
        expect(endMs).to.be.at.most(request.endMs);
      }
    });
  }

  it('ends the span of the last attempt with the response that the client receives', async () => {
    const { status, attempts, request } = await traced((_req, res) => res.writeHead(503).end(), {
      retryOn: '5xx',
      numRetries: 1,
    });
    expect(status).to.equal(503);
    expect(tagsOf(attempts, 'http.status_code')).to.deep.equal(['503', '503']);
    expect(request.tags).to.include({ 'http.status_code': '503', response_flags: 'URX', error: 'true' });
  });

  it('sends the span of the request with each attempt if attempts have none', async () => {
    const { attempts, request, received } = await traced(
      (_req, res, n) => res.writeHead(n < 2 ? 503 : 200).end(),
      { retryOn: '5xx', numRetries: 2 },
      { spawnUpstreamSpan: false },
    );
    expect(attempts).to.deep.equal([]);
    expect(received).to.deep.equal([request.spanId, request.spanId]);
  });

  it('adds none for a request without an endpoint', async () => {
    const serve = serveTraced(routeOf(), [upstreamOf([])]);
    const { port } = await start((req, res) => serve(req, res, () => res.destroy()));
    expect((await fetch(`http://127.0.0.1:${port}/`)).status).to.equal(503);
    const { attempts, request } = await sentSpans();
    expect(attempts).to.deep.equal([]);
    expect(request.tags).to.include({ response_flags: 'UH' });
  });

  it('sends a mirrored request with the context of the gateway, and none if it must not be propagated', async () => {
    const copies: IncomingMessage['headers'][] = [];
    const [mirror, main] = [
      await start((req, res) => void (copies.push(req.headers), res.end())),
      await start((_req, res) => res.end()),
    ];
    const shadowing = { upstream: { name: 'mirror', namespace: 'gw-system' }, percentage: 100 };
    const upstreams = [upstreamOf([endpointOf(main.port)]), upstreamOf([endpointOf(mirror.port)], 'mirror')];
    const client = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
    for (const propagate of [true, false]) {
      const serve = serveTraced(routeOf({ options: { shadowing, tracing: { propagate } } as never }), upstreams);
      const { port } = await start((req, res) => serve(req, res, () => res.destroy()));
      await fetch(`http://127.0.0.1:${port}/`, { headers: { traceparent: client } });
      await until(() => copies.length === (propagate ? 1 : 2));
      await sentSpans();
    }
    const attempt = collector.spans.find(({ kind }) => kind === 3)!;
    expect(copies[0]!['traceparent']).to.equal(`00-${attempt.traceId}-${attempt.spanId}-01`);
    expect(copies[1]).not.to.have.property('traceparent');
  });

  describe('of a WebSocket', () => {
    const options = { upgrades: [{ websocket: {} }] } as never;

    let closing = 0;

    /** Opens a WebSocket through the router, and returns its spans after both ends have closed. */
    async function upgraded(upstreamPort: number) {
      const serve = serveTraced(routeOf({ options }), [upstreamOf([endpointOf(upstreamPort)])]);
      const server = createServer();
      server.on('upgrade', (req, socket, head) => serve.upgrade!(req, socket, head));
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      const client = new WebSocket(`ws://127.0.0.1:${(server.address() as AddressInfo).port}/ws`);
      await new Promise((resolve) => {
        client
          .on('error', resolve)
          .on('close', resolve)
          .on('message', () => {
            closing = Date.now();
            client.close();
          });
      });
      await new Promise((resolve) => server.close(resolve));
      await until(() => collector.spans.length === 2);
      return await sentSpans();
    }

    it('ends when the connection does, and the upstream receives that of its call', async () => {
      const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
      let received = '';
      server.on('connection', (socket, { headers }) => {
        received = PARENT.exec(String(headers['traceparent']))![2]!;
        socket.send('hello');
      });
      await new Promise((resolve) => server.once('listening', resolve));
      const { request, attempts } = await upgraded((server.address() as AddressInfo).port);
      server.close();
      expect(request.tags).to.include({ 'http.status_code': '101', 'http.url': request.tags['http.url']! });
      expect(request.tags).not.to.have.property('error');
      expect(request.endMs).to.be.at.least(closing - 2);
      expect(attempts).to.have.lengthOf(1);
      expect(attempts[0]).to.include({ spanId: received, parentId: request.spanId });
      expect(attempts[0]!.tags).to.include({ 'http.status_code': '101' });
      expect(attempts[0]!.tags['upstream_address']).to.match(/^127\.0\.0\.1:\d+$/);
    });

    it('is marked if the upstream rejects the handshake or is unavailable', async () => {
      const rejecting = createServer((_req, res) => res.writeHead(403).end());
      await new Promise<void>((resolve) => rejecting.listen(0, '127.0.0.1', resolve));
      const { attempts } = await upgraded((rejecting.address() as AddressInfo).port);
      await new Promise((resolve) => rejecting.close(resolve));
      expect(tagsOf(attempts, 'http.status_code')).to.deep.equal(['403']);
      collector.spans.length = 0;
      const away = await upgraded(1);
      expect(away.request.tags).to.include({ 'http.status_code': '503', error: 'true' });
      expect(away.attempts[0]!.tags).to.include({ 'http.status_code': '0', response_flags: 'UF', error: 'true' });
    });
  });
});
