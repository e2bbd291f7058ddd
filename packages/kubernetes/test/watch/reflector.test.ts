import { silentLoggers } from '@edge-gateway/core';
import { createReflector, type ClusterObject, type Reflector, type ReflectorTiming } from '@edge-gateway/kubernetes';
import { expect } from 'chai';
import { until } from '../../../../test/parts/until.ts';
import { listOf, service, silent, startScriptedApi, status, type ScriptedApi } from '../scripted-api.ts';

const QUICK: Partial<ReflectorTiming> = { backoff: { firstMs: 10, maxMs: 40, resetMs: 60_000 } };

describe('a reflector', () => {
  let api: ScriptedApi;
  let reflector: Reflector | undefined;
  let held: Map<string, ClusterObject>;
  let changes: string[][];

  beforeEach(async () => {
    api = await startScriptedApi();
  });
  afterEach(async () => {
    await reflector?.close();
    await api.close();
  });

  function create(timing: Partial<ReflectorTiming> = {}): Reflector {
    held = new Map();
    changes = [];
    reflector = createReflector<ClusterObject>({
      client: api.client,
      type: { group: '', version: 'v1', plural: 'services' },
      log: silentLoggers.get('config'),
      select: (object) => object,
      onChange({ changed, deleted }) {
        changes.push([...[...changed.keys()].map((key) => `+${key}`), ...deleted.map((key) => `-${key}`)]);
        for (const [key, object] of changed) held.set(key, object);
        for (const key of deleted) held.delete(key);
      },
      timing: { ...QUICK, ...timing },
    });
    return reflector;
  }

  it('delivers a list of several pages as one change', async () => {
    const pages = ['a', 'b', 'c'];
    api.onList = (query, res, req) => {
      const at = Number(query.get('continue') ?? 0);
      expect(query.get('limit')).to.equal('1');
      listOf(7, [service(pages[at]!, at)], at < 2 ? String(at + 1) : undefined)(query, res, req);
    };
    await create({ pageSize: 1 }).start();
    expect(changes).to.deep.equal([['+shop/a', '+shop/b', '+shop/c']]);
    await until(() => api.calls.at(-1) === 'watch@7');
  });

  it('delivers an empty list', async () => {
    await create().start();
    expect(changes).to.deep.equal([[]]);
  });

  it('delivers additions, changes and deletions of a watch', async () => {
    await create().start();
    await until(() => api.watches.length === 1);
    api.event('ADDED', service('a', 2));
    await until(() => held.has('shop/a'));
    api.event('MODIFIED', service('a', 3, { spec: 'new' }));
    await until(() => held.get('shop/a')!.spec === 'new');
    api.event('DELETED', service('a', 4));
    await until(() => !held.has('shop/a'));
    expect(changes).to.deep.equal([[], ['+shop/a'], ['+shop/a'], ['-shop/a']]);
  });

  it('continues at the version of the last bookmark when the server ends the watch', async () => {
    await create().start();
    await until(() => api.watches.length === 1);
    api.event('BOOKMARK', { metadata: { resourceVersion: '50' } });
    api.watches[0]!.end();
    await until(() => api.watches.length === 2);
    expect(api.calls).to.deep.equal(['list', 'watch@1', 'watch@50']);
    expect(changes).to.deep.equal([[]]);
  });

  it('continues at the last version when the connection breaks', async () => {
    await create().start();
    await until(() => api.watches.length === 1);
    api.event('ADDED', service('a', 9));
    await until(() => held.has('shop/a'));
    api.watches[0]!.destroy();
    await until(() => api.watches.length === 2);
    expect(api.calls).to.deep.equal(['list', 'watch@1', 'watch@9']);
  });

  it('lists again after 410 and delivers only the difference', async () => {
    api.onList = listOf(1, [service('a', 1), service('b', 1), service('c', 1)]);
    await create().start();
    await until(() => api.watches.length === 1);
    api.onList = listOf(90, [service('a', 1), service('b', 80), service('d', 81)]);
    api.event('ERROR', { kind: 'Status', code: 410, reason: 'Expired' });
    await until(() => changes.length === 2);
    expect(changes[1]).to.deep.equal(['+shop/b', '+shop/d', '-shop/c']);
    await until(() => api.calls.at(-1) === 'watch@90');
  });

  it('lists again when the watch itself is rejected with 410', async () => {
    await create().start();
    await until(() => api.watches.length === 1);
    api.onWatch = status(410, 'Expired');
    api.watches[0]!.end();
    await until(() => api.calls.filter((call) => call === 'list').length === 2);
  });

  it('bounds the lists of a server that answers every watch with 410', async () => {
    api.onWatch = status(410, 'Expired');
    await create({ backoff: { firstMs: 40, maxMs: 100_000, resetMs: 60_000 } }).start();
    const end = performance.now() + 700;
    await until(() => performance.now() > end);
    // At least 20, 40, 80, 160, 320 ms between them.
    expect(api.calls.filter((call) => call === 'list').length).to.be.within(2, 6);
    expect(changes).to.deep.equal([[]]);
  });

  it('requests one whole list when the pages expire while they are read', async () => {
    api.onList = (query, res, req) => {
      if (query.has('continue')) status(410, 'Expired')(query, res, req);
      else if (query.has('limit')) listOf(1, [service('a', 1), service('old', 1)], 'more')(query, res, req);
      else listOf(2, [service('a', 2), service('b', 2)])(query, res, req);
    };
    await create().start();
    expect(changes).to.deep.equal([['+shop/a', '+shop/b']]);
  });

  it('requests smaller pages when a page is too large', async () => {
    const limits: number[] = [];
    const text = 'x'.repeat(100_000);
    api.onList = (query, res, req) => {
      const limit = Number(query.get('limit'));
      limits.push(limit);
      const from = Number(query.get('continue') ?? 0);
      const items = Array.from({ length: Math.min(limit, 8 - from) }, (_, i) => service(`s${from + i}`, 1, { text }));
      const next = from + items.length;
      listOf(1, items, next < 8 ? String(next) : undefined)(query, res, req);
    };
    await create({ pageSize: 64, maxPageBytes: 250_000 }).start();
    expect(held.size).to.equal(8);
    expect(limits).to.deep.equal([64, 8, 1, 1, 1, 1, 1, 1, 1, 1]);
  });

  it('reads an object of 8 MiB that arrives in small pieces', async () => {
    await create().start();
    await until(() => api.watches.length === 1);
    const text = 'ü'.repeat(4 * 2 ** 20);
    const line = Buffer.from(`${JSON.stringify({ type: 'ADDED', object: service('big', 2, { text }) })}\n`);
    for (let at = 0; at < line.length; at += 16_381) api.watches[0]!.write(line.subarray(at, at + 16_381));
    await until(() => held.has('shop/big'));
    expect((held.get('shop/big')!.text as string).length).to.equal(text.length);
  });

  it('rejects an event that is larger than the limit, and continues', async () => {
    await create({ maxEventBytes: 10_000 }).start();
    await until(() => api.watches.length === 1);
    api.watches[0]!.write('x'.repeat(200_000));
    await until(() => api.watches.length === 2);
    api.event('ADDED', service('a', 2));
    await until(() => held.has('shop/a'));
  });

  it('opens a new watch when one is silent', async () => {
    await create({ silentMs: 60 }).start();
    await until(() => api.watches.length === 3);
    expect(api.calls).to.deep.equal(['list', 'watch@1', 'watch@1', 'watch@1']);
  });

  it('does not give up a slow watch that sends bookmarks', async () => {
    await create({ silentMs: 400 }).start();
    await until(() => api.watches.length === 1);
    const end = performance.now() + 1_200;
    const timer = setInterval(() => api.event('BOOKMARK', { metadata: { resourceVersion: '5' } }), 20);
    await until(() => performance.now() > end);
    clearInterval(timer);
    expect(api.watches).to.have.length(1);
  });

  it('waits for permission, and reports why', async () => {
    api.onList = status(403, 'Forbidden');
    const started = create().start();
    await until(() => reflector!.problem !== undefined && api.calls.length > 2);
    expect(reflector!.problem).to.deep.equal({
      apiStatus: 403,
      message: 'GET /api/v1/services: scripted Forbidden',
    });
    expect(changes).to.deep.equal([]);
    api.onList = listOf(1, [service('a', 1)]);
    await started;
    await until(() => reflector!.problem === undefined);
    expect(changes).to.deep.equal([['+shop/a']]);
  });

  it('keeps its objects while permission is withdrawn', async () => {
    api.onList = listOf(1, [service('a', 1)]);
    await create().start();
    await until(() => api.watches.length === 1);
    api.onList = status(403, 'Forbidden');
    api.onWatch = status(403, 'Forbidden');
    api.watches[0]!.end();
    await until(() => reflector!.problem?.apiStatus === 403 && api.calls.filter((call) => call === 'list').length > 2);
    expect(changes).to.deep.equal([['+shop/a']]);
  });

  it('counts objects as deleted only if their type stays unknown', async () => {
    api.onList = listOf(1, [service('a', 1)]);
    await create({ unknownMs: 150 }).start();
    await until(() => api.watches.length === 1);
    api.onList = status(404, 'NotFound');
    api.onWatch = status(404, 'NotFound');
    const since = performance.now();
    api.watches[0]!.end();
    await until(() => reflector!.problem?.apiStatus === 404);
    expect(held.size).to.equal(1);
    await until(() => held.size === 0);
    expect(performance.now() - since).to.be.greaterThan(140);
    api.onList = listOf(2, [service('a', 2)]);
    api.onWatch = silent;
    await until(() => held.size === 1);
  });

  it('counts the time for which a type is unknown anew after each list', async () => {
    let shift = 0;
    const { now } = performance;
    performance.now = () => now.call(performance) + shift;
    const unknown = async (): Promise<void> => {
      api.onList = status(404, 'NotFound');
      api.onWatch = status(404, 'NotFound');
      api.watches.at(-1)!.destroy();
      const lists = (): number => api.calls.filter((call) => call === 'list').length;
      const before = lists();
      await until(() => lists() > before + 2);
    };
    try {
      api.onList = listOf(1, [service('a', 1)]);
      await create({ unknownMs: 100_000 }).start();
      await until(() => api.watches.length === 1);
      await unknown();
      api.onList = listOf(1, [service('a', 1)]);
      api.onWatch = silent;
      await until(() => reflector!.problem === undefined);
      shift += 100_000;
      await unknown();
      expect([...held.keys()]).to.deep.equal(['shop/a']);
      shift += 100_000;
      await until(() => held.size === 0);
    } finally {
      Reflect.deleteProperty(performance, 'now');
    }
  });

  it('waits as long as an overloaded server asks', async () => {
    api.onList = status(429, 'TooManyRequests', { 'retry-after': '1' });
    const began = performance.now();
    const started = create().start();
    await until(() => api.calls.length === 1);
    api.onList = listOf(1, []);
    await started;
    expect(performance.now() - began).to.be.greaterThan(950);
    expect(api.calls.filter((call) => call === 'list')).to.have.length(2);
  });

  it('lists again when watches are rejected for another reason than 410', async () => {
    await create().start();
    await until(() => api.watches.length === 1);
    api.onWatch = status(504, 'Timeout');
    api.watches[0]!.end();
    await until(() => api.calls.filter((call) => call === 'list').length === 2);
    // The first watch, and three that were rejected.
    expect(api.calls.slice(0, 6)).to.deep.equal(['list', 'watch@1', 'watch@1', 'watch@1', 'watch@1', 'list']);
  });

  it('reads a token again when the server rejects it', async () => {
    const { writeFileSync, readFileSync } = await import('node:fs');
    const seen: (string | undefined)[] = [];
    api.onList = (query, res, req) => {
      seen.push(req.headers.authorization);
      const isCurrent = req.headers.authorization === 'Bearer second-token';
      (isCurrent ? listOf(1, [service('a', 1)]) : status(401, 'Unauthorized'))(query, res, req);
    };
    writeFileSync(api.kubeconfig, readFileSync(api.kubeconfig, 'utf8').replace('first-token', 'second-token'));
    await create().start();
    expect(seen).to.deep.equal(['Bearer first-token', 'Bearer second-token']);
  });

  it('delivers nothing after close', async () => {
    await create().start();
    await until(() => api.watches.length === 1);
    await reflector!.close();
    api.event('ADDED', service('a', 2));
    expect(changes).to.deep.equal([[]]);
    await until(() => api.watches[0]!.destroyed);
  });

  it('delivers nothing of a list that arrives while it is closed', async () => {
    let deliveries = 0;
    const send = async () => {
      void closing.close();
      return { metadata: { resourceVersion: '1' }, items: [service('a', 1)] };
    };
    const closing = createReflector<ClusterObject>({
      client: { ...api.client, send: send as never },
      type: { group: '', version: 'v1', plural: 'services' },
      log: silentLoggers.get('config'),
      select: (object) => object,
      onChange: () => void deliveries++,
    });
    await closing.start();
    await closing.close();
    expect(deliveries).to.equal(0);
  });

  it('can be closed while it waits for a server', async () => {
    api.onList = () => {};
    const started = create().start();
    await until(() => api.calls.length === 1);
    await reflector!.close();
    await started;
    expect(changes).to.deep.equal([]);
  });
});
