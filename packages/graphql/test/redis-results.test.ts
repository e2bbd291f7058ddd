import { createLoggers, createContext } from '@edge-gateway/core';
import { expect } from 'chai';
import { startRedis, type RedisServer } from '../../../test/parts/redis.ts';
import { graphqlApi, type GraphQLApiOptions } from '../src/middleware.ts';
import { redisResults, type RedisResults } from '../src/redis-results.ts';
import type { ResultStore } from '../src/shared-results.ts';
import { ask, serveHandler, serveJson, type TestServer } from './servers.ts';

const SCHEMA = `
  type Query {
    book: Book @resolve(name: "book") @cacheControl(maxAge: 60)
    mine: Book @resolve(name: "book") @cacheControl(maxAge: 60, scope: private)
    broken: Book @resolve(name: "broken") @cacheControl(maxAge: 60)
  }
  type Book { name: String }
`;
const rest = (path: string) => ({
  restResolver: { upstreamRef: { name: 'books' }, timeout: '30s', request: { headers: { ':path': path } } },
});
const BOOK = '{ book { name } }';

describe('results kept in Redis', () => {
  let redis: RedisServer;
  let backend: TestServer;
  const stores: RedisResults[] = [];
  const fronts: TestServer[] = [];

  before(async function () {
    this.timeout(300_000);
    redis = await startRedis();
  });
  after(() => redis.close());
  beforeEach(async () => {
    await redis.command(['flushall']);
    backend = await serveJson({ '/book': { name: 'One' } });
  });
  afterEach(async () => {
    for (const store of stores.splice(0)) store.close();
    for (const front of fronts.splice(0)) await front.close();
    await backend.close();
  });

  /** A server with its own connection, once that is there. */
  async function start(more: Partial<GraphQLApiOptions> = {}): Promise<string> {
    const cache = more.cache ?? (await connected());
    const resolutions = { book: rest('/book'), broken: rest('/broken') };
    const upstreams = { books: backend.url };
    const handler = graphqlApi({ schemaDefinition: SCHEMA, resolutions, upstreams, ...more, cache }, createContext());
    const front = await serveHandler(handler);
    fronts.push(front);
    return front.url;
  }

  async function connected(): Promise<ResultStore> {
    const store = redisResults(`redis://${redis.host}`, createLoggers({ level: 'fatal' }).get('graphql'));
    stores.push(store);
    await until(async () => {
      await store.set('probe', 'there', 1000);
      return (await store.get('probe')) === 'there';
    });
    return store;
  }

  it('one gateway answers with what another has kept, for as long as it may', async () => {
    const [one, other] = [await start(), await start()];
    await ask(one, BOOK);
    await until(async () => (await keys()).length === 1);
    const { body, headers } = await ask(other, BOOK);
    expect(body).to.deep.equal({ data: { book: { name: 'One' } } });
    expect(headers.get('cache-control')).to.equal('max-age=60, public');
    expect(backend.asked).to.have.length(1);
    const [, left] = /:(\d+)/.exec(await redis.command(['pttl', (await keys())[0]!]))!;
    expect(Number(left)).to.be.within(1, 60_000);
  });

  it('keeps nothing private, and nothing that has failed', async () => {
    const url = await start();
    await ask(url, '{ mine { name } }');
    await ask(url, '{ broken { name } }');
    await ask(url, '{ mine { name } }');
    expect(backend.asked).to.have.length(3);
    expect(await keys()).to.deep.equal([]);
  });

  it('another definition of the API has its own results', async () => {
    const [one, other] = [await start(), await start({ schemaDefinition: `${SCHEMA}type More { a: Int }` })];
    await ask(one, BOOK);
    await until(async () => (await keys()).length === 1);
    await ask(other, BOOK);
    expect(backend.asked).to.have.length(2);
  });

  it('what somebody else has written there is no result', async () => {
    const url = await start();
    await ask(url, BOOK);
    await until(async () => (await keys()).length === 1);
    for (const text of ['no JSON', 'null', '{"body":1}']) {
      await redis.command(['set', (await keys())[0]!, text]);
      expect((await ask(url, BOOK)).body).to.deep.equal({ data: { book: { name: 'One' } } });
    }
    expect(backend.asked).to.have.length(4);
  });

  it('answers without Redis while it hangs or is away, and uses it again when it is back', async () => {
    const url = await start();
    redis.freeze();
    expect((await ask(url, BOOK)).body).to.deep.equal({ data: { book: { name: 'One' } } });
    redis.thaw();
    await redis.stop();
    expect((await ask(url, BOOK)).body).to.deep.equal({ data: { book: { name: 'One' } } });
    await redis.start();
    await until(async () => {
      await ask(url, BOOK);
      return (await keys()).length === 1;
    });
  });

  it('refuses an address that is none of Redis', () => {
    const log = createLoggers({ level: 'fatal' }).get('graphql');
    for (const url of ['http://127.0.0.1', '127.0.0.1:6379', ''])
      expect(() => redisResults(url, log)).to.throw(TypeError);
  });

  /** Keys of results. */
  async function keys(): Promise<string[]> {
    const answer = await redis.command(['keys', 'graphql:*']);
    return answer.split('\r\n').filter((line) => line.startsWith('graphql:'));
  }
});

async function until(done: () => Promise<boolean>): Promise<void> {
  while (!(await done())) await new Promise((resolve) => setTimeout(resolve, 20));
}
