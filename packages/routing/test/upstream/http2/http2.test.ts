import { once } from 'node:events';
import { request } from 'node:http';
import type { Socket } from 'node:net';
import { expect } from 'chai';
import { compileRetries } from '@edge-gateway/core';
import { closeAll, forEachHttp2Client, gateway, get, snapshotOf, until, untilStill } from '../../forward/harness.ts';
import { FRAME } from '../../listen/http2/frames.ts';
import { frame, frameUpstream, lastHead } from './frames.ts';
import { bodyOf, http2Gateway, http2Upstream } from './servers.ts';

forEachHttp2Client(() =>
  describe('an upstream over HTTP/2', () => {
    afterEach(closeAll);

    it('receives method, authority, path and headers in lower case, without those of the connection', async () => {
      let received: readonly string[] = [];
      const upstream = await http2Upstream((stream, _headers, raw) => {
        received = raw;
        stream.respond({ ':status': 200 });
        stream.end('hello');
      });
      const gw = await http2Gateway(upstream.port);
      const res = await get(`${gw.url}/a?b=c`, {
        headers: { host: 'shop.example.com', 'X-Name': 'é', te: 'gzip', connection: 'x-name' },
      });
      expect(res).to.include({ status: 200, body: 'hello', complete: true });
      expect(received).to.deep.equal([
        ':method',
        'GET',
        ':scheme',
        'http',
        ':authority',
        'shop.example.com',
        ':path',
        '/a?b=c',
        'x-name',
        'é',
      ]);
    });

    it('keeps te: trailers and sends the authority of the endpoint without a host', async () => {
      let received: readonly string[] = [];
      const upstream = await http2Upstream((stream, _headers, raw) => {
        received = raw;
        stream.respond({ ':status': 200 }, { endStream: true });
      });
      const gw = await http2Gateway(upstream.port, {}, { headers: ['TE', 'trailers, deflate', 'upgrade', 'a'] });
      expect(await get(gw.url)).to.include({ status: 200, body: '' });
      expect(received.slice(4)).to.deep.equal([
        ':authority',
        `127.0.0.1:${upstream.port}`,
        ':path',
        '/',
        'te',
        'trailers',
      ]);
    });

    it('serves concurrent requests on one connection', async () => {
      const upstream = await http2Upstream((stream, headers) => {
        stream.respond({ ':status': 200, 'content-length': '3' });
        setImmediate(() => stream.end(headers[':path']!.slice(1)));
      });
      const gw = await http2Gateway(upstream.port);
      const paths = Array.from({ length: 50 }, (_, i) => String(100 + i));
      const bodies = await Promise.all(paths.map(async (path) => (await get(`${gw.url}/${path}`)).body));
      expect(bodies).to.deep.equal(paths);
      expect(upstream.connections).to.equal(1);
      expect(gw.stat('upstream_cx_http2_total')).to.equal(1);
      expect(gw.stat('upstream_cx_http1_total')).to.equal(0);
      expect(gw.stat('upstream_rq_200')).to.equal(50);
      expect(gw.stat('upstream_rq_active')).to.equal(0);
      expect(gw.stat('upstream_rq_pending_active')).to.equal(0);
      expect(gw.stat('upstream_cx_rx_bytes_total')).to.be.greaterThan(0);
      expect(gw.stat('upstream_cx_tx_bytes_total')).to.be.greaterThan(0);
    });

    it('opens another connection only when the streams of the others are in use', async () => {
      const waiting: (() => void)[] = [];
      const upstream = await http2Upstream(
        (stream) => {
          waiting.push(() => {
            stream.respond({ ':status': 200 });
            stream.end();
          });
        },
        { settings: { maxConcurrentStreams: 3 } },
      );
      const gw = await http2Gateway(upstream.port, { maxConcurrentStreams: 2 });
      const all = [1, 2, 3, 4, 5].map(() => get(gw.url));
      await until(() => waiting.length === 5, 'all requests');
      expect(upstream.connections).to.equal(3);
      for (const respond of waiting) respond();
      for (const each of all) expect((await each).status).to.equal(200);
    });

    it('respects the limit of connections: more requests wait, and too many get 503', async () => {
      const waiting: (() => void)[] = [];
      const upstream = await http2Upstream(
        (stream) => {
          waiting.push(() => {
            stream.respond({ ':status': 200 });
            stream.end();
          });
        },
        { settings: { maxConcurrentStreams: 1 } },
      );
      const gw = await http2Gateway(upstream.port, { circuitBreakers: { maxConnections: 1, maxPendingRequests: 1 } });
      const first = get(gw.url);
      await until(() => waiting.length === 1, 'the first request');
      const second = get(gw.url);
      await until(() => gw.stat('upstream_rq_pending_active') === 1, 'a waiting request');
      expect(await get(gw.url)).to.include({ status: 503 });
      waiting[0]!();
      await until(() => waiting.length === 2, 'the second request');
      waiting[1]!();
      expect([(await first).status, (await second).status]).to.deep.equal([200, 200]);
      expect(upstream.connections).to.equal(1);
      expect(gw.stat('upstream_rq_pending_overflow')).to.equal(1);
    });

    it('opens a connection to another host when one of the limit is closed', async () => {
      const held: (() => void)[][] = [[], []];
      const [one, other] = await Promise.all(
        held.map((waiting) =>
          http2Upstream(
            (stream) => {
              waiting.push(() => {
                if (stream.destroyed) return;
                stream.respond({ ':status': 200 });
                stream.end();
              });
            },
            { settings: { maxConcurrentStreams: 1 } },
          ),
        ),
      );
      const endpoints = [one!, other!].map(({ port }) => ({ address: '127.0.0.1', port, weight: 1 }));
      const spec = { useHttp2: true, circuitBreakers: { maxConnections: 3 } };
      const gw = await gateway({ upstream: snapshotOf(one!.port, { endpoints, spec }) });
      const sent = Array.from({ length: 4 }, () => get(gw.url));
      await until(() => held[0]!.length + held[1]!.length === 3 && gw.stat('upstream_rq_pending_active') === 1);
      const full = held[0]!.length === 2 ? 0 : 1;
      const [session] = [one!, other!][full]!.sessions;
      session!.destroy();
      await until(() => held[1 - full]!.length === 2, 'a connection to the other host');
      expect(gw.stat('upstream_cx_active')).to.equal(3);
      for (const respond of held.flat()) respond();
      const statuses = (await Promise.all(sent)).map(({ status }) => status);
      expect(statuses.toSorted()).to.deep.equal([200, 200, 200, 503]);
    });

    it('limits active requests', async () => {
      const upstream = await http2Upstream(() => {});
      const gw = await http2Gateway(upstream.port, { circuitBreakers: { maxRequests: 1 } });
      get(gw.url).catch(() => {});
      await until(() => upstream.requests === 1, 'the first request');
      const res = await get(gw.url);
      expect(res.status).to.equal(503);
      expect(gw.outcomes[0]!.flags).to.equal('UO');
    });

    it('receives bodies with and without a length', async () => {
      const seen: (string | undefined)[] = [];
      const upstream = await http2Upstream(async (stream, headers) => {
        seen.push(headers['content-length'], await bodyOf(stream));
        stream.respond({ ':status': 201 });
        stream.end('ok');
      });
      const gw = await http2Gateway(upstream.port);
      expect((await get(gw.url, { method: 'POST', body: 'hello' })).status).to.equal(201);
      const chunked = await get(gw.url, { method: 'PUT', body: 'chunks', headers: { 'transfer-encoding': 'chunked' } });
      expect(chunked.status).to.equal(201);
      expect((await get(gw.url, { method: 'POST' })).status).to.equal(201);
      expect(seen).to.deep.equal(['5', 'hello', undefined, 'chunks', '0', '']);
    });

    it('sends large bodies both ways', async () => {
      const upstream = await http2Upstream((stream) => {
        stream.respond({ ':status': 200 });
        stream.pipe(stream);
      });
      const gw = await http2Gateway(upstream.port);
      const body = 'x'.repeat(3_000_000);
      const res = await get(gw.url, { method: 'POST', body });
      expect(res.complete).to.equal(true);
      expect(res.body === body).to.equal(true);
    });

    it('stops sending to a client that does not read', async () => {
      let sent = 0;
      let paused = false;
      const chunk = Buffer.alloc(64 * 1024);
      const upstream = await http2Upstream((stream) => {
        stream.respond({ ':status': 200 });
        const send = (): void => {
          while (sent < 200_000_000) {
            sent += chunk.length;
            if (!stream.write(chunk)) {
              paused = true;
              stream.once('drain', send);
              return;
            }
            paused = false;
          }
          stream.end();
        };
        send();
      });
      const gw = await http2Gateway(upstream.port);
      const req = request(gw.url, { agent: false });
      req.end();
      const [res] = await once(req, 'response');
      res.pause();
      // The buffers of the sockets take some megabytes.
      await until(() => paused);
      await untilStill(() => sent);
      expect(sent).to.be.lessThan(100_000_000);
      // Other requests on the same connection are not blocked.
      expect(upstream.connections).to.equal(1);
      res.destroy();
    });

    it('responds with 503 to a reset before the response', async () => {
      const codes: Readonly<Record<number, string>> = {
        2: 'remote reset',
        7: 'remote refused stream reset',
        8: 'remote reset',
        10: 'remote error with CONNECT request',
      };
      for (const [code, reason] of Object.entries(codes)) {
        const upstream = await http2Upstream((stream) => stream.close(Number(code)));
        const gw = await http2Gateway(upstream.port);
        const res = await get(gw.url);
        expect(res.status).to.equal(503);
        expect(res.body).to.match(new RegExp(`reset reason: ${reason}$`));
        expect(gw.outcomes[0]!.flags).to.equal('UR');
        expect(gw.stat('upstream_rq_rx_reset')).to.equal(1);
      }
    });

    it('retries a refused stream by the condition refused-stream only', async () => {
      for (const [retryOn, status, requests] of [
        ['refused-stream', 200, 2],
        ['connect-failure', 503, 1],
        ['5xx', 200, 2],
      ] as const) {
        const upstream = await http2Upstream((stream) => {
          if (upstream.requests === 1) return stream.close(7);
          stream.respond({ ':status': 200 });
          stream.end();
        });
        const gw = await http2Gateway(upstream.port, {}, { retries: compileRetries({ retryOn, numRetries: 1 }) });
        expect((await get(gw.url, { method: 'POST', body: 'x' })).status, retryOn).to.equal(status);
        expect(upstream.requests, retryOn).to.equal(requests);
      }
    });

    it('delivers a response that arrives before the request is complete', async () => {
      let code: number | undefined;
      const upstream = await http2Upstream((stream) => {
        stream.on('close', () => (code = stream.rstCode));
        stream.respond({ ':status': 413 });
        stream.end('too large');
      });
      const gw = await http2Gateway(upstream.port);
      const req = request(gw.url, { method: 'POST', agent: false, headers: { 'content-length': '1000' } });
      req.on('error', () => {});
      req.write('first');
      const [res] = await once(req, 'response');
      expect(res.statusCode).to.equal(413);
      expect(await bodyOf(res)).to.equal('too large');
      await until(() => code !== undefined, 'the end of the stream');
      req.destroy();
      expect(gw.outcomes[0]).to.include({ flags: '', attempts: 1 });
    });

    it('cancels the stream when the client leaves', async () => {
      let code: number | undefined;
      const upstream = await http2Upstream((stream) => void stream.on('close', () => (code = stream.rstCode)));
      const gw = await http2Gateway(upstream.port);
      const req = request(gw.url, { agent: false });
      req.on('error', () => {}).end();
      await until(() => upstream.requests === 1, 'the request');
      req.destroy();
      await until(() => code !== undefined, 'the reset');
      expect(code).to.equal(8);
      expect(gw.stat('upstream_rq_tx_reset')).to.equal(1);
      expect(gw.stat('upstream_cx_active')).to.equal(1);
    });

    it('responds with 504 after the timeout and keeps the connection', async () => {
      const upstream = await http2Upstream((stream, headers) => {
        if (headers[':path'] === '/slow') return;
        stream.respond({ ':status': 200 });
        stream.end();
      });
      const gw = await http2Gateway(upstream.port, {}, { timeoutMs: 200 });
      expect((await get(`${gw.url}/slow`)).status).to.equal(504);
      expect((await get(gw.url)).status).to.equal(200);
      expect(upstream.connections).to.equal(1);
    });

    it('finishes requests and opens another connection after GOAWAY', async () => {
      let respond = (): void => {};
      const upstream = await http2Upstream((stream, headers) => {
        if (headers[':path'] === '/first') {
          respond = () => {
            stream.respond({ ':status': 200 });
            stream.end('first');
          };
          return;
        }
        stream.respond({ ':status': 200 });
        stream.end('other');
      });
      const gw = await http2Gateway(upstream.port);
      const first = get(`${gw.url}/first`);
      await until(() => upstream.requests === 1, 'the request');
      for (const session of upstream.sessions) session.close();
      await until(() => gw.stat('upstream_cx_close_notify') === 1, 'GOAWAY');
      expect((await get(gw.url)).body).to.equal('other');
      respond();
      expect(await first).to.include({ status: 200, body: 'first', complete: true });
      expect(upstream.connections).to.equal(2);
      await until(() => gw.stat('upstream_cx_active') === 1, 'the end of the first connection');
    });

    it('closes the connection after the number of requests that it may serve', async () => {
      const upstream = await http2Upstream((stream) => {
        stream.respond({ ':status': 200 });
        stream.end();
      });
      const gw = await http2Gateway(upstream.port, { connectionConfig: { maxRequestsPerConnection: 2 } });
      for (let i = 0; i < 4; i++) expect((await get(gw.url)).status).to.equal(200);
      expect(upstream.connections).to.equal(2);
      expect(gw.stat('upstream_cx_max_requests')).to.equal(2);
      await until(() => gw.stat('upstream_cx_active') === 0, 'closed connections');
    });

    it('closes an idle connection', async () => {
      const upstream = await http2Upstream((stream) => {
        stream.respond({ ':status': 200 });
        stream.end();
      });
      const idleTimeout = '0.05s';
      const gw = await http2Gateway(upstream.port, {
        connectionConfig: { commonHttpProtocolOptions: { idleTimeout } },
      });
      expect((await get(gw.url)).status).to.equal(200);
      await until(() => gw.stat('upstream_cx_active') === 0, 'a closed connection');
      expect((await get(gw.url)).status).to.equal(200);
    });

    it('finishes its requests when it is removed', async () => {
      let respond = (): void => {};
      const upstream = await http2Upstream((stream) => {
        respond = () => {
          stream.respond({ ':status': 200 });
          stream.end('late');
        };
      });
      const gw = await http2Gateway(upstream.port);
      const res = get(gw.url);
      await until(() => upstream.requests === 1, 'the request');
      const closed = gw.upstreams.close();
      respond();
      expect((await res).body).to.equal('late');
      await closed;
      await until(() => upstream.sessions.size === 0, 'the end of the connection');
    });

    describe('is closed although its server never ends the connection', () => {
      const spec = { connectionConfig: { connectTimeout: '3600s' } };
      const respond = (socket: Socket, id: number): void => void socket.write(lastHead(id, ':status', '200'));

      it('after a response', async () => {
        const upstream = await frameUpstream(respond, frame(FRAME.settings, 0, 0), { allowHalfOpen: true });
        const gw = await http2Gateway(upstream.port, spec);
        expect((await get(gw.url)).status).to.equal(200);
        await gw.upstreams.close();
        expect(gw.stat('upstream_cx_active')).to.equal(0);
      });

      for (const order of ['before', 'after'] as const) {
        it(`without settings, with a request that ends ${order} the close`, async () => {
          const upstream = await frameUpstream(respond, Buffer.alloc(0), { allowHalfOpen: true });
          const gw = await http2Gateway(upstream.port, spec);
          const client = request(gw.url).on('error', () => {});
          client.end();
          await until(() => upstream.connections === 1, 'the connection');
          const isWaiting = (): boolean => gw.stat('upstream_rq_pending_active') === 1;
          expect(isWaiting()).to.equal(true);
          const closed = order === 'after' ? gw.upstreams.close() : undefined;
          client.destroy();
          await until(() => !isWaiting(), 'the end of the request');
          await (closed ?? gw.upstreams.close());
        });
      }
    });

    it('forwards interim responses', async () => {
      const upstream = await http2Upstream((stream) => {
        stream.additionalHeaders({ ':status': 103, link: '</a.css>; rel=preload' });
        stream.respond({ ':status': 200 });
        stream.end('body');
      });
      const gw = await http2Gateway(upstream.port, {}, { passesInterim: true });
      const req = request(gw.url, { agent: false }).end();
      const hints: number[] = [];
      req.on('information', ({ statusCode }) => hints.push(statusCode));
      const [res] = await once(req, 'response');
      expect(await bodyOf(res)).to.equal('body');
      expect(hints).to.deep.equal([103]);
    });

    it('sends trailers in both directions if the listener passes them', async () => {
      let received: unknown;
      const upstream = await http2Upstream((stream) => {
        stream.on('trailers', (trailers) => (received = { ...trailers }));
        stream.respond({ ':status': 200, trailer: 'x-sum' }, { waitForTrailers: true });
        stream.on('wantTrailers', () => stream.sendTrailers({ 'x-sum': '2', authorization: 'secret' }));
        stream.resume().on('end', () => stream.end('body'));
      });
      const gw = await http2Gateway(upstream.port, {}, { trailers: { dropsUnderscores: false } });
      const req = request(gw.url, { method: 'POST', agent: false, headers: { 'transfer-encoding': 'chunked' } });
      req.addTrailers([
        ['x-up', '1'],
        ['host', 'evil'],
      ]);
      req.end('hello');
      const [res] = await once(req, 'response');
      expect(await bodyOf(res)).to.equal('body');
      expect(res.trailers).to.deep.equal({ 'x-sum': '2' });
      expect(received).to.deep.include({ 'x-up': '1' });
      expect(received).not.to.have.property('host');
    });
  }),
);
