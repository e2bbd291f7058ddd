import { connect, createServer as createNetServer, type AddressInfo, type Socket } from 'node:net';
import { expect } from 'chai';
import { createClient } from 'graphql-ws';
import { WebSocket, type WebSocketServer } from 'ws';
import type { Limits } from '../../src/index.ts';
import { serve, type TestServer } from '../servers.ts';
import {
  acknowledge,
  events,
  rawSocketUpstream,
  readyClient,
  remoteFront,
  SCHEMA_TEXT,
  socketUpstream,
  until,
  type Front,
  type SocketUpstream,
} from './parts.ts';

const COUNT = 'subscription ($to: Int!) { count(to: $to) }';
/** Longer than a test may last: what ends did not end for want of time. */
const PATIENT = { operationTimeoutMs: 600_000, pingIntervalMs: 600_000 };

describe('subscriptions at a server that only has WebSocket', () => {
  let upstream: SocketUpstream;
  let front: Front;
  const remote = {
    upstreamRef: { name: 'a' },
    headers: { 'x-user': '{$headers.x-user}', 'sec-websocket-extensions': 'permessage-deflate' },
    queryParams: { client: 'a b' },
  };

  beforeEach(async () => {
    upstream = await socketUpstream();
    front = await remoteFront(`${upstream.url}/base/`, { remote, limits: PATIENT });
  });
  afterEach(async () => {
    await front.close();
    await upstream.close();
  });

  it('are received as events, with variables, and complete', async () => {
    const { status, results, complete } = await events(front.url, COUNT, {}, { to: 3 });
    expect(status).to.equal(200);
    expect(results).to.deep.equal([1, 2, 3].map((count) => ({ data: { count } })));
    expect(complete).to.equal(true);
  });

  it('are received over WebSocket, and complete', async () => {
    const client = createClient({ url: front.url.replace('http', 'ws'), webSocketImpl: WebSocket, retryAttempts: 0 });
    const results: unknown[] = [];
    for await (const result of client.iterate({ query: COUNT, variables: { to: 2 } })) results.push(result);
    expect(results).to.deep.equal([1, 2].map((count) => ({ data: { count } })));
    await client.dispose();
  });

  it('are requested by POST once, then directly over WebSocket', async () => {
    await events(front.url, COUNT, {}, { to: 1 });
    await events(front.url, COUNT, {}, { to: 1 });
    expect(upstream.asked).to.deep.equal(['POST /base/graphql?client=a%20b']);
    expect(upstream.upgrades).to.have.length(2);
  });

  it('carry path, parameters and headers of the executor in the upgrade, and nothing in connection_init', async () => {
    await events(front.url, COUNT, { 'x-user': 'ada', cookie: 'secret=1' }, { to: 1 });
    const [upgrade] = upstream.upgrades;
    expect(upgrade!.url).to.equal('/base/graphql?client=a%20b');
    expect(upgrade!.headers).to.include({ 'x-user': 'ada', host: new URL(upstream.url).host });
    expect(upgrade!.headers['x-request-id']).to.be.a('string').and.not.equal('');
    expect(upgrade!.headers).to.not.have.any.keys('cookie', 'origin', 'sec-websocket-extensions');
    expect(upstream.inits).to.deep.equal([undefined]);
  });

  it('never share a connection', async () => {
    const client = await readyClient(front.url);
    client.send({ type: 'subscribe', id: 'a', payload: { query: 'subscription { ticks }' } });
    await client.message('next', 'a');
    client.send({ type: 'subscribe', id: 'b', payload: { query: 'subscription { ticks }' } });
    await client.message('next', 'b');
    expect(upstream.sockets.clients.size).to.equal(2);
    client.send({ type: 'complete', id: 'a' });
    await until(() => upstream.sockets.clients.size === 1, 'one connection');
    client.webSocket.terminate();
    await until(() => upstream.sockets.clients.size === 0, 'no connection');
  });

  it('end at the server when the client disconnects', async () => {
    const over = new AbortController();
    const response = await fetch(front.url, {
      method: 'POST',
      signal: over.signal,
      headers: { 'content-type': 'application/json', accept: 'text/event-stream' },
      body: '{"query":"subscription { ticks }"}',
    });
    await response.body!.getReader().read();
    await until(() => upstream.sockets.clients.size === 1, 'a connection');
    over.abort();
    await until(() => upstream.sockets.clients.size === 0, 'no connection');
  });

  it('that the server rejects return a message `error`, or one event', async () => {
    const told = [{ message: 'not for you', extensions: { code: 'NOT_YOU' } }];
    const client = await readyClient(front.url);
    client.send({ type: 'subscribe', id: 'a', payload: { query: 'subscription { forbidden }' } });
    expect((await client.message('error')).payload[0]).to.deep.include(told[0]);
    client.webSocket.terminate();
    const { results, complete } = await events(front.url, 'subscription { forbidden }');
    expect(results).to.have.length(1);
    expect(results[0].errors[0]).to.deep.include(told[0]);
    expect(complete).to.equal(true);
  });

  it('work again after a server returns that uses events', async () => {
    await events(front.url, COUNT, {}, { to: 1 });
    const { port } = new URL(upstream.url);
    await upstream.close();
    expect((await events(front.url, COUNT, {}, { to: 1 })).results[0].errors[0].extensions.code).to.equal(
      'ERR_GRAPHQL_UPSTREAM',
    );
    const back = await serve((_req, res) => {
      res.writeHead(200, { 'content-type': 'text/event-stream' });
      res.end('event: next\ndata: {"data":{"count":7}}\n\nevent: complete\ndata:\n\n');
    });
    const moved = createNetServer((socket) => {
      socket
        .on('error', () => {})
        .pipe(connectTo(back))
        .on('error', () => {})
        .pipe(socket);
    });
    await new Promise<void>((resolve) => moved.listen(Number(port), '127.0.0.1', resolve));
    const { results } = await events(front.url, COUNT, {}, { to: 1 });
    expect(results).to.deep.equal([{ data: { count: 7 } }]);
    moved.close();
    await back.close();
  });
});

