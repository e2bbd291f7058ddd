import { connect, type Socket } from 'node:net';
import { expect } from 'chai';
import type { Limits } from '../../src/index.ts';
import { serve } from '../servers.ts';
import { isForeign } from '../../src/serve/socket-server.ts';
import {
  events,
  frontOf,
  rawClient,
  readyClient,
  remoteFront,
  socketUpstream,
  until,
  type Front,
  type RawClient,
  type SocketUpstream,
} from './parts.ts';

const TICKS = { query: 'subscription { ticks }' };

describe('WebSocket clients', () => {
  let upstream: SocketUpstream;
  let fronts: Front[] = [];

  before(async () => {
    upstream = await socketUpstream();
  });
  afterEach(async () => {
    for (const front of fronts) await front.close();
    fronts = [];
    await until(() => upstream.sockets.clients.size === 0, 'no connection to the server is left');
  });
  after(() => upstream.close());

  async function front(limits: Partial<Limits> = {}, allowedOrigins: string[] = []): Promise<Front> {
    const made = await remoteFront(upstream.url, { limits, options: { allowedOrigins } });
    fronts.push(made);
    return made;
  }

  it('are closed with 4408 when they do not send connection_init', async () => {
    const client = await rawClient((await front({ connectionInitTimeoutMs: 50 })).url);
    expect(await client.closed).to.equal(4408);
  });

  it('are closed with 4429 when they send it again', async () => {
    const client = await readyClient((await front()).url);
    client.send({ type: 'connection_init' });
    expect(await client.closed).to.equal(4429);
  });

  it('are closed with 4401 when they subscribe before it, without an upstream request', async () => {
    const before = upstream.upgrades.length + upstream.asked.length;
    const client = await rawClient((await front()).url);
    client.send({ type: 'subscribe', id: 'a', payload: TICKS });
    expect(await client.closed).to.equal(4401);
    expect(upstream.upgrades.length + upstream.asked.length).to.equal(before);
  });

  it('are closed with 4409 when they use an id twice', async () => {
    const client = await readyClient((await front()).url);
    client.send({ type: 'subscribe', id: 'a', payload: TICKS });
    await client.message('next', 'a');
    client.send({ type: 'subscribe', id: 'a', payload: TICKS });
    expect(await client.closed).to.equal(4409);
  });

  const wrong: Record<string, string | Buffer> = {
    'no JSON': '{{{',
    'a list': '[]',
    'an unknown type': '{"type":"start"}',
    'no type': '{}',
    'a subscription without id': '{"type":"subscribe","payload":{"query":"{ hello }"}}',
    'a subscription without query': '{"type":"subscribe","id":"a","payload":{}}',
    'variables that are not an object': '{"type":"subscribe","id":"a","payload":{"query":"{ hello }","variables":7}}',
    'what is nested too deep': `{"type":"ping","payload":{"a":${'['.repeat(100)}${']'.repeat(100)}}}`,
    'a binary message': Buffer.from('{"type":"ping"}'),
  };
  for (const [what, message] of Object.entries(wrong)) {
    it(`are closed with 4400 if they send ${what}`, async () => {
      const client = await readyClient((await front()).url);
      client.webSocket.send(message);
      expect(await client.closed).to.equal(4400);
    });
  }

  it('are closed with 1009 for a message above the limit of bodies', async () => {
    const client = await readyClient((await front({ maxBodyBytes: 1000 })).url);
    client.send({ type: 'subscribe', id: 'a', payload: { query: `{ hello } #${'x'.repeat(1000)}` } });
    expect(await client.closed).to.equal(1009);
  });

  it('get pongs for their pings, with the payload', async () => {
    const client = await readyClient((await front()).url);
    client.send({ type: 'ping', payload: { n: 1 } });
    expect(await client.message('pong')).to.deep.equal({ type: 'pong', payload: { n: 1 } });
  });

  it('receive an error above the maximum of operations, until one has ended', async () => {
    const client = await readyClient((await front({ maxSubscriptions: 2 })).url);
    for (const id of ['a', 'b']) {
      client.send({ type: 'subscribe', id, payload: TICKS });
      await client.message('next', id);
    }
    client.send({ type: 'subscribe', id: 'c', payload: TICKS });
    expect((await client.message('error', 'c')).payload[0].extensions.code).to.equal('ERR_GRAPHQL_LIMIT');
    client.send({ type: 'complete', id: 'a' });
    await until(() => upstream.sockets.clients.size === 1, 'one is over');
    client.send({ type: 'subscribe', id: 'd', payload: TICKS });
    await client.message('next', 'd');
    client.webSocket.terminate();
  });

  it('may reuse the id of an operation that has ended', async () => {
    const client = await readyClient((await front()).url);
    client.send({ type: 'subscribe', id: 'a', payload: { query: 'subscription { count(to: 1) }' } });
    await client.message('complete', 'a');
    client.messages.length = 0;
    client.send({ type: 'subscribe', id: 'a', payload: { query: 'subscription { count(to: 1) }' } });
    await client.message('complete', 'a');
    client.webSocket.terminate();
  });

  it('receive data and errors of a result in one message', async () => {
    const failing = await frontOf({
      schemaDefinition: 'type Query { a: Int @resolve(name: "a") b: Int @resolve(name: "b") }',
      resolutions: {
        a: { mockResolver: { syncResponse: 1 } },
        b: { mockResolver: { errorResponse: 'broken' } },
      },
    });
    fronts.push(failing);
    const client = await readyClient(failing.url);
    client.send({ type: 'subscribe', id: 'a', payload: { query: '{ a b }' } });
    const { payload } = await client.message('next', 'a');
    expect(payload.data).to.deep.equal({ a: 1, b: null });
    expect(payload.errors[0].path).to.deep.equal(['b']);
    await client.message('complete', 'a');
    client.webSocket.terminate();
  });

  it('receive an error if the API has no subscriptions', async () => {
    const local = await frontOf({
      schemaDefinition: 'type Query { a: Int @resolve(name: "a") } type Subscription { a: Int }',
      resolutions: { a: { mockResolver: { syncResponse: 1 } } },
    });
    fronts.push(local);
    const told = 'This API has no subscriptions.';
    const client = await readyClient(local.url);
    client.send({ type: 'subscribe', id: 'a', payload: { query: 'subscription { a }' } });
    expect((await client.message('error', 'a')).payload[0].message).to.equal(told);
    client.webSocket.terminate();
    const { status, text } = await events(local.url, 'subscription { a }');
    expect([status, JSON.parse(text).errors[0].message]).to.deep.equal([400, told]);
    const plain = await fetch(local.url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"query":"subscription { a }"}',
    });
    expect(((await plain.json()) as any).errors[0].message).to.equal(told);
  });

  it('receive an error that names the transports if they send a subscription by POST', async () => {
    const { url } = await front();
    const plain = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(TICKS),
    });
    expect(plain.status).to.equal(400);
    expect(((await plain.json()) as any).errors[0].message).to.include('accept: text/event-stream');
  });

  async function refusal(url: string, options: Parameters<typeof rawClient>[1]): Promise<string> {
    return rawClient(url, options).then(
      ({ webSocket }) => {
        webSocket.terminate();
        return 'accepted';
      },
      ({ message }: Error) => message,
    );
  }

  it('of another protocol, or none, are rejected with 400 before the upgrade', async () => {
    const { url } = await front();
    for (const protocol of ['graphql-ws', 'mqtt', '']) {
      expect(await refusal(url, { protocol }), protocol).to.equal('Unexpected server response: 400');
    }
  });

  it('of pages of other origins are rejected with 403, unless the origin is allowed', async () => {
    const { url } = await front({}, ['https://app.example.com']);
    const from = (origin: string) => refusal(url, { headers: { origin, cookie: 'session=1' } });
    const forbidden = 'Unexpected server response: 403';
    for (const origin of ['https://evil.example', 'null', 'file://', 'http://127.0.0.1:1', `${url}.evil.example`]) {
      expect(await from(origin), origin).to.equal(forbidden);
    }
    expect(await from(url)).to.equal('accepted');
    expect(await from('https://app.example.com')).to.equal('accepted');
    expect(await from('http://app.example.com')).to.equal(forbidden);
    expect(await refusal((await front({}, ['*'])).url, { headers: { origin: 'null' } })).to.equal('accepted');
  });

  it('above the maximum of connections are rejected with 503, event streams included', async () => {
    const { url } = await front({ maxConnections: 2 });
    const first = await rawClient(url);
    const over = new AbortController();
    const stream = await fetch(url, {
      method: 'POST',
      signal: over.signal,
      headers: { 'content-type': 'application/json', accept: 'text/event-stream' },
      body: JSON.stringify(TICKS),
    });
    expect(stream.status).to.equal(200);
    expect(await refusal(url, {})).to.equal('Unexpected server response: 503');
    const { status, text } = await events(url, TICKS.query);
    expect([status, JSON.parse(text).errors[0].extensions.code]).to.deep.equal([503, 'ERR_GRAPHQL_CONNECTIONS']);
    first.webSocket.terminate();
    over.abort();
    const clients: RawClient[] = [];
    for (let i = 0; i < 2; i++) {
      await until(async () => {
        const client = await rawClient(url).catch(() => undefined);
        if (client) clients.push(client);
        return client !== undefined;
      }, 'a place');
    }
    expect(await refusal(url, {})).to.equal('Unexpected server response: 503');
    for (const { webSocket } of clients) webSocket.terminate();
  });

  it('are disconnected if they do not respond to pings, and their subscriptions end', async () => {
    const { url } = await front({ pingIntervalMs: 500 });
    const dead = await readyClient(url);
    dead.send({ type: 'subscribe', id: 'a', payload: TICKS });
    await dead.message('next', 'a');
    const alive = await readyClient(url);
    dead.webSocket.pause();
    await until(() => upstream.sockets.clients.size === 0, 'the subscription is over');
    let pings = 0;
    alive.webSocket.on('ping', () => pings++);
    await until(() => pings === 2 || alive.webSocket.readyState !== alive.webSocket.OPEN, 'pings');
    expect(alive.webSocket.readyState).to.equal(alive.webSocket.OPEN);
    alive.webSocket.terminate();
    dead.webSocket.terminate();
  });

  it('that send pings but read no pongs are disconnected', async () => {
    const made = await front({ maxResponseBytes: 1_000_000, maxBodyBytes: 200_000, pingIntervalMs: 0 });
    const client = await readyClient(made.url);
    client.webSocket.pause();
    const ping = JSON.stringify({ type: 'ping', payload: { a: 'x'.repeat(100_000) } });
    const flood = setInterval(() => client.webSocket.bufferedAmount < 1_000_000 && client.webSocket.send(ping), 1);
    await until(() => made.open.size === 0, 'it is cut off').finally(() => clearInterval(flood));
    client.webSocket.terminate();
  });

  it('are closed with 1001 when their connection is too old, and event streams end with an error', async () => {
    const { url } = await front({ maxConnectionMs: 2000 });
    const client = await readyClient(url);
    client.send({ type: 'subscribe', id: 'a', payload: TICKS });
    const { results, complete } = await events(url, TICKS.query);
    expect(results[0]).to.deep.equal({ data: { ticks: 1 } });
    expect(results.at(-1).errors[0]).to.deep.include({ message: 'The subscription exceeded its maximum duration.' });
    expect(complete).to.equal(true);
    expect(await client.closed).to.equal(1001);
  });

  it('that disconnect cancel their queries', async () => {
    let open = 0;
    const hanging = await serve((_req, res) => {
      open++;
      res.once('close', () => open--);
    });
    const made = await remoteFront(hanging.url);
    fronts.push(made);
    const client = await readyClient(made.url);
    client.send({ type: 'subscribe', id: 'a', payload: { query: '{ hello }' } });
    await until(() => open === 1, 'the server is asked');
    client.webSocket.terminate();
    await until(() => open === 0, 'the request is over');
    await hanging.close();
  });

  it('have the time limit of operations for queries', async () => {
    const slow = await frontOf({
      schemaDefinition: 'type Query { a: Int @resolve(name: "a") }',
      resolutions: { a: { mockResolver: { asyncResponse: { response: 1, delay: '10s' } } } },
      limits: { operationTimeoutMs: 100 },
    });
    fronts.push(slow);
    const client = await readyClient(slow.url);
    client.send({ type: 'subscribe', id: 'a', payload: { query: '{ a }' } });
    const { payload } = await client.message('next', 'a');
    expect(payload.errors).to.have.length(1);
    client.webSocket.terminate();
    expect((await events(slow.url, '{ a }')).results[0].errors).to.have.length(1);
  });

  /** The head of an upgrade as bytes. */
  const handshake = [
    'GET / HTTP/1.1',
    'host: localhost',
    'connection: upgrade',
    'upgrade: websocket',
    'sec-websocket-version: 13',
    'sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==',
    'sec-websocket-protocol: graphql-transport-ws',
    '\r\n',
  ].join('\r\n');

  /** Sends bytes behind a handshake; gives the close code of the answer. */
  async function closeCode(url: string, frame: Buffer): Promise<number> {
    const socket: Socket = connect(Number(new URL(url).port), '127.0.0.1');
    const chunks: Buffer[] = [];
    socket.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      if (chunks.length === 1) socket.write(frame);
    });
    socket.on('error', () => {});
    socket.write(handshake);
    await new Promise((resolve) => socket.once('close', resolve));
    const answer = Buffer.concat(chunks);
    const frames = answer.subarray(answer.indexOf('\r\n\r\n') + 4);
    expect(frames[0]).to.equal(0x88);
    return frames.readUInt16BE(2);
  }

  const frames: Record<string, [Buffer, number]> = {
    'is not masked': [Buffer.from([0x81, 0x02, 0x7b, 0x7d]), 1002],
    'has a reserved bit': [Buffer.from([0xc1, 0x80, 0, 0, 0, 0]), 1002],
    'has a reserved opcode': [Buffer.from([0x83, 0x80, 0, 0, 0, 0]), 1002],
    'is not UTF-8': [Buffer.from([0x81, 0x82, 0, 0, 0, 0, 0xc3, 0x28]), 1007],
    'says that it is 2^62 bytes long': [Buffer.from([0x81, 0xff, 0x40, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]), 1009],
    'goes on where nothing began': [Buffer.from([0x80, 0x80, 0, 0, 0, 0]), 1002],
    'is a ping of 126 bytes': [Buffer.from([0x89, 0xfe, 0, 126, 0, 0, 0, 0]), 1002],
  };
  for (const [what, [frame, code]] of Object.entries(frames)) {
    it(`are closed with ${code} when a frame ${what}`, async () => {
      expect(await closeCode((await front()).url, frame)).to.equal(code);
    });
  }
});

