import { EventEmitter, once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Writable } from 'node:stream';
import { expect } from 'chai';
import { createContext, createLoggers, factsOf, identityFrom, type Handler } from '@edge-gateway/core';
import { createMemoryStore, rateLimit, type RateLimitOptions, type Store } from '../src/index.ts';

const NOW = Date.UTC(2027, 0, 5, 12, 0, 1);
const context = () => createContext({ now: () => NOW });

type Ask = (headers?: Record<string, string>, signal?: AbortSignal) => Promise<Response>;

/** Pretends that a middleware in front authenticated a user. */
const authenticate: Handler = (req, _res, next) => {
  const user = req.headers['authorization'];
  if (user) factsOf(req).identity = identityFrom('test', { sub: user });
  next();
};

describe('rateLimit in a server of your own', () => {
  const servers: Server[] = [];
  afterEach(() => {
    for (const server of servers.splice(0)) (server.closeAllConnections(), server.close());
  });

  async function serve(...handlers: Handler[]): Promise<Ask> {
    const server = createServer((req, res) => {
      const step = (i: number) => (error?: unknown) => {
        if (error) res.writeHead(418).end((error as { code: string }).code);
        else if (i < handlers.length) handlers[i]!(req, res, step(i + 1));
        else res.end('served');
      };
      step(0)();
    });
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    return (headers = {}, signal) => fetch(`http://127.0.0.1:${port}/`, { headers, ...(signal && { signal }) });
  }

  async function statuses(handlers: Handler[], ...requests: Record<string, string>[]): Promise<number[]> {
    const ask = await serve(...handlers);
    const found: number[] = [];
    for (const headers of requests) found.push((await ask(headers)).status);
    return found;
  }

  it('limits by address, and sends the headers of limits', async () => {
    const ask = await serve(rateLimit({ requestsPerUnit: 1, headers: true }, context()));
    const first = await ask();
    expect([first.status, first.headers.get('x-ratelimit-limit')]).to.deep.equal([200, '1, 1;w=60']);
    const second = await ask({ 'x-forwarded-for': '192.0.2.1' });
    expect([second.status, await second.text(), second.headers.get('retry-after')]).to.deep.equal([429, '', '59']);
    expect(second.headers.get('x-envoy-ratelimited')).to.equal('true');
  });

  it('omits retry-after with retryAfter: false', async () => {
    const ask = await serve(rateLimit({ requestsPerUnit: 0, retryAfter: false }, context()));
    const { status, headers } = await ask();
    expect([status, headers.get('retry-after')]).to.deep.equal([429, null]);
    expect(headers.get('x-request-id')).to.match(/^[0-9a-f-]{36}$/);
  });

  it('sends JSON to clients that prefer it', async () => {
    const ask = await serve(rateLimit({ requestsPerUnit: 0 }, context()));
    const response = await ask({ accept: 'application/json' });
    expect([response.status, response.headers.get('content-type')]).to.deep.equal([429, 'application/json']);
    const requestId = response.headers.get('x-request-id');
    expect(await response.json()).to.deep.equal({
      code: 'ERR_RATE_LIMIT_EXCEEDED',
      message: 'Too Many Requests',
      requestId,
    });
  });

  it('passes the error on with onRefusal: next', async () => {
    const ask = await serve(rateLimit({ requestsPerUnit: 0, onRefusal: 'next' }, context()));
    expect(await (await ask()).text()).to.equal('ERR_RATE_LIMIT_EXCEEDED');
  });

  it('limits by verified user, and others by address', async () => {
    const handlers = [authenticate, rateLimit({ requestsPerUnit: 1, by: 'user' }, context())];
    const [ann, bob] = [{ authorization: 'ann' }, { authorization: 'bob' }];
    expect(await statuses(handlers, ann, ann, bob, {}, { 'x-user-id': 'eve' })).to.deep.equal([
      200, 429, 200, 200, 429,
    ]);
  });

  it('limits by header, and requests without it by address', async () => {
    const handlers = [rateLimit({ requestsPerUnit: 1, by: { header: 'X-API-Key' } }, context())];
    const [a, b] = [{ 'x-api-key': 'a' }, { 'x-api-key': 'b' }];
    expect(await statuses(handlers, a, a, b, {}, {})).to.deep.equal([200, 429, 200, 200, 429]);
  });

  it('accepts rules and descriptors of resources', async () => {
    const rules = {
      descriptors: [{ key: 'plan', value: 'free', rateLimit: { requestsPerUnit: 1, unit: 'HOUR' } }],
    } as const;
    const rateLimits = [{ actions: [{ requestHeaders: { headerName: 'x-plan', descriptorKey: 'plan' } }] }];
    const handlers = [rateLimit({ rules, rateLimits }, context())];
    const [free, gold] = [{ 'x-plan': 'free' }, { 'x-plan': 'gold' }];
    expect(await statuses(handlers, free, free, gold, gold)).to.deep.equal([200, 429, 200, 200]);
  });

  it('tells the time until all limits allow requests again', async () => {
    const rules = {
      descriptors: [
        { key: 'generic_key', value: 'a', rateLimit: { requestsPerUnit: 0, unit: 'HOUR' } },
        { key: 'generic_key', value: 'b', rateLimit: { requestsPerUnit: 0, unit: 'MINUTE' } },
        { key: 'generic_key', value: 'c', rateLimit: { requestsPerUnit: 9, unit: 'DAY' } },
      ],
    } as const;
    const rateLimits = ['a', 'b', 'c'].map((descriptorValue) => ({ actions: [{ genericKey: { descriptorValue } }] }));
    const ask = await serve(rateLimit({ rules, rateLimits }, context()));
    expect((await ask()).headers.get('retry-after')).to.equal('3599');
  });

  it('records each rule over its limit once, and those that only count apart', async () => {
    const over = { requestsPerUnit: 0, unit: 'HOUR' } as const;
    const rules = {
      descriptors: [
        { key: 'plan', rateLimit: over },
        { key: 'shadow', rateLimit: over, shadow: true },
      ],
    };
    const rateLimits = ['plan', 'plan', 'shadow'].map((descriptorKey, i) => ({
      actions: [{ requestHeaders: { headerName: `x-${i}`, descriptorKey } }],
    }));
    let recorded: unknown;
    const limit: Handler = (req, res, next) =>
      rateLimit({ name: 'pets', rules, rateLimits, onRefusal: 'next' }, context())(req, res, (error) => {
        recorded = factsOf(req).metadata.get('envoy.filters.http.ratelimit');
        next(error);
      });
    await (
      await serve(limit)
    )({ 'x-0': 'a', 'x-1': 'b', 'x-2': 'c' });
    const name = 'vendor.io.generic_key_app.pets';
    expect(recorded).to.deep.equal({ over_limit: `${name}.plan`, shadow_over_limit: `${name}.shadow` });
  });

  it('counts two limits apart, with one store too', async () => {
    const store = createMemoryStore({ now: () => NOW });
    const shared = context();
    const limits = [2, 3].map((requestsPerUnit) => rateLimit({ requestsPerUnit, store }, shared));
    expect(await statuses([limits[0]!], {}, {}, {})).to.deep.equal([200, 200, 429]);
    expect(await statuses([limits[1]!], {}, {}, {}, {})).to.deep.equal([200, 200, 200, 429]);
  });

  it('allows requests when the store fails, or rejects them with denyOnFail', async () => {
    const failing: Store[] = [
      { count: () => Promise.reject(new Error('redis://:secret@host is down')), close: () => {} },
      {
        count() {
          throw new Error('down');
        },
        close: () => {},
      },
    ];
    for (const store of failing) {
      expect(await statuses([rateLimit({ requestsPerUnit: 1, store })], {}, {})).to.deep.equal([200, 200]);
      const ask = await serve(rateLimit({ requestsPerUnit: 1, store, denyOnFail: true }));
      const { status, ...response } = await ask().then(async (each) => ({
        status: each.status,
        body: await each.text(),
      }));
      expect([status, response.body]).to.deep.equal([500, '']);
    }
  });

  it('warns once while the store fails, without its message', async () => {
    let lines = '';
    const log = createLoggers({
      destination: new Writable({ write: (chunk, _encoding, done) => ((lines += String(chunk)), done()) }),
    });
    let isDown = true;
    const working = createMemoryStore();
    const count: Store['count'] = (charges, deadlineMs) =>
      isDown ? Promise.reject(new Error('redis://:secret@host')) : working.count(charges, deadlineMs);
    const handlers = [rateLimit({ requestsPerUnit: 5, store: { count, close: () => {} } }, createContext({ log }))];
    const ask = await serve(...handlers);
    for (let i = 0; i < 3; i++) await ask();
    isDown = false;
    for (let i = 0; i < 3; i++) await ask();
    const messages = lines
      .trim()
      .split('\n')
      .map((line) => (JSON.parse(line) as { msg: string }).msg);
    expect(messages).to.deep.equal(['rate limits cannot be checked', 'rate limits can be checked again']);
    expect(lines).not.to.contain('secret');
  });

  it('logs during a failure that requests are rejected after denyOnFail is set', async () => {
    const logged: unknown[] = [];
    const log = createLoggers({
      destination: { write: (line) => void logged.push((JSON.parse(line) as { requests?: string }).requests) },
    });
    const context = createContext({ log });
    const store: Store = { count: () => Promise.reject(new Error('down')), close: () => {} };
    for (const denyOnFail of [false, true, false]) {
      const ask = await serve(rateLimit({ requestsPerUnit: 5, store, denyOnFail }, context));
      for (let i = 0; i < 2; i++) await ask();
    }
    expect(logged).to.deep.equal(['allowed', 'rejected']);
  });

  it('limits requests in flight until they end or their client disconnects', async () => {
    const concurrency = [{ actions: [{ remoteAddress: {} }], maxInFlight: 1 }];
    const arrivals = new EventEmitter();
    const hold: Handler = (req, res, next) => {
      if (req.headers['x-hold']) arrivals.emit('held', res);
      else next();
    };
    const ask = await serve(rateLimit({ concurrency }, context()), hold);
    const first = ask({ 'x-hold': 'yes' });
    const [held] = (await once(arrivals, 'held')) as [ServerResponse];
    const over = await ask();
    expect([over.status, over.headers.get('retry-after')]).to.deep.equal([429, '1']);
    held.end('held');
    expect(await (await first).text()).to.equal('held');
    expect((await ask()).status).to.equal(200);
    const leaving = new AbortController();
    const closed = new Promise((resolve) => servers[0]!.once('request', (_req, res) => res.once('close', resolve)));
    const left = ask({ 'x-hold': 'yes' }, leaving.signal).catch((error: Error) => error.name);
    await once(arrivals, 'held');
    expect((await ask()).status).to.equal(429);
    leaving.abort();
    expect(await left).to.equal('AbortError');
    await closed;
    expect((await ask()).status).to.equal(200);
  });

  const INVALID: readonly (readonly [string, RateLimitOptions, string])[] = [
    ['no limit', {}, 'no limit: set requestsPerUnit'],
    [
      'an unknown option',
      { requestsPerMinute: 1 } as RateLimitOptions,
      'requestsPerMinute: unknown key requestsPerMinute (did you mean requestsPerUnit?)',
    ],
    [
      'a negative number',
      { requestsPerUnit: -1 },
      'requestsPerUnit: must be at least 0 and at most 4294967295, got -1',
    ],
    ['an unknown unit', { requestsPerUnit: 1, unit: 'FORTNIGHT' as 'HOUR' }, 'unit: FORTNIGHT is not allowed'],
    ['an unknown key', { requestsPerUnit: 1, by: 'session' as 'user' }, 'by: session is not allowed'],
    ['an empty header', { requestsPerUnit: 1, by: { header: '' } }, 'by.header: must not be empty'],
    [
      'a store without counters',
      { requestsPerUnit: 1, store: {} as Store },
      'store: must be a store, e.g. of createMemoryStore(), got an object',
    ],
    [
      'a misplaced key',
      { basic: { requestsPerUnit: 1 } } as RateLimitOptions,
      'requestsPerUnit does not belong here (it belongs at the top level)',
    ],
    ['an invalid action', { rateLimits: [{ actions: [{}] }] }, 'rateLimits[0].actions[0]: the action has no type'],
  ];
  for (const [what, options, message] of INVALID)
    it(`rejects options with ${what}`, () => {
      expect(() => rateLimit(options)).to.throw(message);
    });
});
