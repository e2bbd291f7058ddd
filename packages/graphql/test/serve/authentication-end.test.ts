import { mock } from 'node:test';
import { createContext, factsOf, protect, type Facts, type Handler } from '@edge-gateway/core';
import { makeExecutableSchema } from '@graphql-tools/schema';
import { expect } from 'chai';
import { graphqlApi } from '../../src/index.ts';
import { serve, type TestServer } from '../servers.ts';
import { rawClient, readyClient, until } from './parts.ts';

const NOW = 1_800_000_000_000;
const CHECK_MS = 30_000;

/** Sends one result, then none until the client leaves. */
async function* ticks(signal: AbortSignal): AsyncGenerator<{ n: number }> {
  yield { n: 1 };
  await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
}

describe('a subscription whose authentication ends', () => {
  let server: TestServer | undefined;
  afterEach(async () => {
    mock.timers.reset();
    await server?.close();
  });

  /** Serves an API to clients that `authenticate` identifies, on a clock that stands still. */
  async function urlOf(authenticate: (facts: Facts) => void): Promise<string> {
    const guard: Handler = (req, _res, next) => {
      authenticate(factsOf(req));
      next();
    };
    const schema = makeExecutableSchema({
      typeDefs: 'type Query { n: Int } type Subscription { n: Int }',
      resolvers: {
        Query: { n: () => 7 },
        Subscription: { n: { subscribe: (_root, _args, { signal }) => ticks(signal) } },
      },
    });
    const chain = protect(guard, graphqlApi({ schema }, createContext({ now: () => NOW })));
    server = await serve((req, res) => chain(req, res, () => void res.writeHead(500).end()));
    server.server.on('upgrade', chain.upgrade);
    return server.url;
  }
  /** Expires after a moment on the clock of the API. */
  const soon = { exp: (NOW + 20) / 1000 };

  for (const [name, authenticate] of [
    ['its identity', (facts: Facts) => void (facts.identity = { provider: 'me', claims: soon, groups: [] })],
    [
      'any provider',
      (facts: Facts) => {
        facts.claims.set('one', { exp: NOW / 1000 + 600 });
        facts.claims.set('other', soon);
      },
    ],
  ] as const) {
    it(`over a WebSocket is closed with 4403 when the token of ${name} expires`, async () => {
      const client = await rawClient(await urlOf(authenticate));
      expect(await client.closed).to.equal(4403);
    });
  }

  it('over a WebSocket is closed with 4403 when its session has ended', async () => {
    let isOpen = true;
    let checks = 0;
    const url = await urlOf((facts) => (facts.isSessionOpen = async () => (checks++, isOpen)));
    mock.timers.enable({ apis: ['setInterval'] });
    const client = await readyClient(url);
    const ask = async (id: string): Promise<void> => {
      client.send({ type: 'subscribe', id, payload: { query: '{ n }' } });
      expect((await client.message('next', id)).payload).to.deep.equal({ data: { n: 7 } });
    };
    await ask('1');
    mock.timers.tick(CHECK_MS);
    await ask('2');
    expect(checks).to.equal(1);
    isOpen = false;
    mock.timers.tick(CHECK_MS);
    expect(await client.closed).to.equal(4403);
  });

  it('as an event stream ends without `complete` when its session has ended', async () => {
    const url = await urlOf((facts) => (facts.isSessionOpen = async () => false));
    mock.timers.enable({ apis: ['setInterval'] });
    const headers = { 'content-type': 'application/json', accept: 'text/event-stream' };
    const body = JSON.stringify({ query: 'subscription { n }' });
    const response = await fetch(url, { method: 'POST', headers, body });
    expect(response.status).to.equal(200);
    let text = '';
    const ended = (async () => {
      for await (const chunk of response.body!) text += Buffer.from(chunk).toString();
    })();
    await until(() => text.includes('"n":1'));
    mock.timers.tick(CHECK_MS);
    await ended;
    expect(text).not.to.include('event: complete');
  });
});
