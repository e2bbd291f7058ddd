import { createContext, createLoggers, createMetrics } from '@edge-gateway/core';
import { expect } from 'chai';
import { startRedis, type RedisServer } from '../../../../test/parts/redis.ts';
import { graphqlApi, type GraphQLApiOptions } from '../../src/middleware.ts';
import { redisResults, type RedisResults } from '../../src/cache/redis-results.ts';
import type { ResultStore } from '../../src/cache/shared-results.ts';
import { ask, serveHandler, serveJson, type TestServer } from '../servers.ts';
import { until } from '../../../../test/parts/until.ts';

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
const KEY = 'a key that all gateways of a test share';
const BOOK = '{ book { name } }';

describe('results kept in Redis', () => {
  let redis: RedisServer;
  let backend: TestServer;
  let metrics = createMetrics();
  const stores: RedisResults[] = [];
  const fronts: TestServer[] = [];

  before(async function () {
    this.timeout(300_000);
    redis = await startRedis();
  });
  after(() => redis.close());
  beforeEach(async () => {
    metrics = createMetrics();
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
    const options = { schemaDefinition: SCHEMA, resolutions, upstreams, cacheKey: KEY, ...more, cache };
    const handler = graphqlApi(options, createContext({ metrics }));
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

  it('shares cached results between gateways until they expire', async () => {
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

  it('does not cache private results or failures', async () => {
    const url = await start();
    await ask(url, '{ mine { name } }');
    await ask(url, '{ broken { name } }');
    await ask(url, '{ mine { name } }');
    expect(backend.asked).to.have.length(3);
    expect(await keys()).to.deep.equal([]);
  });

  it('separates results of different definitions of an API', async () => {
    const [one, other] = [await start(), await start({ schemaDefinition: `${SCHEMA}type More { a: Int }` })];
    await ask(one, BOOK);
    await until(async () => (await keys()).length === 1);
    await ask(other, BOOK);
    expect(backend.asked).to.have.length(2);
  });

  it('ignores foreign values', async () => {
    const url = await start();
    await ask(url, BOOK);
    await until(async () => (await keys()).length === 1);
    for (const text of ['no JSON', 'null', '{"body":1}', '{"body":"{\\"data\\":null}","at":0,"until":9e15}']) {
      await redis.command(['set', (await keys())[0]!, text]);
      expect((await ask(url, BOOK)).body).to.deep.equal({ data: { book: { name: 'One' } } });
    }
    expect(backend.asked).to.have.length(5);
    expect(rejected()).to.equal(4);
  });

  it('rejects and counts a result that was moved to another key', async () => {
    const url = await start();
    await ask(url, BOOK);
    await until(async () => (await keys()).length === 1);
    const [book = ''] = await keys();
    await ask(url, '{ other: book { other: name } }');
    await until(async () => (await keys()).length === 2);
    const other = (await keys()).find((key) => key !== book)!;
    await redis.command(['copy', other, book, 'replace']);
    expect((await ask(url, BOOK)).body).to.deep.equal({ data: { book: { name: 'One' } } });
    expect(backend.asked).to.have.length(3);
    expect(rejected()).to.equal(1);
  });

  it('rejects and counts an expired result', async () => {
    let now = 1_000_000;
    const kept = new Map<string, string>();
    const cache: ResultStore = {
      get: async (key) => kept.get(key),
      set: async (key, value) => void kept.set(key, value),
    };
    const context = createContext({ metrics, now: () => now });
    const handler = graphqlApi(
      {
        schemaDefinition: SCHEMA,
        resolutions: { book: rest('/book'), broken: rest('/broken') },
        upstreams: { books: backend.url },
        cache,
      },
      context,
    );
    const front = await serveHandler(handler);
    fronts.push(front);
    await ask(front.url, BOOK);
    now += 66_000;
    expect((await ask(front.url, BOOK)).headers.get('age')).to.equal(null);
    expect(backend.asked).to.have.length(2);
    expect(rejected()).to.equal(1);
  });

  it('stores neither requests nor results in plain text', async () => {
    const url = await start();
    await ask(url, BOOK);
    await until(async () => (await keys()).length === 1);
    const [key = ''] = await keys();
    const text = await redis.command(['get', key]);
    expect(key + text).to.not.match(/book|name|One|max-age/);
  });

  it('separates results of different keys', async () => {
    const [one, other] = [await start(), await start({ cacheKey: 'another key with thirty-two characters' })];
    await ask(one, BOOK);
    await until(async () => (await keys()).length === 1);
    await ask(other, BOOK);
    expect(backend.asked).to.have.length(2);
    expect(rejected()).to.equal(0);
  });

  it('does not share results between processes without a key', async () => {
    const [one, other] = [await start({ cacheKey: undefined }), await start({ cacheKey: undefined })];
    await ask(one, BOOK);
    await until(async () => (await keys()).length === 1);
    await ask(one, BOOK);
    await ask(other, BOOK);
    expect(backend.asked).to.have.length(2);
  });

  it('rejects a short key', () => {
    const cache: ResultStore = { get: async () => undefined, set: async () => {} };
    expect(() => graphqlApi({ schemaDefinition: 'type Query { a: Int }', cache, cacheKey: 'short' }))
      .to.throw('cacheKey has 5 bytes: use at least 32 random bytes')
      .with.property('code', 'ERR_GRAPHQL_API');
  });

  it('responds while Redis hangs or is down, and uses it again after it recovers', async () => {
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

  it('rejects a URL that is not of Redis', () => {
    const log = createLoggers({ level: 'fatal' }).get('graphql');
    for (const url of ['http://127.0.0.1', '127.0.0.1:6379', ''])
      expect(() => redisResults(url, log)).to.throw(TypeError);
  });

  /** Counted for all servers of a test. */
  function rejected(): number {
    const found = metrics.list().find(({ name }) => name.path === 'graphql.graphql.cache_rejected');
    return found?.type === 'counter' ? found.stat.value : NaN;
  }

  /** Keys of results. */
  async function keys(): Promise<string[]> {
    const answer = await redis.command(['keys', 'graphql:*']);
    return answer.split('\r\n').filter((line) => line.startsWith('graphql:'));
  }
});