function connectTo({ server }: TestServer): Socket {
  return connect((server.address() as AddressInfo).port, '127.0.0.1');
}

describe('a server that rejects or breaks a WebSocket', () => {
  let servers: TestServer[] = [];
  let fronts: Front[] = [];
  afterEach(async () => {
    for (const each of [...fronts, ...servers]) await each.close();
    servers = [];
    fronts = [];
  });

  async function before(upstream: TestServer, limits: Partial<Limits> = PATIENT): Promise<Front> {
    const front = await remoteFront(upstream.url, { schemaDefinition: SCHEMA_TEXT, limits });
    servers.push(upstream);
    fronts.push(front);
    return front;
  }

  /** What both kinds of clients are told. */
  async function outcome(
    upstream: TestServer & { sockets?: WebSocketServer },
    limits?: Partial<Limits>,
  ): Promise<any[]> {
    const front = await before(upstream, limits);
    const query = 'subscription { ticks }';
    const { results, complete, text } = await events(front.url, query);
    expect(complete, text).to.equal(true);
    const client = await readyClient(front.url);
    client.send({ type: 'subscribe', id: 'a', payload: { query } });
    const { payload } = await client.message('error', 'a');
    expect(payload[0].message).to.equal(results.at(-1).errors[0].message);
    expect(client.messages.filter(({ type }) => type === 'complete')).to.deep.equal([]);
    client.webSocket.terminate();
    if (upstream.sockets) await until(() => upstream.sockets!.clients.size === 0, 'no connection is left');
    return results;
  }

  const FAILED = { message: 'The GraphQL server returned no result.', code: 'ERR_GRAPHQL_UPSTREAM' };
  function expectFailure(results: any[]): void {
    const { message, extensions } = results.at(-1).errors[0];
    expect({ message, code: extensions.code }).to.deep.equal(FAILED);
    expect(results.at(-1)).to.not.have.property('data');
    expect(JSON.stringify(results)).to.not.include('secret');
  }

  it('returns its own errors if it supports neither transport', async () => {
    const upstream = await serve((_req, res) => {
      res.writeHead(400, { 'content-type': 'application/json' });
      res.end('{"errors":[{"message":"no subscriptions here"}]}');
    });
    const results = await outcome(upstream);
    expect(results).to.deep.equal([{ errors: [{ message: 'no subscriptions here' }] }]);
  });

  for (const status of [400, 401, 403, 404, 429, 500, 302]) {
    it(`returns one error if it responds to POST with 405 and to the upgrade with ${status}`, async () => {
      const upstream = await serve((_req, res) => void res.writeHead(405).end('secret'));
      upstream.server.on('upgrade', (_req, socket) =>
        socket.end(`HTTP/1.1 ${status} No\r\nlocation: /elsewhere\r\ncontent-length: 6\r\n\r\nsecret`),
      );
      expectFailure(await outcome(upstream));
    });
  }

  for (const status of [401, 403, 429, 500, 503]) {
    it(`is not called over WebSocket if it responds to POST with ${status}`, async () => {
      const upstream = await serve((_req, res) => void res.writeHead(status).end('secret'));
      let upgrades = 0;
      upstream.server.on('upgrade', (_req, socket) => {
        upgrades++;
        socket.destroy();
      });
      expectFailure(await outcome(upstream));
      expect(upgrades).to.equal(0);
    });
  }

  for (const code of [1000, 1001, 1011, 4400, 4401, 4403, 4429]) {
    it(`returns one error when it closes with ${code} in place of connection_ack`, async () => {
      expectFailure(await outcome(await rawSocketUpstream((webSocket) => webSocket.close(code, 'secret'))));
    });
    it(`returns one error when it closes with ${code} in the middle`, async () => {
      const upstream = await rawSocketUpstream((webSocket) =>
        acknowledge(webSocket, (id) => {
          webSocket.send(JSON.stringify({ type: 'next', id, payload: { data: { ticks: 1 } } }));
          webSocket.close(code, 'secret');
        }),
      );
      const results = await outcome(upstream);
      expect(results[0]).to.deep.equal({ data: { ticks: 1 } });
      expectFailure(results);
    });
  }

  const messages: Record<string, (id: string) => string | Buffer> = {
    'what is no JSON': () => '{{{ secret',
    'a text': () => '"secret"',
    'an unknown type': () => '{"type":"secret"}',
    'a binary message': (id) => Buffer.from(JSON.stringify({ type: 'next', id, payload: { data: { ticks: 1 } } })),
    'a payload that is not an object': (id) => JSON.stringify({ type: 'next', id, payload: 'secret' }),
    'a payload that is not a result': (id) => JSON.stringify({ type: 'next', id, payload: { secret: 1 } }),
    'data that is not an object': (id) => JSON.stringify({ type: 'next', id, payload: { data: 'secret' } }),
    'errors that are not a list': (id) => JSON.stringify({ type: 'next', id, payload: { data: {}, errors: 'secret' } }),
    'an error without errors': (id) => JSON.stringify({ type: 'error', id, payload: [] }),
    'what is nested a million times': (id) =>
      `{"type":"next","id":${JSON.stringify(id)},"payload":{"data":{"ticks":${'['.repeat(1e6)}${']'.repeat(1e6)}}}}`,
    'a frame of 11 MiB': (id) =>
      JSON.stringify({ type: 'next', id, payload: { data: { ticks: 'secret'.padEnd(11 * 1024 * 1024) } } }),
  };
  for (const [what, message] of Object.entries(messages)) {
    it(`returns one error when it sends ${what}`, async () => {
      const upstream = await rawSocketUpstream((webSocket) =>
        acknowledge(webSocket, (id) => webSocket.send(message(id))),
      );
      expectFailure(await outcome(upstream));
    });
  }

  it('returns one error when it speaks another protocol, or none', async () => {
    expectFailure(await outcome(await rawSocketUpstream(() => {}, { handleProtocols: () => false })));
  });

  it('returns one error when it sends results before it has acknowledged', async () => {
    const upstream = await rawSocketUpstream((webSocket) =>
      webSocket.send('{"type":"next","id":"a","payload":{"data":{"ticks":1}}}'),
    );
    expectFailure(await outcome(upstream));
  });

  it('returns one error when it never acknowledges', async () => {
    expectFailure(await outcome(await rawSocketUpstream(() => {}), { operationTimeoutMs: 300 }));
  });

  it('returns one error if it never responds to the upgrade', async () => {
    const upstream = await serve((_req, res) => void res.writeHead(405).end());
    upstream.server.on('upgrade', (_req, socket) =>
      socket
        .on('error', () => {})
        .on('end', () => socket.destroy())
        .resume(),
    );
    expectFailure(await outcome(upstream, { operationTimeoutMs: 300 }));
  });

  it('is disconnected when the client leaves before the upgrade or the acknowledgement', async () => {
    const silent = await serve((_req, res) => void res.writeHead(405).end());
    const open = new Set<object>();
    silent.server.on('upgrade', (_req, socket) => {
      open.add(socket);
      socket
        .on('error', () => {})
        .on('end', () => socket.destroy())
        .on('close', () => open.delete(socket))
        .resume();
    });
    const unacknowledged = await rawSocketUpstream((webSocket) => {
      open.add(webSocket);
      webSocket.on('error', () => {}).once('close', () => open.delete(webSocket));
    });
    for (const upstream of [silent, unacknowledged]) {
      servers.push(upstream);
      const front = await remoteFront(upstream.url, { limits: PATIENT });
      fronts.push(front);
      const client = await readyClient(front.url);
      client.send({ type: 'subscribe', id: 'a', payload: { query: 'subscription { ticks }' } });
      await until(() => open.size === 1, 'a connection');
      client.webSocket.terminate();
      await until(() => open.size === 0, 'no connection');
    }
  });

  it('returns one error when the connection drops in the middle', async () => {
    const upstream = await rawSocketUpstream((webSocket) => acknowledge(webSocket, () => webSocket.terminate()));
    expectFailure(await outcome(upstream));
  });

  it('may send results of other subscriptions, which are ignored', async () => {
    const upstream = await rawSocketUpstream((webSocket) =>
      acknowledge(webSocket, (id) => {
        for (const each of ['other', id]) {
          webSocket.send(JSON.stringify({ type: 'next', id: each, payload: { data: { ticks: each === id ? 1 : 2 } } }));
        }
        webSocket.send(JSON.stringify({ type: 'complete', id: 'other' }));
        webSocket.send(JSON.stringify({ type: 'complete', id }));
      }),
    );
    const front = await before(upstream);
    const { results, complete } = await events(front.url, 'subscription { ticks }');
    expect(results).to.deep.equal([{ data: { ticks: 1 } }]);
    expect(complete).to.equal(true);
  });

  it('is disconnected if it does not respond to pings', async () => {
    const upstream = await rawSocketUpstream((webSocket) =>
      acknowledge(webSocket, () => {
        (
          webSocket as unknown as { _receiver: { removeAllListeners(name: string): void } }
        )._receiver.removeAllListeners('ping');
      }),
    );
    servers.push(upstream);
    const front = await remoteFront(upstream.url, { limits: { pingIntervalMs: 50 } });
    fronts.push(front);
    const { results } = await events(front.url, 'subscription { ticks }');
    expectFailure(results);
  });

  it('is disconnected when results arrive faster than the client reads them', async () => {
    let connections = 0;
    const upstream = await rawSocketUpstream((webSocket) =>
      acknowledge(webSocket, (id) => {
        const payload = { data: { ticks: 'x'.repeat(500_000) } };
        for (let i = 0; i < 200; i++) webSocket.send(JSON.stringify({ type: 'next', id, payload }));
      }),
    );
    upstream.sockets.on('connection', () => connections++);
    const front = await before(upstream);
    const client = await readyClient(front.url);
    client.webSocket.pause();
    client.send({ type: 'subscribe', id: 'a', payload: { query: 'subscription { ticks }' } });
    await until(() => connections === 1 && upstream.sockets.clients.size === 0, 'one connection, which is over');
    client.webSocket.resume();
    expect((await client.message('error', 'a')).payload[0].extensions.code).to.equal('ERR_GRAPHQL_SLOW_CLIENT');
    client.webSocket.terminate();
  });
});
