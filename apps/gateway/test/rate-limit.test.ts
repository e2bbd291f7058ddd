import { expect } from 'chai';
import { protect, type Protected } from './protection.ts';

const NOW = Date.UTC(2027, 0, 5, 12, 0, 1);

interface Parts {
  readonly settings?: string;
  readonly hostOptions?: string;
  readonly options?: string;
  readonly more?: string;
}

const resources = ({ settings = '{}', hostOptions = '{}', options = '{}', more = '' }: Parts): string => `
apiVersion: settings.gw.vendor.io/v1
kind: Settings
metadata: { name: default, namespace: gw-system }
spec: ${settings}
---
apiVersion: gateway.vendor.io/v1
kind: VirtualService
metadata: { name: shop, namespace: gw-system }
spec:
  virtualHost:
    domains: ['*']
    options: ${hostOptions}
    routes:
      - name: limited
        matchers: [{ prefix: /limited }]
        routeAction: { single: { upstream: { name: echo, namespace: gw-system } } }
        options: ${options}
      - matchers: [{ prefix: / }]
        routeAction: { single: { upstream: { name: echo, namespace: gw-system } } }
---
${more}
`;

const config = (name: string, requestsPerUnit: number, key = 'generic_key'): string => `
apiVersion: ratelimit.vendor.io/v1alpha1
kind: RateLimitConfig
metadata: { name: ${name}, namespace: gw-system }
spec:
  raw:
    descriptors: [{ key: ${key}, value: count, rateLimit: { requestsPerUnit: ${requestsPerUnit}, unit: MINUTE } }]
    rateLimits: [{ actions: [{ genericKey: { descriptorValue: count } }] }]
`;

const HEADER_LIMIT = `{ ratelimit: { rateLimits: [{ actions: [{ requestHeaders: { headerName: x-plan, descriptorKey: plan } }] }] } }`;
const PLAN_RULES = `{ descriptors: [{ key: plan, rateLimit: { requestsPerUnit: 1, unit: MINUTE } }] }`;

