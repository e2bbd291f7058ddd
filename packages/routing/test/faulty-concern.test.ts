import { expect } from 'chai';
import { createContext, httpStat, type Concern, type Handler, type Metrics } from '@edge-gateway/core';
import { createListeners, type Listeners } from '../src/index.ts';
import { createRouter, type Router } from '../src/router.ts';
import { exchange } from './listen/serving.ts';
import { echo, endpointOf, hostOf, routeOf, snapshotOf, start, stopAll, upstreamOf } from './snapshots.ts';

const ROUNDS = 25;
const HOW = {
  throws: () => {
    throw new Error('secret detail');
  },
  rejects: () => Promise.reject(new Error('secret detail')) as never,
  fails: (_req, _res, next) => next(new Error('secret detail')),
  'fails later': (_req, _res, next) => void setImmediate(next, new Error('secret detail')),
  'continues twice': (_req, _res, next) => {
    next();
    next();
  },
  'continues, then throws': (_req, _res, next) => {
    next();
    throw new Error('secret detail');
  },
  hangs: () => {},
} satisfies Record<string, Handler>;
type How = keyof typeof HOW;

const faulty: Concern = {
  name: 'faulty',
  option: 'faulty',
  stage: 'rbac',
  compile: (options) => HOW[(options as { how: How }).how],
};

/** The statuses that clients may receive. */
const EXPECTED: Readonly<Record<How | 'good', readonly number[]>> = {
  good: [200],
  throws: [500],
  rejects: [500],
  fails: [500],
  'fails later': [500],
  'continues twice': [200],
  // The request was already on its way.
  'continues, then throws': [200, 500],
  hangs: [408, 504],
};

describe('a concern of your own with faults', () => {
  let router: Router;
  let listeners: Listeners;
  let metrics: Metrics;
  let port: number;
  beforeEach(async () => {
    const context = createContext();
    ({ metrics } = context);
    const kinds = Object.keys(EXPECTED) as (How | 'good')[];
    const routes = kinds.map((how, i) =>
      routeOf({
        name: `route-${i}`,
        matchers: [{ exact: pathOf(how) }],
        ...(how !== 'good' && { options: { faulty: { how } } as never }),
      }),
    );
    const upstream = upstreamOf([endpointOf((await start(echo)).port)]);
    const httpOptions = { httpConnectionManagerSettings: { streamIdleTimeout: '1s' } };
    const snapshot = snapshotOf([hostOf(routes)], [upstream], { httpOptions });
    router = createRouter({ context, concerns: [faulty], accessLog: 'none' });
    router.apply(snapshot);
    listeners = createListeners({ router, context, host: '127.0.0.1', portOf: () => 0 });
    port = (await listeners.apply(snapshot))[0]!.port!;
  });
  afterEach(async () => {
    await listeners.close();
    await router.close();
    await stopAll();
  });

  it('costs only the requests of its routes, each with one response, and is counted', async () => {
    const sent = Object.entries(EXPECTED).flatMap(([how, statuses]) =>
      Array.from({ length: ROUNDS }, () => ({ how: how as How, statuses })),
    );
    const failures: string[] = [];
    let failed = 0;
    await Promise.all(
      sent.map(async ({ how, statuses }) => {
        const got = await exchange(port, `GET ${pathOf(how)} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`);
        if (got.statuses[0]! >= 500) failed++;
        const isRight = got.statuses.length === 1 && statuses.includes(got.statuses[0]!);
        if (!isRight || got.text.includes('secret')) failures.push(`${how}: ${got.text}`);
      }),
    );
    console.log(
      `      faulty concerns: sent ${sent.length}, answered ${sent.length - failures.length}, wrong ${failures.length}, lost 0`,
    );
    expect(failures).to.deep.equal([]);
    expect(failed).to.be.at.least(4 * ROUNDS);
    const counted = metrics
      .list()
      .flatMap(({ name, stat }) =>
        name.metric === httpStat('downstream_rq_xx').metric && name.path.endsWith('_5xx')
          ? [(stat as { value: number }).value]
          : [],
      );
    expect(counted).to.deep.equal([failed]);
  });
});

const pathOf = (how: string): string => `/${how.replaceAll(/\W/g, '-')}`;
