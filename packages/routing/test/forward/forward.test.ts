import { expect } from 'chai';
import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { createContext } from '@edge-gateway/core';
import { closeAll, gateway, get, httpUpstream, rawClient, rawUpstream, snapshotOf, until } from './harness.ts';

const OK = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok';

function bodyOf(req: IncomingMessage): Promise<string> {
  return new Promise((resolve) => {
    let body = '';
    req.setEncoding('latin1').on('data', (chunk: string) => (body += chunk));
    req.on('end', () => resolve(body));
  });
}

describe('forward', () => {
  afterEach(closeAll);

  it('forwards a head that arrives with only the size of the first chunk', async () => {
    const upstream = await rawUpstream((socket) => {
      socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\n');
    });
    const gw = await gateway({ upstream: snapshotOf(upstream.port), head: () => ({ timeoutMs: 0 }) });
    const req = request(gw.url, { agent: false }).end();
    const [res] = (await once(req, 'response')) as [IncomingMessage];
    for (const socket of upstream.sockets) socket.write('hello\r\n0\r\n\r\n');
    expect(String((await once(res, 'data'))[0])).to.equal('hello');
  });

  describe('the request', () => {
    it('is sent with the given method, path and headers, and keeps names and order', async () => {
      const upstream = await rawUpstream((socket) => socket.write(OK));
      const headers = ['Host', 'a.example', 'X-B', '1', 'x-a', '2', 'X-B', '3'];
      const gw = await gateway({
        upstream: snapshotOf(upstream.port),
        head: () => ({ path: '/p?q=%20', headers, method: 'PATCH' }),
      });
      await get(gw.url);
      const lines = upstream.requests[0]!.split('\r\n');
      expect(lines[0]).to.equal('PATCH /p?q=%20 HTTP/1.1');
      expect(lines).to.include.members(['Host: a.example', 'X-B: 1', 'x-a: 2', 'X-B: 3']);
    });

    it('without body has no framing', async () => {
      const upstream = await rawUpstream((socket) => socket.write(OK));
      const gw = await gateway({ upstream: snapshotOf(upstream.port) });
      await get(gw.url);
      expect(upstream.requests[0]).to.not.match(/content-length|transfer-encoding/i);
    });

    it('keeps the content-length the client gave', async () => {
      const port = await httpUpstream(
        (req, res) => void bodyOf(req).then((body) => res.end(`${req.headers['content-length']} ${body}`)),
      );
      const gw = await gateway({ upstream: snapshotOf(port) });
      const answer = await get(gw.url, { method: 'POST', headers: { 'content-length': '5' }, body: 'hello' });
      expect(answer.body).to.equal('5 hello');
      expect(gw.outcomes[0]).to.include({ bytesReceived: 5, bytesSent: 7, flags: '' });
    });

    it('is chunked if the client chunked it', async () => {
      const port = await httpUpstream(
        (req, res) => void bodyOf(req).then((body) => res.end(`${req.headers['transfer-encoding']} ${body}`)),
      );
      const gw = await gateway({ upstream: snapshotOf(port) });
      const { text } = await rawClient(
        gw.port,
        'POST / HTTP/1.1\r\nhost: a\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\nx-trailer: 1\r\n\r\n',
      );
      expect(text.endsWith('chunked abcde') || text.includes('chunked abcde')).to.equal(true);
    });

    it('carries a body with GET and DELETE', async () => {
      const port = await httpUpstream((req, res) => void bodyOf(req).then((body) => res.end(body)));
      const gw = await gateway({ upstream: snapshotOf(port) });
      for (const method of ['GET', 'DELETE']) {
        const answer = await get(gw.url, { method, headers: { 'content-length': '3' }, body: 'abc' });
        expect(answer.body).to.equal('abc');
      }
    });

    it('sends content-length: 0 for an empty POST', async () => {
      const upstream = await rawUpstream((socket) => socket.write(OK));
      const gw = await gateway({ upstream: snapshotOf(upstream.port) });
      await get(gw.url, { method: 'POST' });
      expect(upstream.requests[0]).to.match(/content-length: 0\r\n/i);
    });

    it('carries the body it is given instead of the one that was read', async () => {
      const port = await httpUpstream(
        (req, res) => void bodyOf(req).then((body) => res.end(`${req.headers['content-length']} ${body}`)),
      );
      const gw = await gateway({ upstream: snapshotOf(port), head: () => ({ body: Buffer.from('other!') }) });
      expect((await get(gw.url, { method: 'POST' })).body).to.equal('6 other!');
    });

    it('never carries framing headers of its caller', async () => {
      const upstream = await rawUpstream((socket) => socket.write(OK));
      const headers = [
        'host',
        'a',
        'content-length',
        '9',
        'transfer-encoding',
        'chunked',
        'connection',
        'close',
        'expect',
        '100-continue',
      ];
      const gw = await gateway({ upstream: snapshotOf(upstream.port), head: () => ({ headers }) });
      expect((await get(gw.url)).status).to.equal(200);
      expect(upstream.requests[0]).to.not.match(/content-length|transfer-encoding|close|expect/);
    });

    for (const [name, head] of Object.entries({
      'a header with a line break': { headers: ['host', 'a', 'x-a', 'b\r\nx-c: d'] },
      'a header name with a space': { headers: ['host', 'a', 'x a', 'b'] },
      'two hosts': { headers: ['host', 'a', 'host', 'b'] },
      'a path with a space': { path: '/a b' },
      'a path with a line break': { path: '/a\r\nx: y' },
      'a path that is none': { path: 'http://evil.example/' },
      'a method with a space': { method: 'GET /x' },
    })) {
      it(`with ${name} is not sent at all`, async () => {
        const upstream = await rawUpstream((socket) => socket.write(OK));
        const gw = await gateway({ upstream: snapshotOf(upstream.port), head: () => head });
        const answer = await get(gw.url);
        expect([answer.status, upstream.requests.length]).to.deep.equal([500, 0]);
      });
    }
  });

  describe('the response', () => {
    it('is complete, with names, order and repeated headers', async () => {
      const head =
        'HTTP/1.1 201 Made Up\r\nX-B: 1\r\nset-cookie: a\r\nSet-Cookie: b\r\nx-empty:\r\nX-High: \xe4\r\nContent-Length: 3\r\n\r\nabc';
      const upstream = await rawUpstream((socket) => socket.write(head, 'latin1'));
      const gw = await gateway({ upstream: snapshotOf(upstream.port) });
      const answer = await get(gw.url);
      expect(answer).to.include({ status: 201, body: 'abc', complete: true });
      expect(answer.raw.slice(0, 12)).to.deep.equal([
        'X-B',
        '1',
        'set-cookie',
        'a',
        'Set-Cookie',
        'b',
        'x-empty',
        '',
        'X-High',
        '\xe4',
        'Content-Length',
        '3',
      ]);
    });

    it('loses hop-by-hop headers and those that Connection names, never its length', async () => {
      const hop =
        'connection: close, X-Hop, content-length\r\nx-hop: 1\r\nkeep-alive: timeout=5\r\nproxy-connection: x\r\nte: trailers\r\ntrailer: x\r\nupgrade: h2c\r\nproxy-authenticate: Basic\r\n';
      const upstream = await rawUpstream((socket) =>
        socket.end(`HTTP/1.1 200 OK\r\n${hop}x-kept: 1\r\ncontent-length: 2\r\n\r\nok`),
      );
      const gw = await gateway({ upstream: snapshotOf(upstream.port) });
      const answer = await get(gw.url);
      expect(answer.headers).to.include({ 'x-kept': '1', 'content-length': '2' });
      for (const name of ['x-hop', 'proxy-connection', 'te', 'trailer', 'upgrade', 'proxy-authenticate']) {
        expect(answer.headers).to.not.have.property(name);
      }
    });

    it('is written with the headers of onResponseHead', async () => {
      const upstream = await rawUpstream((socket) => socket.write(OK));
      const gw = await gateway({
        upstream: snapshotOf(upstream.port),
        head: () => ({
          onResponseHead: (status, headers) => [...headers, 'x-status', String(status), 'x-two', 'a', 'x-two', 'b'],
        }),
      });
      expect((await get(gw.url)).headers).to.include({ 'x-status': '200', 'x-two': 'a, b' });
    });

    it('is a 502 when onResponseHead throws', async () => {
      const upstream = await rawUpstream((socket) => socket.write(OK));
      const onResponseHead = (): string[] => {
        throw new Error('broken');
      };
      const gw = await gateway({ upstream: snapshotOf(upstream.port), head: () => ({ onResponseHead }) });
      expect((await get(gw.url)).status).to.equal(502);
    });

    for (const [name, answer] of Object.entries({
      'comes at once': OK,
      'is empty': 'HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n',
      'goes on': 'HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nok',
      'has only begun': 'HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n',
    })) {
      it(`is aborted when onResponseHead returns invalid headers, and the body ${name}`, async () => {
        const upstream = await rawUpstream((socket) => socket.write(answer));
        const onResponseHead = (_status: number, headers: string[]): string[] => [...headers, 'x-a', 'b\r\nc: d'];
        const gw = await gateway({ upstream: snapshotOf(upstream.port), head: () => ({ onResponseHead }) });
        const { text } = await rawClient(gw.port, 'GET / HTTP/1.1\r\nhost: a\r\n\r\n');
        expect(text).to.equal('');
        expect(gw.outcomes).to.have.length(1);
        expect(gw.outcomes[0]).to.include({ aborted: true, flags: 'UPE' });
        expect(gw.stat('upstream_rq_active')).to.equal(0);
      });
    }

    it('to HEAD has its length and no body', async () => {
      const upstream = await rawUpstream((socket) => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n'));
      const gw = await gateway({ upstream: snapshotOf(upstream.port) });
      const answer = await get(gw.url, { method: 'HEAD' });
      expect(answer).to.include({ status: 200, body: '' });
      expect(answer.headers['content-length']).to.equal('1000');
    });

    it('204 has neither body nor length, and drops what the upstream sent as a body', async () => {
      const upstream = await rawUpstream((socket, _request, index) =>
        socket.write(index === 0 ? 'HTTP/1.1 204 No Content\r\ncontent-length: 3\r\n\r\nbad' : OK),
      );
      const gw = await gateway({ upstream: snapshotOf(upstream.port) });
      const answer = await get(gw.url);
      expect(answer).to.include({ status: 204, body: '' });
      expect(answer.headers).to.not.have.property('content-length');
      expect((await get(gw.url)).body).to.equal('ok');
    });

    it('304 keeps its content-length and has no body', async () => {
      const upstream = await rawUpstream((socket) =>
        socket.write('HTTP/1.1 304 Not Modified\r\ncontent-length: 1000\r\netag: "a"\r\n\r\n'),
      );
      const gw = await gateway({ upstream: snapshotOf(upstream.port) });
      const answer = await get(gw.url);
      expect(answer).to.include({ status: 304, body: '' });
      expect(answer.headers).to.include({ 'content-length': '1000', etag: '"a"' });
    });

    it('that ends with the connection is chunked for the client', async () => {
      const upstream = await rawUpstream((socket) => socket.end('HTTP/1.1 200 OK\r\n\r\nall of it'));
      const gw = await gateway({ upstream: snapshotOf(upstream.port) });
      const answer = await get(gw.url);
      expect(answer).to.include({ body: 'all of it', complete: true });
      expect(answer.headers['transfer-encoding']).to.equal('chunked');
    });

    it('from HTTP/1.0 is accepted', async () => {
      const upstream = await rawUpstream((socket) => socket.end('HTTP/1.0 200 OK\r\ncontent-length: 3\r\n\r\nold'));
      const gw = await gateway({ upstream: snapshotOf(upstream.port) });
      expect(await get(gw.url)).to.include({ status: 200, body: 'old' });
    });

    it('to an HTTP/1.0 client ends with the connection', async () => {
      const port = await httpUpstream((_req, res) => {
        res.write('a');
        res.end('b');
      });
      const gw = await gateway({ upstream: snapshotOf(port) });
      const { text } = await rawClient(gw.port, 'GET / HTTP/1.0\r\nhost: a\r\n\r\n');
      expect(text)
        .to.match(/\r\n\r\nab$/)
        .and.not.match(/transfer-encoding/i);
    });

    it('loses its trailers', async () => {
      const upstream = await rawUpstream((socket) =>
        socket.write(
          'HTTP/1.1 200 OK\r\ntrailer: x-t\r\ntransfer-encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nx-t: 1\r\n\r\n',
        ),
      );
      const gw = await gateway({ upstream: snapshotOf(upstream.port) });
      const { text } = await rawClient(gw.port, 'GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n');
      expect(text)
        .to.match(/\r\n\r\nok$/)
        .and.not.contain('x-t');
    });

    it('in chunks gets a length if it arrives in one read, and stays chunked otherwise', async () => {
      const upstream = await rawUpstream((socket, _request, index) => {
        const head = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n';
        if (index === 0) return void socket.write(`${head}2\r\nab\r\n1\r\nc\r\n0\r\n\r\n`);
        socket.write(`${head}2\r\nab\r\n`);
        setTimeout(() => socket.write('1\r\nc\r\n0\r\n\r\n'), 20);
      });
      const gw = await gateway({ upstream: snapshotOf(upstream.port) });
      const [once, twice] = [await get(gw.url), await get(gw.url)];
      expect([once.body, twice.body]).to.deep.equal(['abc', 'abc']);
      expect(once.headers).to.include({ 'content-length': '3' }).and.not.have.property('transfer-encoding');
      expect(twice.headers).to.include({ 'transfer-encoding': 'chunked' }).and.not.have.property('content-length');
      expect(upstream.connections).to.equal(1);
    });

    it('follows interim responses, which are dropped', async () => {
      const upstream = await rawUpstream((socket) =>
        socket.write(`HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\nHTTP/1.1 102 Processing\r\n\r\n${OK}`),
      );
      const gw = await gateway({ upstream: snapshotOf(upstream.port) });
      const { text } = await rawClient(gw.port, 'GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n');
      expect(text)
        .to.match(/^HTTP\/1.1 200 OK\r\n/)
        .and.not.contain('103 Early Hints');
    });

    it('head is sent immediately, before the body arrives', async () => {
      const upstream = await rawUpstream((socket) => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\n'));
      const gw = await gateway({ upstream: snapshotOf(upstream.port) });
      const req = request(gw.url, { agent: false }).end();
      const [res] = (await once(req, 'response')) as [IncomingMessage];
      expect(res.statusCode).to.equal(200);
      for (const socket of upstream.sockets) socket.write('abc');
      expect(await bodyOf(res)).to.equal('abc');
    });

    it('forwards each server-sent event immediately', async () => {
      let send = (_text: string): void => {};
      const port = await httpUpstream((_req, res) => {
        res.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
        send = (text) => void res.write(text);
      });
      const gw = await gateway({ upstream: snapshotOf(port) });
      const req = request(gw.url, { agent: false }).end();
      const [res] = (await once(req, 'response')) as [IncomingMessage];
      for (const event of ['data: 1\n\n', 'data: 2\n\n', 'data: 3\n\n']) {
        const next = once(res, 'data');
        send(event);
        expect(String((await next)[0])).to.equal(event);
      }
      req.destroy();
    });
  });

  describe('connections', () => {
    it('are kept and used again', async () => {
      const upstream = await rawUpstream((socket) => socket.write(OK));
      const gw = await gateway({ upstream: snapshotOf(upstream.port) });
      for (let i = 0; i < 10; i++) expect((await get(gw.url)).body).to.equal('ok');
      expect(upstream.connections).to.equal(1);
      expect([gw.stat('upstream_cx_total'), gw.stat('upstream_cx_active')]).to.deep.equal([1, 1]);
    });

    it('are kept when the Host header changes', async () => {
      const upstream = await rawUpstream((socket) => socket.write(OK));
      const gw = await gateway({ upstream: snapshotOf(upstream.port) });
      for (const host of ['a.example', 'b.example', 'c.example']) await get(gw.url, { headers: { host } });
      expect(upstream.connections).to.equal(1);
    });

    it('carry one request at a time', async () => {
      const port = await httpUpstream((req, res) => void setTimeout(() => res.end(req.url), Math.random() * 20));
      const gw = await gateway({ upstream: snapshotOf(port) });
      const answers = await Promise.all(Array.from({ length: 60 }, (_, i) => get(`${gw.url}/${i}`)));
      expect(answers.map((answer) => answer.body)).to.deep.equal(answers.map((_, i) => `/${i}`));
    });

    it('are bounded: more requests wait, and too many get 503', async () => {
      let open = 0;
      let most = 0;
      const release: (() => void)[] = [];
      const port = await httpUpstream((_req, res) => {
        most = Math.max(most, ++open);
        release.push(() => void res.end('ok', () => open--));
      });
      const spec = { circuitBreakers: { maxConnections: 2, maxPendingRequests: 3 } };
      const gw = await gateway({ upstream: snapshotOf(port, { spec }) });
      const answers = Array.from({ length: 8 }, () => get(gw.url));
      await until(() => gw.outcomes.length === 3 && release.length === 2);
      expect(gw.outcomes.map((outcome) => [outcome.failure?.code, outcome.flags])).to.deep.equal(
        Array.from({ length: 3 }, () => ['ERR_ROUTING_UPSTREAM_OVERFLOW', 'UO']),
      );
      expect(gw.stat('upstream_rq_pending_active')).to.equal(3);
      const timer = setInterval(() => release.splice(0).forEach((each) => each()), 5);
      const statuses = (await Promise.all(answers)).map((answer) => answer.status).sort();
      clearInterval(timer);
      expect(statuses).to.deep.equal([200, 200, 200, 200, 200, 503, 503, 503]);
      expect(most).to.equal(2);
      expect([gw.stat('upstream_rq_pending_overflow'), gw.stat('upstream_rq_pending_active')]).to.deep.equal([3, 0]);
    });

    it('are at least one, even if the upstream is configured for none', async () => {
      const upstream = await rawUpstream((socket) => socket.write(OK));
      const spec = { circuitBreakers: { maxConnections: 0, maxPendingRequests: 5 } };
      const gw = await gateway({ upstream: snapshotOf(upstream.port, { spec }) });
      const answers = await Promise.all(Array.from({ length: 3 }, () => get(gw.url)));
      expect(answers.map(({ status }) => status)).to.deep.equal([200, 200, 200]);
      expect(upstream.connections).to.equal(1);
    });

    it('a waiting request whose client leaves is forgotten', async () => {
      const upstream = await rawUpstream(() => {});
      const gw = await gateway({
        upstream: snapshotOf(upstream.port, { spec: { circuitBreakers: { maxConnections: 1 } } }),
      });
      const first = connect(gw.port, '127.0.0.1').on('error', () => {});
      first.write('GET /first HTTP/1.1\r\nhost: a\r\n\r\n');
      await until(() => upstream.requests.length === 1);
      const second = connect(gw.port, '127.0.0.1').on('error', () => {});
      second.write('GET /second HTTP/1.1\r\nhost: a\r\n\r\n');
      await until(() => gw.stat('upstream_rq_pending_active') === 1);
      second.destroy();
      await until(() => gw.stat('upstream_rq_pending_active') === 0);
      first.destroy();
      await until(() => upstream.sockets.size === 0);
      expect(upstream.requests.length).to.equal(1);
    });

    it('are replaced after the number of requests the upstream is configured for', async () => {
      const upstream = await rawUpstream((socket) => socket.write(OK));
      const spec = { connectionConfig: { maxRequestsPerConnection: 2 } };
      const gw = await gateway({ upstream: snapshotOf(upstream.port, { spec }) });
      for (let i = 0; i < 6; i++) expect((await get(gw.url)).status).to.equal(200);
      expect(upstream.connections).to.equal(3);
    });

    it('are closed after the idle time', async () => {
      const upstream = await rawUpstream((socket) => socket.write(OK));
      const spec = { connectionConfig: { commonHttpProtocolOptions: { idleTimeout: '0.03s' } } };
      const gw = await gateway({ upstream: snapshotOf(upstream.port, { spec }) });
      await get(gw.url);
      await until(() => upstream.sockets.size === 0);
      expect(gw.stat('upstream_cx_active')).to.equal(0);
      expect((await get(gw.url)).status).to.equal(200);
    });
  });

  describe('statistics', () => {
    it('count requests by status and class, and bytes', async () => {
      const upstream = await rawUpstream((socket, _request, index) =>
        socket.write(index < 2 ? OK : OK.replace('200 OK', '404 No')),
      );
      const gw = await gateway({ upstream: snapshotOf(upstream.port) });
      for (let i = 0; i < 3; i++) await get(gw.url);
      const names = ['total', 'completed', 'active', '200', '404', '2xx', '4xx', '5xx'];
      expect(names.map((name) => gw.stat(`upstream_rq_${name}`))).to.deep.equal([3, 3, 0, 2, 1, 2, 1, 0]);
      await until(() => gw.stat('upstream_cx_rx_bytes_total') >= 3 * OK.length - 2);
      const time = gw.context.metrics.list().find((each) => each.name.path.endsWith('upstream_rq_time'));
      expect(time?.type === 'histogram' && time.stat.count).to.equal(3);
    });

    it('appear in Prometheus form with their labels', async () => {
      const upstream = await rawUpstream((socket) => socket.write(OK));
      const context = createContext();
      const gw = await gateway({ upstream: snapshotOf(upstream.port), context });
      await get(gw.url);
      const text = await context.metrics.registry.metrics();
      expect(text).to.contain('envoy_cluster_upstream_rq_total{envoy_cluster_name="echo_gw-system"} 1');
      expect(text).to.match(/envoy_cluster_upstream_rq\{[^}]*envoy_response_code="200"[^}]*\} 1/);
      expect(text).to.match(/envoy_cluster_upstream_rq_xx\{[^}]*envoy_response_code_class="2"[^}]*\} 1/);
    });
  });

  it('accepts only upstreams of createUpstreams', async () => {
    const { forward } = await import('../../src/forward/forward-request.ts');
    const own = { name: 'own', snapshot: snapshotOf(1), hostStates: [], pick: () => undefined };
    expect(() => forward({} as never, {} as never, own, {} as never)).to.throw(TypeError);
  });
});
