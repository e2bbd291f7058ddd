import type { ServerResponse } from 'node:http';
import { expect } from 'chai';
import type { Limits } from '../../src/index.ts';
import { serve, type TestServer } from '../servers.ts';
import { events, readyClient, remoteFront, until, type Front } from './parts.ts';

const QUERY = 'subscription { ticks }';
const next = (data: unknown): string => `event: next\ndata: ${JSON.stringify(data)}\n\n`;
const COMPLETE = 'event: complete\ndata:\n\n';

describe('subscriptions at a server that sends events', () => {
  let closing: { close(): Promise<void> }[] = [];
  afterEach(async () => {
    for (const each of closing.toReversed()) await each.close();
    closing = [];
  });

  /** An API in front of a server that does with each response whatever it is told. */
  async function behind(
    answer: (res: ServerResponse) => void,
    limits: Partial<Limits> = {},
  ): Promise<{ front: Front; server: TestServer; open: Set<ServerResponse> }> {
    const open = new Set<ServerResponse>();
    const server = await serve((req, res) => {
      open.add(res);
      res.once('close', () => open.delete(res));
      req.resume();
      res.writeHead(200, { 'content-type': 'text/event-stream' });
      answer(res);
    });
    const front = await remoteFront(server.url, { limits });
    closing.push(server, front);
    return { front, server, open };
  }

  /** The events that one kind of client gets; the other kind gets the same error. */
  async function outcome(answer: (res: ServerResponse) => void): Promise<any[]> {
    const { front, open } = await behind(answer);
    const { results, complete, text } = await events(front.url, QUERY);
    expect(complete, text).to.equal(true);
    const client = await readyClient(front.url);
    client.send({ type: 'subscribe', id: 'a', payload: { query: QUERY } });
    const last = results.at(-1);
    if (last?.data === undefined) {
      expect((await client.message('error', 'a')).payload[0].message).to.equal(last.errors[0].message);
    } else {
      await client.message('complete', 'a');
    }
    client.webSocket.terminate();
    await until(() => open.size === 0, 'no response is left');
    return results;
  }

  const FIRST = { data: { ticks: 1 } };
  const fine: Record<string, (res: ServerResponse) => void> = {
    'ends with complete': (res) => res.end(next(FIRST) + COMPLETE),
    'ends with complete and stays': (res) => void res.write(next(FIRST) + COMPLETE),
    'ends without complete': (res) => res.end(next(FIRST)),
    'names no events': (res) => res.end(`data: ${JSON.stringify(FIRST)}\n\n`),
    'sends comments and events of other names': (res) =>
      res.end(`: hello\n\nevent: ping\ndata: now\n\n${next(FIRST)}event: ping\ndata: now\n\n${COMPLETE}`),
    'sends something behind complete': (res) => res.end(next(FIRST) + COMPLETE + next({ data: { ticks: 2 } })),
    'sends it byte by byte': (res) => {
      const bytes = Buffer.from(next(FIRST) + COMPLETE);
      for (const byte of bytes) res.write(Buffer.from([byte]));
      res.end();
    },
  };
  for (const [what, answer] of Object.entries(fine)) {
    it(`are whole when it ${what}`, async () => {
      expect(await outcome(answer)).to.deep.equal([FIRST]);
    });
  }

  it('have errors without stack traces, over both transports', async () => {
    const extensions = { code: 'X', stacktrace: ['at /srv/app.js'] };
    const result = { data: { ticks: null }, errors: [{ message: 'no', path: ['ticks'], extensions }], extensions };
    const { front } = await behind((res) => res.end(next(result) + COMPLETE));
    const shown = { data: { ticks: null }, errors: [{ message: 'no', path: ['ticks'], extensions: { code: 'X' } }] };
    expect((await events(front.url, QUERY)).results.map(({ data, errors }) => ({ data, errors }))).to.deep.equal([
      shown,
    ]);
    const client = await readyClient(front.url);
    client.send({ type: 'subscribe', id: 'a', payload: { query: QUERY } });
    expect((await client.message('next', 'a')).payload).to.deep.equal(shown);
    client.webSocket.terminate();
  });

  const broken: Record<string, (res: ServerResponse) => void> = {
    'sends what is no JSON': (res) => void res.write('event: next\ndata: {{{ secret\n\n'),
    'sends a text': (res) => void res.write(next('secret')),
    'sends data that is not an object': (res) => void res.write(next({ data: 'secret' })),
    'sends neither data nor errors': (res) => void res.write(next({ secret: 1 })),
    'sends what is nested a million times': (res) =>
      void res.write(`event: next\ndata: {"data":{"ticks":${'['.repeat(1e6)}${']'.repeat(1e6)}}}\n\n`),
    'sends an event of 11 MiB': (res) => void res.write(next({ data: { ticks: 'secret'.padEnd(11 * 1024 * 1024) } })),
    'breaks off': (res) => void setTimeout(() => res.destroy(), 50),
  };
  for (const [what, spoil] of Object.entries(broken)) {
    it(`end with one error when it ${what}`, async () => {
      const results = await outcome((res) => {
        res.write(next(FIRST));
        spoil(res);
      });
      expect(results).to.have.length(2);
      expect(results[0]).to.deep.equal(FIRST);
      expect(results[1].errors[0].message).to.equal('The GraphQL server returned no result.');
      expect(JSON.stringify(results)).to.not.include('secret');
    });
  }

  it('end if results arrive faster than an event stream can send them', async () => {
    const { front, server, open } = await behind((res) => {
      for (let i = 0; i < 200; i++) res.write(next({ data: { ticks: 'x'.repeat(500_000) } }));
    });
    const response = await fetch(front.url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'text/event-stream' },
      body: JSON.stringify({ query: QUERY }),
    });
    await until(() => server.asked.length === 1 && open.size === 0, 'the server is asked, and left');
    const text = await response.text();
    expect(text.length).to.be.below(50_000_000);
    expect(text)
      .to.include('ERR_GRAPHQL_SLOW_CLIENT')
      .and.to.match(/event: complete\ndata:\n\n$/);
  });

  it('are limited: one above the maximum receives an error, until another has ended', async () => {
    const { front, server } = await behind((res) => void res.write(next(FIRST)), { maxRunningSubscriptions: 2 });
    const client = await readyClient(front.url);
    for (const id of ['a', 'b']) {
      client.send({ type: 'subscribe', id, payload: { query: QUERY } });
      await client.message('next', id);
    }
    client.send({ type: 'subscribe', id: 'c', payload: { query: QUERY } });
    expect((await client.message('error', 'c')).payload[0].extensions.code).to.equal('ERR_GRAPHQL_CONNECTIONS');
    expect((await events(front.url, QUERY)).results[0].errors[0].extensions.code).to.equal('ERR_GRAPHQL_CONNECTIONS');
    expect(server.asked).to.have.length(2);
    client.send({ type: 'complete', id: 'a' });
    let id = 0;
    await until(async () => {
      client.send({ type: 'subscribe', id: `d${++id}`, payload: { query: QUERY } });
      await until(() => client.messages.some((each) => each.id === `d${id}`), 'an answer');
      return client.messages.some((each) => each.id === `d${id}` && each.type === 'next');
    }, 'a place');
    client.webSocket.terminate();
  });

  it('leak nothing after a thousand of them', async () => {
    const { front, open } = await behind((res) => void res.write(next(FIRST)));
    const warnings: string[] = [];
    const warn = ({ message }: Error): void => void warnings.push(message);
    process.on('warning', warn);
    const client = await readyClient(front.url);
    for (let i = 0; i < 1000; i += 50) {
      const ids = Array.from({ length: 50 }, (_, j) => `${i + j}`);
      for (const id of ids) client.send({ type: 'subscribe', id, payload: { query: QUERY } });
      await until(() => client.messages.filter(({ type }) => type === 'next').length === 50, '50 results');
      for (const id of ids) client.send({ type: 'complete', id });
      client.messages.length = 0;
      await until(() => open.size === 0, 'none is left');
    }
    client.webSocket.terminate();
    process.off('warning', warn);
    expect(warnings).to.deep.equal([]);
  });
});
