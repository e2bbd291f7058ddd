import { protect } from '@edge-gateway/core';
import { startTodos, type Service } from '@edge-gateway/demo';
import { createClient } from 'graphql-ws';
import { expect } from 'chai';
import { WebSocket } from 'ws';
import { graphqlApi } from '../../src/index.ts';
import { createEventReader } from '../../src/remote/event-reader.ts';
import { createResultQueue } from '../../src/remote/result-queue.ts';
import { cpuTime } from '../cpu-time.ts';
import { ask, serve, serveHandler, type TestServer } from '../servers.ts';
import { until } from './parts.ts';

const SUBSCRIPTION = 'subscription { todoAdded { text } }';

describe('subscriptions of a remote API', () => {
  let todos: Service;
  let front: TestServer;
  let handler: ReturnType<typeof graphqlApi>;

  before(async () => {
    todos = await startTodos();
    handler = graphqlApi({
      remote: { upstreamRef: { name: 'todos' } },
      upstreams: { todos: `http://127.0.0.1:${todos.port}` },
      limits: { operationTimeoutMs: 30_000 },
    });
    front = await serveHandler(handler);
    front.server.on('upgrade', (req, socket, head) => protect(handler).upgrade(req, socket, head));
  });
  after(async () => {
    await front.close();
    await todos.close();
    await handler.close?.();
  });
  const add = (text: string) =>
    ask(front.url, 'mutation ($text: String!) { createTodo(text: $text) { id } }', { text });

  it('come as server-sent events', async () => {
    const over = new AbortController();
    const response = await fetch(front.url, {
      method: 'POST',
      signal: over.signal,
      headers: { 'content-type': 'application/json', accept: 'text/event-stream' },
      body: JSON.stringify({ query: SUBSCRIPTION }),
    });
    expect(response.status).to.equal(200);
    expect(response.headers.get('content-type')).to.equal('text/event-stream; charset=utf-8');
    let text = '';
    const reading = (async () => {
      for await (const chunk of response.body!) text += Buffer.from(chunk).toString();
    })().catch(() => {});
    await until(async () => {
      await add('one');
      return text.includes('event: next\ndata: {"data":{"todoAdded":{"text":"one"}}}\n\n');
    });
    over.abort();
    await reading;
  });

  it('of a query return one event and end', async () => {
    const response = await fetch(front.url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'text/event-stream' },
      body: JSON.stringify({ query: '{ todo(id: "a") { id } }' }),
    });
    expect(await response.text()).to.equal(
      ':\n\nevent: next\ndata: {"data":{"todo":{"id":"a"}}}\n\nevent: complete\ndata:\n\n',
    );
  });

  it('are rejected if they are invalid for the schema', async () => {
    const response = await fetch(front.url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'text/event-stream' },
      body: JSON.stringify({ query: 'subscription { nothing }' }),
    });
    expect(response.status).to.equal(400);
  });

  it('work over WebSocket, together with queries', async () => {
    const client = createClient({ url: front.url.replace('http', 'ws'), webSocketImpl: WebSocket, retryAttempts: 0 });
    const texts: unknown[] = [];
    const stop = client.subscribe<{ todoAdded: { text: string } }>(
      { query: SUBSCRIPTION },
      { next: ({ data }) => texts.push(data?.todoAdded.text), error: () => {}, complete: () => {} },
    );
    await until(async () => {
      await add('two');
      return texts.includes('two');
    });
    stop();
    for await (const { data } of client.iterate({ query: '{ todo(id: "c") { text } }' })) {
      expect(data).to.deep.equal({ todo: { text: 'Sleep' } });
    }
    await client.dispose();
  });

  it('report errors of an operation over WebSocket', async () => {
    const client = createClient({ url: front.url.replace('http', 'ws'), webSocketImpl: WebSocket, retryAttempts: 0 });
    const problem = await new Promise<any>((resolve, reject) => {
      client.subscribe(
        { query: '{ nothing }' },
        { next: reject, error: resolve, complete: () => reject(new Error('no error')) },
      );
    });
    expect(problem[0].message).to.equal('Cannot query field "nothing" on type "Query".');
    await client.dispose();
  });

  it('close a WebSocket that sends an invalid message', async () => {
    const socket = new WebSocket(front.url.replace('http', 'ws'), 'graphql-transport-ws');
    await new Promise((resolve) => socket.once('open', resolve));
    socket.send('{{{');
    const code = await new Promise((resolve) => socket.once('close', resolve));
    expect(code).to.equal(4400);
  });

  it('return an error and end if the server fails', async () => {
    const server = await serve((_req, res) => {
      res.writeHead(200, { 'content-type': 'text/event-stream' });
      res.write('event: next\ndata: {"data":{"n":1}}\n\nevent: next\ndata: nonsense\n\n');
    });
    const broken = graphqlApi({
      schemaDefinition: 'type Query { n: Int } type Subscription { n: Int }',
      remote: { upstreamRef: { name: 'a' } },
      upstreams: { a: server.url },
    });
    const own = await serveHandler(broken);
    const response = await fetch(own.url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'text/event-stream' },
      body: JSON.stringify({ query: 'subscription { n }' }),
    });
    const text = await response.text();
    expect(text)
      .to.include('{"data":{"n":1}}')
      .and.to.include('returned no result')
      .and.to.match(/event: complete\ndata:\n\n$/);
    await own.close();
    await server.close();
  });
});