describe('rate limits of the gateway', () => {
  const started: Protected[] = [];
  afterEach(async () => {
    for (const each of started.splice(0)) await each.close();
  });

  async function start(parts: Parts): Promise<Protected> {
    const gateway = await protect(resources(parts), '', { now: () => NOW });
    started.push(gateway);
    return gateway;
  }

  async function statuses(gateway: Protected, path: string, headers: Record<string, string>[]): Promise<number[]> {
    const found: number[] = [];
    for (const each of headers) found.push((await gateway.ask(path, each)).status);
    return found;
  }

  it('rejects with 429, an empty body and x-envoy-ratelimited', async () => {
    const gateway = await start({ settings: `{ ratelimit: ${PLAN_RULES} }`, hostOptions: HEADER_LIMIT });
    expect((await gateway.ask('/', { 'x-plan': 'a' })).status).to.equal(200);
    const { status, headers, body } = await gateway.ask('/', { 'x-plan': 'a' });
    expect([status, body, headers['x-envoy-ratelimited'], headers['content-length']]).to.deep.equal([
      429,
      '',
      'true',
      '0',
    ]);
    expect(headers).to.have.property('retry-after');
    expect(headers).not.to.have.any.keys('x-ratelimit-limit', 'content-type');
    expect(gateway.reached()).to.equal(1);
  });

  it('does not limit requests without the header of a descriptor', async () => {
    const gateway = await start({ settings: `{ ratelimit: ${PLAN_RULES} }`, hostOptions: HEADER_LIMIT });
    expect(await statuses(gateway, '/', [{}, {}, {}])).to.deep.equal([200, 200, 200]);
  });

  it('sends the headers of the draft with every response', async () => {
    const gateway = await start({
      settings: `{ ratelimit: ${PLAN_RULES}, ratelimitServer: { enableXRatelimitHeaders: true } }`,
      hostOptions: HEADER_LIMIT.replace('ratelimit: {', 'ratelimit: { retryAfter: true,'),
    });
    const shown = async (): Promise<unknown[]> => {
      const { status, headers } = await gateway.ask('/', { 'x-plan': 'a' });
      const names = ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset', 'retry-after'];
      return [status, ...names.map((name) => headers[name])];
    };
    expect(await shown()).to.deep.equal([200, '1, 1;w=60', '0', '59', undefined]);
    expect(await shown()).to.deep.equal([429, '1, 1;w=60', '0', '59', '59']);
  });

  for (const [early, regular] of [
    [2, 5],
    [5, 2],
  ]) {
    it(`states the stricter limit of ${early} before and ${regular} after authentication`, async () => {
      const limitBy = (key: string): string =>
        `{ rateLimits: [{ actions: [{ requestHeaders: { headerName: x-plan, descriptorKey: ${key} } }] }] }`;
      const ruleOf = (key: string, requests?: number): string =>
        `{ key: ${key}, rateLimit: { requestsPerUnit: ${requests}, unit: MINUTE } }`;
      const gateway = await start({
        settings: `{ ratelimit: { descriptors: [${ruleOf('early', early)}, ${ruleOf('regular', regular)}] }, ratelimitServer: { enableXRatelimitHeaders: true } }`,
        hostOptions: `{ ratelimitEarly: ${limitBy('early')}, ratelimitRegular: ${limitBy('regular')} }`,
      });
      const { headers } = await gateway.ask('/', { 'x-plan': 'a' });
      expect([headers['x-ratelimit-limit'], headers['x-ratelimit-remaining']]).to.deep.equal(['2, 2;w=60', '1']);
    });
  }

  it('replaces the limits of the virtual host by those of the route, unless it includes them', async () => {
    const settings = `{ ratelimit: { descriptors: [
      { key: plan, rateLimit: { requestsPerUnit: 1, unit: MINUTE } },
      { key: route, rateLimit: { requestsPerUnit: 2, unit: MINUTE } }] } }`;
    const own = `rateLimits: [{ actions: [{ requestHeaders: { headerName: x-plan, descriptorKey: route } }] }]`;
    const a = { 'x-plan': 'a' };
    const replacing = await start({ settings, hostOptions: HEADER_LIMIT, options: `{ ratelimit: { ${own} } }` });
    expect(await statuses(replacing, '/limited', [a, a, a])).to.deep.equal([200, 200, 429]);
    const including = await start({
      settings,
      hostOptions: HEADER_LIMIT,
      options: `{ ratelimit: { includeVhRateLimits: true, ${own} } }`,
    });
    expect(await statuses(including, '/limited', [a, a])).to.deep.equal([200, 429]);
  });

  it('counts anonymous clients by address, whatever user they claim to be', async () => {
    const limits = `{ ratelimitBasic: { anonymousLimits: { requestsPerUnit: 1, unit: MINUTE } } }`;
    const gateway = await start({ hostOptions: limits });
    const forged: Record<string, string>[] = [
      { 'x-user-id': 'a' },
      { 'x-user-id': 'b' },
      { 'x-forwarded-for': '192.0.2.1' },
    ];
    expect(await statuses(gateway, '/', forged)).to.deep.equal([200, 429, 429]);
    expect((await gateway.ask('/limited')).status, 'shared by all routes').to.equal(429);
  });

  it('counts a basic limit of a route beside that of its virtual host', async () => {
    const limits = (requests: number): string =>
      `{ ratelimitBasic: { anonymousLimits: { requestsPerUnit: ${requests}, unit: MINUTE } } }`;
    const gateway = await start({ hostOptions: limits(1), options: limits(2) });
    expect(await statuses(gateway, '/limited', [{}, {}, {}])).to.deep.equal([200, 200, 429]);
    expect(await statuses(gateway, '/', [{}, {}])).to.deep.equal([200, 429]);
  });

  it('does not let a client choose the value of the user header in descriptors', async () => {
    const actions = `[{ requestHeaders: { headerName: x-user-id, descriptorKey: plan } }]`;
    for (const option of ['ratelimit', 'ratelimitEarly']) {
      const gateway = await start({
        settings: `{ ratelimit: ${PLAN_RULES} }`,
        hostOptions: `{ ${option}: { rateLimits: [{ actions: ${actions} }] } }`,
      });
      expect(await statuses(gateway, '/', [{ 'x-user-id': 'a' }, { 'x-user-id': 'a' }])).to.deep.equal([200, 200]);
    }
  });

  it('counts RateLimitConfigs with equal rules apart, and rejects only what refers to a broken one', async () => {
    const gateway = await start({
      hostOptions: `{ rateLimitConfigs: { refs: [{ name: two, namespace: gw-system }, { name: three, namespace: gw-system }] } }`,
      options: `{ rateLimitConfigs: { refs: [{ name: three, namespace: gw-system }] } }`,
      more: `${config('two', 2)}---${config('three', 3)}---${config('bad', 1, '""')}`,
    });
    expect(gateway.state('RateLimitConfig', 'bad')).to.equal('Rejected');
    expect(gateway.state('RateLimitConfig', 'two')).to.equal('Accepted');
    expect(await statuses(gateway, '/', [{}, {}, {}])).to.deep.equal([200, 200, 429]);
    expect(await statuses(gateway, '/limited', [{}])).to.deep.equal([429]);
  });

  it('returns the replacement of a route that refers to a missing RateLimitConfig', async () => {
    const gateway = await start({
      settings: '{ gw: { invalidConfigPolicy: { replaceInvalidRoutes: true, invalidRouteResponseCode: 418 } } }',
      options: `{ rateLimitConfigs: { refs: [{ name: gone, namespace: gw-system }] } }`,
    });
    expect(await statuses(gateway, '/limited', [{}])).to.deep.equal([418]);
    expect(await statuses(gateway, '/', [{}])).to.deep.equal([200]);
  });

  it('keeps the counters of unchanged rules over reloads', async () => {
    const parts = { settings: `{ ratelimit: ${PLAN_RULES} }`, hostOptions: HEADER_LIMIT };
    const gateway = await start(parts);
    const a = { 'x-plan': 'a' };
    expect(await statuses(gateway, '/', [a])).to.deep.equal([200]);
    const added = '{ headerManipulation: { responseHeadersToAdd: [{ header: { key: x-version, value: new } }] } }';
    gateway.source.set('resources', resources({ ...parts, options: added }));
    const served = await gateway.ask('/limited');
    expect(served.headers['x-version']).to.equal('new');
    expect(await statuses(gateway, '/', [a])).to.deep.equal([429]);
  });

  it('limits requests in flight until their responses end', async () => {
    const concurrency = `[{ actions: [{ genericKey: { descriptorValue: all } }], maxInFlight: 1 }]`;
    const gateway = await start({ hostOptions: `{ ratelimit: { concurrency: ${concurrency} } }` });
    expect(await statuses(gateway, '/', [{}, {}, {}])).to.deep.equal([200, 200, 200]);
  });
});
