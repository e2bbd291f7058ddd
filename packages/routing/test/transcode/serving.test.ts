import { request } from 'node:http';
import { createContext, silentLoggers, type Route, type SnapshotUpstream } from '@edge-gateway/core';
import type { GrpcJsonTranscoder } from '@edge-gateway/core/schema';
import { expect } from 'chai';
import { served, type Asked, type Served, type ServedParts } from '../served.ts';
import { directOf, endpointOf, routeOf, upstreamOf } from '../snapshots.ts';
import { shopDescriptors } from './shop.ts';
import { startShop, type ShopServer } from './shop-server.ts';

const BINARY = Buffer.from(shopDescriptors()).toString('base64');

describe('gRPC-JSON transcoding', () => {
  let shop: ShopServer;
  let gateway: Served | undefined;

  before(async () => {
    shop = await startShop();
  });
  after(() => shop.close());
  afterEach(async () => {
    shop.calls.length = 0;
    await gateway?.close();
    gateway = undefined;
  });

  /** An upstream with the shop, and with a transcoder unless that is `undefined`. */
  function shopUpstream(options: GrpcJsonTranscoder | undefined = {}, name = 'up'): SnapshotUpstream {
    const upstream = upstreamOf([endpointOf(shop.port)], name);
    const grpcJsonTranscoder = { services: ['shop.Shop'], protoDescriptorBin: BINARY, ...options };
    return {
      ...upstream,
      spec: { static: { ...upstream.spec.static, serviceSpec: { grpcJsonTranscoder } }, useHttp2: true },
    };
  }

  const transcoded = (upstream = 'up_gw-system', options: Route['options'] = {}) => {
    const transcoder = { upstream, version: '1' };
    return routeOf({
      options,
      action: { type: 'forward', destinations: [{ upstream, weight: 1, options: {}, transcoder }] },
    });
  };

  async function start(options: GrpcJsonTranscoder = {}, parts: ServedParts = {}): Promise<Served> {
    const context = createContext({ log: silentLoggers });
    gateway = await served({ context, upstreams: [shopUpstream(options)], routes: [transcoded()], ...parts });
    return gateway;
  }

  async function json(path: string, asked: Asked = {}): Promise<string> {
    const { status, body, headers } = await gateway!.ask(path, asked);
    return `${status} ${headers['content-type'] ?? '-'} ${body}`;
  }

  const posted = (body: string, method = 'POST'): Asked => ({
    method,
    body,
    headers: { 'content-type': 'application/json' },
  });

  it('calls a method, and returns its message as JSON', async () => {
    await start();
    expect(await json('/v1/books/7?title=t')).to.equal('200 application/json {"id":"7","title":"t"}');
    expect(await json('/v1/shelves/a/books', posted('{"id": 1}'))).to.equal(
      '200 application/json {"shelf":"shelves/a","book":{"id":"1"}}',
    );
    expect(await json('/v1/books/9', posted('{"pageCount": 3}', 'PATCH'))).to.equal(
      '200 application/json {"id":"9","pageCount":3}',
    );
    expect(await json('/v1/books/9', { method: 'DELETE' })).to.equal('200 application/json {"id":"9"}');
    expect(await json('/v1/shelves/a/titles?size=2')).to.equal(
      '200 application/json [{"id":"1","title":"shelves/a"},{"id":"2","title":"shelves/a"}]',
    );
    expect(shop.calls.map(({ method }) => method)).to.deep.equal(['Get', 'Add', 'Change', 'Remove', 'List']);
    expect(gateway!.stat('http.http.grpc_json_transcoder.transcoded')).to.equal(5);
  });

  it('removes the digests of the bodies that it translates', async () => {
    const transformationTemplate = {
      passthrough: {},
      headers: { 'content-digest': { text: 'x' }, 'x-set': { text: '1' } },
    };
    const postRouting = { responseTransforms: [{ responseTransformation: { transformationTemplate } }] };
    await start({}, { routes: [transcoded(undefined, { stagedTransformations: { postRouting } })] });
    const sent = posted('{"id": 1}');
    const { headers } = await gateway!.ask('/v1/shelves/a/books', {
      ...sent,
      headers: { ...sent.headers, 'content-digest': 'x', 'x-own': '1' },
    });
    expect(shop.calls[0]!.metadata).to.include({ 'x-own': '1' }).and.not.have.property('content-digest');
    expect(headers).to.include({ 'x-set': '1' }).and.not.have.property('content-digest');
  });

  it('sends the original request as headers, and none about compression', async () => {
    await start();
    const headers = {
      'x-own': '1',
      'grpc-encoding': 'gzip',
      'grpc-accept-encoding': 'gzip',
      'x-envoy-original-path': '/forged',
    };
    const { headers: received } = await gateway!.ask('/v1/books/7?title=t', { headers });
    const [{ metadata } = { metadata: {} }] = shop.calls;
    expect(metadata).to.include({
      'x-own': '1',
      'x-envoy-original-path': '/v1/books/7?title=t',
      'x-envoy-original-method': 'GET',
    });
    expect(metadata).not.to.have.any.keys('grpc-encoding');
    expect(received).to.include({ 'grpc-status': '0', 'content-length': '22' });
    expect(received).not.to.have.any.keys('trailer', 'grpc-encoding', 'transfer-encoding');
  });

  it('returns the HTTP status of a failure', async () => {
    await start();
    const { status, headers, body } = await gateway!.ask('/v1/fail/5?message=no%20b%C3%A9');
    expect([status, body]).to.deep.equal([404, '']);
    expect(headers).to.include({ 'grpc-status': '5', 'grpc-message': 'no%20b%C3%A9', 'content-length': '0' });
    expect(headers).not.to.have.any.keys('content-type');
  });

  it('returns the status as JSON if the options say so', async () => {
    await start({ convertGrpcStatus: true });
    expect(await json('/v1/fail/7?message=no')).to.equal('403 application/json {"code":7,"message":"no"}');
    expect(await json('/v1/fail/7?message=no&detail=true')).to.equal('403 application/json {"code":7,"message":"hi"}');
  });

  it('rejects a request that does not fit as JSON, without a call', async () => {
    await start();
    const rejected: readonly (readonly [path: string, asked: Asked, message: string])[] = [
      ['/v1/books/x', {}, "invalid request parameter 'id': cannot decode field shop.Book.id from JSON"],
      ['/v1/echo', posted('{"text": 1}'), 'invalid request: cannot decode field shop.All.text from JSON'],
      ['/v1/echo', posted('{'), 'invalid request: the body is not valid JSON'],
      [
        '/v1/books/7',
        { body: '{}', headers: { 'content-length': '2' } },
        'invalid request: the method accepts no body',
      ],
      ['/v1/texts/%C3', {}, 'invalid request: an escape of the path or the query is not UTF-8'],
    ];
    for (const [path, asked, message] of rejected) {
      const { status, body } = await gateway!.ask(path, asked);
      expect(status, path).to.equal(400);
      const error = JSON.parse(body) as Record<string, string>;
      expect(error['code']).to.equal('ERR_ROUTING_GRPC_JSON');
      expect(error['message']).to.contain(message);
    }
    expect(shop.calls).to.deep.equal([]);
    expect(gateway!.stat('http.http.grpc_json_transcoder.rejected')).to.equal(5);
  });

  it('rejects a body beyond the limit of the listener', async () => {
    await start({}, { listener: { options: { perConnectionBufferLimitBytes: 1000 } } });
    const large = posted(JSON.stringify({ text: 'x'.repeat(1000) }));
    expect((await gateway!.ask('/v1/echo', large)).status).to.equal(413);
    expect((await gateway!.ask('/v1/echo', posted('{"text": "x"}'))).status).to.equal(200);
    expect((await gateway!.ask('/v1/shelves/a/books?size=200')).status).to.equal(502);
  });

  it('passes requests that no rule matches, and those of gRPC clients', async () => {
    await start();
    expect((await gateway!.ask('/v2/books')).status).to.equal(415);
    expect((await gateway!.ask('/v1/books/7?debug=1')).status).to.equal(415);
    expect(gateway!.stat('http.http.grpc_json_transcoder.passed_through')).to.equal(2);
    const headers = { 'content-type': 'application/grpc', te: 'trailers' };
    const { headers: received } = await gateway!.ask('/shop.Shop/Hidden', {
      method: 'POST',
      headers,
      body: '\0\0\0\0\0',
    });
    expect(received['content-type']).to.contain('application/grpc');
    expect(shop.calls.map(({ method }) => method)).to.deep.equal(['Hidden']);
  });

  it('passes raw bodies in both directions', async () => {
    await start();
    const asked = { method: 'POST', headers: { 'content-type': 'text/csv' }, body: 'a,b\n' };
    expect(await json('/v1/raw', asked)).to.equal('200 text/csv a,b\n');
    expect(await json('/v1/stored/n', { ...asked, method: 'PUT' })).to.equal('200 text/csv a,b\n');
  });

  it('streams messages as a JSON array', async () => {
    await start();
    expect(await json('/v1/watch?after=3')).to.equal('200 application/json [{"id":"1"},{"id":"2"},{"id":"3"}]');
    expect(await json('/v1/watch')).to.equal('200 application/json []');
    expect(await json('/v1/download?after=2')).to.equal('200 text/csv 1\n2\n');
    expect((await gateway!.ask('/v1/watch?code=5')).status).to.equal(404);
  });

  it('aborts a stream that fails after its first message', async () => {
    await start();
    const failed = await gateway!.ask('/v1/watch?after=2&code=13').then(
      ({ body }) => body,
      (error: Error & { code?: string }) => error.code,
    );
    expect(failed).to.equal('ECONNRESET');
  });

  it('sends the elements of a JSON array as messages', async () => {
    await start();
    expect(await json('/v1/collect?author=a', posted('[{"id": 1}, {"id": 2}]'))).to.equal(
      '200 application/json {"books":[{"id":"1","author":"a"},{"id":"2"}]}',
    );
    expect(await json('/v1/collect', posted('[]'))).to.equal('200 application/json {}');
    expect(await json('/v1/collect', { method: 'POST' })).to.equal('200 application/json {}');
    expect(await json('/v1/chat', posted('[{"id": 1}, {"id": 2}]'))).to.equal(
      '200 application/json [{"id":"1"},{"id":"2"}]',
    );
    expect((await gateway!.ask('/v1/collect', posted('{}'))).status).to.equal(400);
    expect((await gateway!.ask('/v1/collect', posted('[{"id": 1}, {"id": "x"}]'))).status).to.equal(400);
  });

  it('sets the fields of the path in the first message of a stream, also if there is no other', async () => {
    await start();
    const path = '/v1/authors/ann/collect';
    expect(await json(path, posted('[{"id": 1, "author": "bob"}, {"id": 2, "author": "bob"}]'))).to.equal(
      '200 application/json {"books":[{"id":"1","author":"ann"},{"id":"2","author":"bob"}]}',
    );
    const alone = '200 application/json {"books":[{"author":"ann"}]}';
    expect(await json(path, posted('[]'))).to.equal(alone);
    expect(await json(path, { method: 'POST' })).to.equal(alone);
  });

  it('answers each message of a stream before the next one is sent', async () => {
    const { port } = await start();
    const headers = { host: 'a.example', 'content-type': 'application/json' };
    const asked = request({ port, host: '127.0.0.1', path: '/v1/chat', method: 'POST', headers });
    const parts: string[] = [];
    await new Promise<void>((resolve, reject) => {
      asked.on('error', reject).on('response', (response) => {
        response.setEncoding('utf8').on('end', resolve).on('error', reject);
        response.on('data', (chunk: string) => {
          parts.push(chunk);
          if (parts.length === 1) asked.write(',{"id": 2}');
          else if (parts.length === 2) asked.end(']');
        });
      });
      asked.write('[{"id": 1}');
      // The end of the first element is known with the comma only.
      asked.write(',{"id": 3}');
    });
    expect(JSON.parse(parts.join(''))).to.deep.equal([{ id: '1' }, { id: '3' }, { id: '2' }]);
  });

  describe('selects the route', () => {
    const grpc = directOf('by the gRPC path', { name: 'grpc', matchers: [{ prefix: '/shop.Shop/' }] });

    it('again by the path of the call', async () => {
      await start({}, { routes: [grpc, transcoded()] });
      expect((await gateway!.ask('/v1/books/7')).body).to.equal('by the gRPC path');
    });

    it('once with matchIncomingRequestRoute', async () => {
      await start({ matchIncomingRequestRoute: true }, { routes: [grpc, transcoded()] });
      expect(await json('/v1/books/7')).to.equal('200 application/json {"id":"7"}');
    });

    it('and returns 404 if none matches the call', async () => {
      await start({}, { routes: [{ ...transcoded(), matchers: [{ prefix: '/v1' }] }] });
      expect((await gateway!.ask('/v1/books/7')).status).to.equal(404);
    });

    it('and translates the response also on a route without a transcoder', async () => {
      const upstreams = [shopUpstream(), { ...shopUpstream(undefined, 'plain') }];
      const plain = routeOf({ to: 'plain_gw-system', name: 'plain', matchers: [{ prefix: '/shop.Shop/' }] });
      await start({}, { upstreams, routes: [plain, transcoded()] });
      expect(await json('/v1/books/7')).to.equal('200 application/json {"id":"7"}');
    });
  });

  it('of a listener applies to upstreams without a transcoder', async () => {
    const grpcJsonTranscoder = { services: ['shop.Shop'], protoDescriptorBin: BINARY };
    await start({}, { http: { grpcJsonTranscoder }, routes: [routeOf()] });
    expect(await json('/v1/books/7')).to.equal('200 application/json {"id":"7"}');
  });

  it('responds to a failed connection in JSON clients can read', async () => {
    const upstream = shopUpstream();
    const closed = { ...upstream, endpoints: [endpointOf(1)] };
    await start({}, { upstreams: [closed] });
    const { status, headers } = await gateway!.ask('/v1/books/7');
    expect(status).to.equal(503);
    expect(headers['content-type']).not.to.contain('grpc');
  });

  it('responds with 500 without valid descriptors', async () => {
    await start({ protoDescriptorBin: 'AAAA' });
    const { status, body } = await gateway!.ask('/v1/books/7');
    expect(status).to.equal(500);
    expect(JSON.parse(body)).to.include({ code: 'ERR_ROUTING_ROUTE' });
    await gateway!.close();
    await start({ protoDescriptorBin: '' });
    expect((await gateway!.ask('/v1/books/7')).status).to.equal(500);
  });
});
