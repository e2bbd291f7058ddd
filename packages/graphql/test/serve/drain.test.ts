import { expect } from 'chai';
import { createClient } from 'graphql-ws';
import { WebSocket } from 'ws';
import { serve, type TestServer } from '../servers.ts';
import { events, frontOf, rawClient, readyClient, remoteFront, socketUpstream, until, type Front } from './parts.ts';
import type { SocketUpstream } from './parts.ts';

const TICKS = { query: 'subscription { ticks }' };

describe('at a drain', () => {
  let upstream: SocketUpstream;
  let fronts: Front[] = [];
  let slow: TestServer;
  let release: (() => void)[] = [];

  before(async () => {
    upstream = await socketUpstream();
    slow = await serve((_req, res) => {
      release.push(() => void res.writeHead(200, { 'content-type': 'application/json' }).end('"done"'));
    });
  });
  afterEach(async () => {
    for (const front of fronts) await front.close();
    fronts = [];
    release = [];
    await until(() => upstream.sockets.clients.size === 0, 'no connection to the server is left');
  });
  after(async () => {
    await upstream.close();
    await slow.close();
  });

  async function remote(): Promise<Front> {
    const front = await remoteFront(upstream.url);
    fronts.push(front);
    return front;
  }

  /** An API whose fields are there when `release` says so. */
  async function waiting(): Promise<Front> {
    const front = await frontOf({
      schemaDefinition:
        'type Query { slow: String @resolve(name: "slow") } type Mutation { slow: String @resolve(name: "slow") }',
      resolutions: { slow: { restResolver: { upstreamRef: { name: 'slow' }, timeout: '30s' } } },
      upstreams: { slow: slow.url },
    });
    fronts.push(front);
    return front;
  }

  it('WebSockets with subscriptions are closed with 1001', async () => {
    const front = await remote();
    const [busy, idle, silent] = [
      await readyClient(front.url),
      await readyClient(front.url),
      await rawClient(front.url),
    ];
    busy.send({ type: 'subscribe', id: 'a', payload: TICKS });
    await busy.message('next', 'a');
    front.drain();
    expect(await Promise.all([busy.closed, idle.closed, silent.closed])).to.deep.equal([1001, 1001, 1001]);
    expect(busy.messages.map(({ type }) => type)).to.not.include('complete');
    await until(() => front.open.size === 0, 'no connection is left');
  });

  it('a client of graphql-ws continues at another server', async () => {
    const [one, other] = [await remote(), await remote()];
    let connected = 0;
    let ticks = 0;
    let over: unknown;
    const client = createClient({
      url: () => (connected++ === 0 ? one.url : other.url).replace('http', 'ws'),
      webSocketImpl: WebSocket,
      retryWait: async () => {},
    });
    client.subscribe(TICKS, {
      next: () => void ticks++,
      error: (error) => (over = error),
      complete: () => (over = 'complete'),
    });
    await until(() => ticks > 0, 'a result');
    one.drain();
    await until(() => other.open.size > 0, 'a connection to the other');
    const before = ticks;
    await until(() => ticks > before, 'more results');
    expect(over).to.equal(undefined);
    client.terminate();
  });

  it('a mutation on a WebSocket finishes first, and no new operation starts', async () => {
    const front = await waiting();
    const client = await readyClient(front.url);
    client.send({ type: 'subscribe', id: 'a', payload: { query: 'mutation { slow }' } });
    await until(() => release.length === 1, 'the server is asked');
    front.drain();
    client.send({ type: 'subscribe', id: 'b', payload: { query: '{ slow }' } });
    client.send({ type: 'ping' });
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(client.webSocket.readyState).to.equal(WebSocket.OPEN);
    for (const answer of release) answer();
    expect(await client.closed).to.equal(1001);
    expect(client.messages.slice(1)).to.deep.equal([
      { type: 'next', id: 'a', payload: { data: { slow: 'done' } } },
      { type: 'complete', id: 'a' },
    ]);
    expect(release).to.have.length(1);
  });

  it('event streams of subscriptions end without complete', async () => {
    const front = await remote();
    const stream = events(front.url, TICKS.query);
    await until(() => upstream.sockets.clients.size === 1, 'a subscription');
    front.drain();
    const { status, complete, results } = await stream;
    expect({ status, complete }).to.deep.equal({ status: 200, complete: false });
    for (const result of results) expect(result.errors).to.equal(undefined);
  });

  it('event streams of queries finish', async () => {
    const front = await waiting();
    const stream = events(front.url, '{ slow }');
    await until(() => release.length === 1, 'the server is asked');
    front.drain();
    release[0]!();
    const { complete, results } = await stream;
    expect({ complete, results }).to.deep.equal({ complete: true, results: [{ data: { slow: 'done' } }] });
  });

  it('later subscriptions end immediately', async () => {
    const front = await remote();
    front.drain();
    expect(await (await rawClient(front.url)).closed).to.equal(1001);
    expect(await events(front.url, TICKS.query)).to.include({ status: 200, complete: false });
  });
});
