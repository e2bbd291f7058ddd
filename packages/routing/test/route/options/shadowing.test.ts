import { once } from 'node:events';
import { connect } from 'node:net';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { expect } from 'chai';
import { createContext, type Route } from '@edge-gateway/core';
import { ShadowLimits } from '../../../src/route/options/shadow-limits.ts';
import { echo, endpointOf, start, upstreamOf } from '../../snapshots.ts';
import { served, type Asked, type Served } from '../../served.ts';
import { until } from '../../../../../test/parts/until.ts';

interface Copy {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

type Respond = (req: IncomingMessage, res: ServerResponse) => void;
type Shadowing = NonNullable<Route['options']['shadowing']>;

const TO = { upstream: { name: 'copies', namespace: 'gw-system' }, percentage: 100 };

describe('shadowing', () => {
  let gateway: Served;
  let copies: Copy[];

  afterEach(() => gateway.close());

  /** Serves a route whose requests are copied to a server that notes them. */
  async function serve(more: Partial<Shadowing> = {}, options: Route['options'] = {}, respond?: Respond) {
    copies = [];
    const { port } = await start((req, res) => {
      let body = '';
      req.setEncoding('utf8').on('data', (chunk: string) => (body += chunk));
      req.on('end', () => {
        copies.push({ method: req.method!, url: req.url!, headers: req.headers, body });
        if (respond) respond(req, res);
        else res.end('of the copy');
      });
    });
    const primary = upstreamOf([endpointOf((await start(echo)).port)]);
    const upstreams = [primary, upstreamOf([endpointOf(port)], 'copies')];
    gateway = await served({ options: { ...options, shadowing: { ...TO, ...more } }, upstreams });
  }

  const stat = (name: string) => gateway.stat(`http.http.shadow.${name}`);
  const asking = (asked?: Asked, path = '/a?b') => gateway.ask(path, asked);

  it('copies the request as it is sent upstream, with a suffix of the host', async () => {
    const headerManipulation = { requestHeadersToRemove: ['x-secret'] };
    await serve({}, { prefixRewrite: '/v1', headerManipulation });
    const headers = { host: 'a.example:8080', 'x-secret': '1', 'x-kept': '2' };
    const response = await asking({ method: 'POST', headers, body: 'hello' }, '/a?b');
    expect(JSON.parse(response.body).url).to.equal('/v1a?b');
    await until(() => stat('sent') === 1);
    expect(copies).to.have.length(1);
    const [copy] = copies;
    expect([copy!.method, copy!.url, copy!.body]).to.deep.equal(['POST', '/v1a?b', 'hello']);
    expect(copy!.headers).to.include({ host: 'a.example-shadow:8080', 'x-kept': '2', 'content-length': '5' });
    expect(copy!.headers).not.to.have.property('x-secret');
    expect(stat('active')).to.equal(0);
  });

  it('adds no suffix to an address in brackets', async () => {
    await serve();
    await asking({ headers: { host: '[2001:db8::1]:8080' } });
    await until(() => copies.length === 1);
    expect(copies[0]!.headers.host).to.equal('[2001:db8::1]:8080');
  });

  it('holds bodies of copies in progress only', () => {
    const limits = new ShadowLimits(createContext());
    const half = 16 * 1024 * 1024;
    const hold = (): boolean => limits.acquire() && limits.hold(half);
    expect([hold(), hold(), limits.hold(1)]).to.deep.equal([true, true, false]);
    limits.release(true, half);
    expect([hold(), limits.hold(1)]).to.deep.equal([true, false]);
    limits.unhold(half);
    expect(hold()).to.equal(true);
  });

  it('copies requests without a body', async () => {
    await serve({ disableShadowHostSuffixAppend: true });
    await asking();
    await until(() => copies.length === 1);
    expect([copies[0]!.method, copies[0]!.headers.host, copies[0]!.body]).to.deep.equal(['GET', 'a.example', '']);
  });

  it('sends hostRewriteLiteral unchanged', async () => {
    await serve({ hostRewriteLiteral: 'copy.example' });
    await asking();
    await until(() => copies.length === 1);
    expect(copies[0]!.headers.host).to.equal('copy.example');
  });

  it('copies chunked bodies', async () => {
    await serve();
    const chunks = ['3\r\nabc\r\n', '4\r\ndefg\r\n', '0\r\n\r\n'];
    const socket = connect(gateway.port, '127.0.0.1');
    socket.write('POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\nconnection: close\r\n\r\n');
    for (const chunk of chunks) socket.write(chunk);
    await until(() => copies.length === 1);
    expect(copies[0]!.body).to.equal('abcdefg');
    socket.destroy();
  });

  it('copies the given share of requests', async () => {
    await serve({ percentage: 50 });
    for (let i = 0; i < 60; i++) await asking();
    await until(() => stat('active') === 0);
    expect(copies.length).to.be.within(10, 50);
  });

  it('copies nothing without a percentage', async () => {
    await serve({ percentage: undefined });
    await asking();
    expect([copies.length, stat('sent'), stat('active')]).to.deep.equal([0, 0, 0]);
  });

  it('does not wait for the copy, and aborts it when the gateway closes', async () => {
    await serve({}, {}, () => {});
    for (let i = 0; i < 3; i++) expect((await asking()).status).to.equal(200);
    await until(() => copies.length === 3);
    expect(stat('active')).to.equal(3);
    await gateway.close();
    expect([stat('active'), stat('failed')]).to.deep.equal([0, 3]);
  });

  it('serves requests whose copies fail', async () => {
    await serve({}, {}, (req) => req.socket.destroy());
    expect((await asking({ method: 'POST', body: 'x' })).status).to.equal(200);
    await until(() => stat('failed') === 1);
  });

  it('serves requests if the upstream of the copies does not exist', async () => {
    await serve({ upstream: { name: 'none', namespace: 'gw-system' } });
    expect((await asking()).status).to.equal(200);
    await until(() => stat('failed') === 1);
  });

  it('limits the time of a copy to that of its route', async () => {
    await serve({}, { timeout: '1s' }, () => {});
    expect((await asking()).status).to.equal(200);
    await until(() => stat('failed') === 1);
  });

  it('does not copy a body above the limit, which reaches its own upstream', async () => {
    await serve();
    const body = 'x'.repeat(1024 * 1024 + 1);
    expect((await asking({ method: 'POST', body })).status).to.equal(200);
    expect((await asking({ method: 'POST', body, headers: { 'transfer-encoding': 'chunked' } })).status).to.equal(200);
    await until(() => stat('overflow') === 2);
    expect([copies.length, stat('active')]).to.deep.equal([0, 0]);
    expect((await asking({ method: 'POST', body: body.slice(2) })).status).to.equal(200);
    await until(() => copies.length === 1);
  });

  it('does not copy a request whose body stays incomplete', async () => {
    await serve();
    const socket = connect(gateway.port, '127.0.0.1');
    socket.write('POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 5\r\n\r\nab');
    await until(() => stat('active') === 1);
    socket.destroy();
    await until(() => stat('active') === 0);
    expect([copies.length, stat('overflow')]).to.deep.equal([0, 1]);
  });

  it('forgets a request whose client leaves after the response, within its body', async () => {
    await serve();
    const socket = connect(gateway.port, '127.0.0.1');
    socket.write('POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 5\r\n\r\nab');
    const [response] = (await once(socket, 'data')) as [Buffer];
    expect(String(response)).to.match(/^HTTP\/1\.1 200 /);
    expect(stat('active')).to.equal(1);
    socket.destroy();
    await until(() => stat('active') === 0);
  });

  it('discards a long response, and aborts it above a limit', async () => {
    const chunk = Buffer.alloc(1024 * 1024);
    await serve({}, {}, (_req, res) => {
      const more = (): void => {
        while (!res.destroyed && res.write(chunk));
      };
      res.on('drain', more);
      more();
    });
    expect((await asking()).status).to.equal(200);
    await until(() => stat('failed') === 1);
  });

  it('copies at most 512 requests at the same time', async () => {
    await serve({}, {}, () => {});
    for (let i = 0; i < 8; i++) await Promise.all(Array.from({ length: 65 }, () => asking()));
    expect([stat('active'), stat('overflow')]).to.deep.equal([512, 8]);
  });

  it('does not copy upgrades', async () => {
    await serve();
    const headers = {
      connection: 'upgrade',
      upgrade: 'websocket',
      'sec-websocket-version': '13',
      'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
    };
    expect((await asking({ headers })).status).to.equal(200);
    expect([copies.length, stat('active')]).to.deep.equal([0, 0]);
  });
});
