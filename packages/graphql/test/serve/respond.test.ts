import { request } from 'node:http';
import { expect } from 'chai';
import { graphqlApi } from '../../src/index.ts';
import { ask, serveHandler, type TestServer } from '../servers.ts';
import { SCHEMA_TEXT, socketUpstream, until, type SocketUpstream } from './parts.ts';

const EVENTS = { accept: 'text/event-stream' };
const query = (text: string, more = ''): string => `?query=${encodeURIComponent(text)}${more}`;

describe('GraphQL over HTTP, by method and media type', () => {
  let upstream: SocketUpstream;
  let front: TestServer;
  const handlers: ReturnType<typeof graphqlApi>[] = [];

  before(async () => {
    upstream = await socketUpstream();
    const remote = graphqlApi({
      schemaDefinition: SCHEMA_TEXT,
      remote: { upstreamRef: { name: 'ticks' } },
      upstreams: { ticks: upstream.url },
    });
    const local = graphqlApi({
      schemaDefinition: 'type Query { a: Int @resolve(name: "a") } type Mutation { a: Int @resolve(name: "a") }',
      resolutions: { a: { mockResolver: { syncResponse: 7 } } },
    });
    handlers.push(remote, local);
    front = await serveHandler((req, res, next) => {
      res.setHeader('vary', 'origin');
      (req.url!.startsWith('/local') ? local : remote)(req, res, next);
    });
  });
  after(async () => {
    await front.close();
    for (const handler of handlers) await handler.close?.();
    upstream.sockets.close();
    await upstream.close();
  });

  /** Status, headers and number of bytes of a HEAD request. */
  function head(path: string, headers: Record<string, string> = {}) {
    return new Promise<{ status: number; headers: NodeJS.Dict<string | string[]>; bytes: number }>(
      (resolve, reject) => {
        request(`${front.url}${path}`, { method: 'HEAD', headers }, (res) => {
          let bytes = 0;
          res.on('data', (chunk: Buffer) => (bytes += chunk.length));
          res.once('end', () => resolve({ status: res.statusCode!, headers: res.headers, bytes }));
        })
          .once('error', reject)
          .end();
      },
    );
  }

  it('a GET with accept: text/event-stream subscribes, as EventSource does', async () => {
    const variables = encodeURIComponent('{"to":2}');
    const path = query('subscription S($to: Int!) { count(to: $to) }', `&operationName=S&variables=${variables}`);
    const response = await fetch(`${front.url}/remote${path}`, { headers: EVENTS });
    expect(response.status).to.equal(200);
    expect(response.headers.get('content-type')).to.equal('text/event-stream; charset=utf-8');
    expect(await response.text()).to.equal(
      ':\n\nevent: next\ndata: {"data":{"count":1}}\n\nevent: next\ndata: {"data":{"count":2}}\n\nevent: complete\ndata:\n\n',
    );
  });

  it('a GET subscription ends at the server when the client disconnects', async () => {
    const over = new AbortController();
    const path = query('subscription { ticks }');
    const response = await fetch(`${front.url}/remote${path}`, { headers: EVENTS, signal: over.signal });
    const reader = response.body!.getReader();
    await reader.read();
    await until(() => upstream.sockets.clients.size === 1, 'a subscription at the server');
    over.abort();
    await until(() => upstream.sockets.clients.size === 0, 'its end');
  });

  for (const [name, path, headers, status] of [
    ['a GET mutation is rejected', query('mutation { hello }'), {}, 405],
    ['a GET mutation that wants events is rejected', query('mutation { hello }'), EVENTS, 405],
    ['a GET subscription that wants no events is rejected', query('subscription { ticks }'), {}, 400],
    ['a GET without a query is rejected', '', EVENTS, 400],
  ] as const) {
    it(name, async () => {
      const response = await fetch(`${front.url}/remote${path}`, { headers });
      expect(response.status).to.equal(status);
      expect(response.headers.get('content-type')).to.match(/^application\/json/);
      if (status === 405) expect(response.headers.get('allow')).to.equal('POST');
      expect(upstream.sockets.clients.size).to.equal(0);
    });
  }

  it('a HEAD is handled like a GET, without a body', async () => {
    const response = await fetch(`${front.url}/local${query('{ a }')}`);
    const body = await response.text();
    const { status, headers, bytes } = await head(`/local${query('{ a }')}`);
    expect({ status, bytes }).to.deep.equal({ status: 200, bytes: 0 });
    expect(headers['content-length']).to.equal(String(body.length));
    expect(headers['content-type']).to.equal(response.headers.get('content-type'));
  });

  for (const [name, path, headers, status] of [
    ['mutation', `/local${query('mutation { a }')}`, {}, 405],
    ['subscription without events', `/remote${query('subscription { ticks }')}`, {}, 400],
    ['invalid query', `/local${query('{ nothing }')}`, {}, 400],
    ['subscription that does not fit the schema', `/remote${query('subscription { nothing }')}`, EVENTS, 400],
  ] as const) {
    it(`a HEAD with a ${name} is rejected, without a body`, async () => {
      const { status: answered, bytes } = await head(path, headers);
      expect({ answered, bytes }).to.deep.equal({ answered: status, bytes: 0 });
    });
  }

  it('a HEAD of a subscription returns the content type and starts nothing', async () => {
    const { status, headers, bytes } = await head(`/remote${query('subscription { ticks }')}`, EVENTS);
    expect({ status, bytes }).to.deep.equal({ status: 200, bytes: 0 });
    expect(headers['content-type']).to.equal('text/event-stream; charset=utf-8');
    expect(upstream.sockets.clients.size).to.equal(0);
  });

  it('other methods get the allowed ones in Allow', async () => {
    const response = await fetch(`${front.url}/local`, { method: 'PUT' });
    expect(response.status).to.equal(405);
    expect(response.headers.get('allow')).to.equal('GET, HEAD, POST');
  });

  it('adds Accept to Vary of each response', async () => {
    const { headers } = await ask(`${front.url}/local`, '{ a }');
    expect(headers.get('vary')).to.equal('origin, Accept');
    for (const [path, accept] of [
      [query('{ nothing }'), 'application/json'],
      [query('{ a }'), 'image/png'],
      [query('{ a }'), 'text/event-stream'],
    ] as const) {
      const response = await fetch(`${front.url}/local${path}`, { headers: { accept } });
      await response.text();
      expect(response.headers.get('vary'), accept).to.equal('origin, Accept');
    }
  });
});