describe('an event reader', () => {
  it('accepts chunks, several data lines and all line endings', () => {
    const read = createEventReader(100);
    expect(read(Buffer.from(': hello\n\nevent: ne'))).to.deep.equal([]);
    expect(read(Buffer.from('xt\ndata: a\ndata:b\n\ndata: c\r\n\r\n'))).to.deep.equal([
      { event: 'next', data: 'a\nb' },
      { event: 'message', data: 'c' },
    ]);
  });

  it('finds the end of events wherever the stream is split', () => {
    const stream = 'data: ä\n\ndata: b\r\n\r\ndata: c\r\r: comment\n\ndata: d\n\n';
    const expected = ['ä', 'b', 'c', 'd'].map((data) => ({ event: 'message', data }));
    const bytes = Buffer.from(stream);
    for (let size = 1; size <= bytes.length; size++) {
      const read = createEventReader(100);
      const found = [];
      for (let i = 0; i < bytes.length; i += size) found.push(...read(bytes.subarray(i, i + size)));
      expect(found, `pieces of ${size} bytes`).to.deep.equal(expected);
    }
  });

  it('reads an event of 9 MiB in small chunks in linear time', async () => {
    const read = createEventReader(10 * 1024 * 1024);
    const piece = Buffer.alloc(512, 'x');
    const cost = await cpuTime(() => {
      read(Buffer.from('data: '));
      for (let i = 0; i < 9 * 2048; i++) read(piece);
      expect(read(Buffer.from('\n\n'))[0]!.data).to.have.length(9 * 1024 * 1024);
    });
    // It is some 50 ms; searching all that has come at each piece, it is more than half a minute.
    expect(cost).to.be.below(5000);
  });

  it('rejects an endless event', () => {
    const read = createEventReader(100);
    expect(() => read(Buffer.from(`data: ${'x'.repeat(200)}`))).to.throw('more than 100 characters');
  });
});

describe('a queue of results', () => {
  const queueOf = (stop: () => void) => createResultQueue({ stop, maxBytes: 1_000_000, tooSlow: { data: 'too slow' } });

  it('stops the producer if the consumer is too slow, and replaces the queued results by an error', async () => {
    let stopped = 0;
    const queue = queueOf(() => stopped++);
    for (let i = 0; i < 5000; i++) queue.push({ data: i }, 1);
    expect(stopped).to.equal(1);
    expect(await queue.results.next()).to.deep.equal({ done: false, value: { data: 'too slow' } });
    expect(await queue.results.next()).to.deep.equal({ done: true, value: undefined });
  });

  it('stops the producer if the queue is too large, but accepts one result of any size', async () => {
    let stopped = 0;
    const queue = queueOf(() => stopped++);
    queue.push({ data: 'large' }, 10_000_000);
    expect(await queue.results.next()).to.deep.equal({ done: false, value: { data: 'large' } });
    queue.push({ data: 1 }, 600_000);
    queue.push({ data: 2 }, 400_000);
    expect(stopped).to.equal(0);
    queue.push({ data: 3 }, 1);
    expect(stopped).to.equal(1);
  });

  it('stops the producer when the consumer leaves', async () => {
    let stopped = 0;
    const queue = queueOf(() => stopped++);
    const waiting = queue.results.next();
    await queue.results.return!();
    expect(await waiting).to.deep.equal({ done: true, value: undefined });
    expect(stopped).to.equal(1);
  });
});