describe('the origin of a WebSocket', () => {
  const asked = (origin: string | undefined, host: string | undefined, encrypted = false) =>
    isForeign({ headers: { origin, host }, socket: { encrypted } } as never, []);

  it('is the same without Origin, and with the host of the request', () => {
    expect(asked(undefined, 'api.example')).to.equal(false);
    expect(asked('https://api.example', 'api.example', true)).to.equal(false);
    expect(asked('https://api.example', 'api.example:443', true)).to.equal(false);
    expect(asked('http://api.example:8080', 'API.example:8080')).to.equal(false);
    expect(asked('https://api.example', 'api.example')).to.equal(false);
    expect(asked('http://[::1]:8080', '[::1]:8080')).to.equal(false);
  });

  it('is foreign for other hosts and ports, and for invalid values', () => {
    expect(asked('https://evil.example', 'api.example')).to.equal(true);
    expect(asked('https://api.example:444', 'api.example')).to.equal(true);
    expect(asked('https://api.example', undefined)).to.equal(true);
    expect(asked('https://api.example@evil.example', 'api.example')).to.equal(true);
    expect(asked('null', 'null')).to.equal(true);
    expect(asked('chrome-extension://api.example', 'api.example')).to.equal(true);
    expect(asked('', 'api.example')).to.equal(true);
  });

  it('is foreign for a page without TLS if the connection uses TLS', () => {
    expect(asked('http://api.example', 'api.example', true)).to.equal(true);
  });
});
