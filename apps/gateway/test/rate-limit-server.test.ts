import { createServer, type AddressInfo, type Socket } from 'node:net';
import { once } from 'node:events';
import { expect } from 'chai';
import {
  createContext,
  createControlPlane,
  memorySource,
  silentLoggers,
  type Context,
  type ListeningServer,
} from '@edge-gateway/core';
import { createMemoryStore, createRateLimitService, listenRateLimitGrpc, type Store } from '@edge-gateway/rate-limit';
import { protect, upstream, type Protected } from './protection.ts';

const NOW = Date.UTC(2027, 0, 5, 12, 0, 1);

interface Parts {
  readonly hostOptions?: string;
  readonly options?: string;
  readonly rules?: string;
  /** More fields of `ratelimitServer`. */
  readonly server?: string;
  readonly more?: string;
}

const resources = (
  { hostOptions = '{}', options = '{}', rules = '{}', server = '', more = '' }: Parts,
  ref = '',
): string => `
apiVersion: settings.gw.vendor.io/v1
kind: Settings
metadata: { name: default, namespace: gw-system }
spec: { ratelimit: ${rules}, ratelimitServer: { enableXRatelimitHeaders: true, requestTimeout: 5s, ${ref} ${server} } }
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
        matchers: [{ prefix: / }]
        routeAction: { single: { upstream: { name: echo, namespace: gw-system } } }
        options: ${options}
---
${more}
`;

const byHeader = (list: string): string =>
  `{ ratelimit: { rateLimits: [{ ${list}: [{ requestHeaders: { headerName: x-a, descriptorKey: a } }, { requestHeaders: { headerName: x-b, descriptorKey: b } }] }] } }`;
const LIMIT = (n: number, more = ''): string => `rateLimit: { requestsPerUnit: ${n}, unit: HOUR ${more} }`;

interface Scenario extends Parts {
  readonly name: string;
  readonly requests: readonly Record<string, string>[];
  readonly expected: readonly number[];
}

const A = { 'x-a': '1', 'x-b': '2' };
const SCENARIOS: readonly Scenario[] = [
  {
    name: 'a tuple',
    hostOptions: byHeader('actions'),
    rules: `{ descriptors: [{ key: a, value: "1", descriptors: [{ key: b, ${LIMIT(1)} }] }] }`,
    requests: [A, A, { ...A, 'x-b': '3' }, { 'x-a': '1' }],
    expected: [200, 429, 200, 200],
  },
  {
    name: 'a set without one of its headers',
    hostOptions: byHeader('setActions'),
    rules: `{ setDescriptors: [{ simpleDescriptors: [{ key: b }], ${LIMIT(1)} }] }`,
    requests: [A, { 'x-b': '2' }, { 'x-a': '1' }],
    expected: [200, 429, 200],
  },
  {
    name: 'two limits of one request',
    hostOptions:
      '{ ratelimit: { rateLimits: [{ actions: [{ requestHeaders: { headerName: x-a, descriptorKey: a } }] }, { actions: [{ requestHeaders: { headerName: x-b, descriptorKey: b } }] }] } }',
    rules: `{ descriptors: [{ key: a, ${LIMIT(5)} }, { key: b, ${LIMIT(1)} }] }`,
    requests: [A, A, { 'x-a': '1' }],
    expected: [200, 429, 200],
  },
  {
    name: 'a RateLimitConfig with sets',
    hostOptions: '{ rateLimitConfigs: { refs: [{ name: plans, namespace: gw-system }] } }',
    more: `
apiVersion: ratelimit.vendor.io/v1alpha1
kind: RateLimitConfig
metadata: { name: plans, namespace: gw-system }
spec:
  raw:
    setDescriptors: [{ simpleDescriptors: [{ key: a }, { key: b }], ${LIMIT(1)} }]
    rateLimits: [{ setActions: [{ requestHeaders: { headerName: x-b, descriptorKey: b } }, { requestHeaders: { headerName: x-a, descriptorKey: a } }] }]
`,
    requests: [A, A, { 'x-a': '1' }],
    expected: [200, 429, 200],
  },
  {
    name: 'ratelimitBasic of a route',
    options: `{ ratelimitBasic: { anonymousLimits: { requestsPerUnit: 2, unit: HOUR } } }`,
    requests: [{}, {}, {}],
    expected: [200, 200, 429],
  },
  {
    name: 'a shadow rule',
    hostOptions: byHeader('actions'),
    rules: `{ descriptors: [{ key: a, descriptors: [{ key: b, shadow: true, ${LIMIT(1)} }] }] }`,
    requests: [A, A],
    expected: [200, 200],
  },
  {
    name: 'a cost',
    hostOptions:
      '{ ratelimit: { rateLimits: [{ actions: [{ genericKey: { descriptorValue: all } }], cost: { header: { headerName: x-cost } } }] } }',
    rules: `{ descriptors: [{ key: generic_key, value: all, ${LIMIT(3)} }] }`,
    requests: [{ 'x-cost': '2' }, { 'x-cost': '0' }, { 'x-cost': '2' }, { 'x-cost': '0' }],
    expected: [200, 200, 429, 429],
  },
  {
    name: 'a rejected request with retry-after',
    hostOptions:
      '{ ratelimit: { retryAfter: true, rateLimits: [{ actions: [{ genericKey: { descriptorValue: all } }] }] } }',
    rules: `{ descriptors: [{ key: generic_key, value: all, ${LIMIT(0)} }] }`,
    requests: [{}],
    expected: [429],
  },
];

describe('rate limits by a rate limit server', () => {
  const open: (() => Promise<void> | void)[] = [];
  afterEach(async () => {
    for (const close of open.splice(0).toReversed()) await close();
  });

  async function startService(
    parts: Parts,
    store: Store = createMemoryStore({ now: () => NOW }),
  ): Promise<ListeningServer> {
    const controlPlane = createControlPlane({
      source: memorySource({ resources: resources(parts), upstreams: upstream(9) }),
      log: silentLoggers,
    });
    const service = createRateLimitService({ context: createContext({ log: silentLoggers }), store });
    controlPlane.subscribe((state) => service.update(state));
    await controlPlane.start();
    const log = silentLoggers.get('filter');
    const server = await listenRateLimitGrpc(service, { address: '127.0.0.1', port: 0, log });
    open.push(
      () => controlPlane.close(),
      () => server.close(),
    );
    return server;
  }

  async function startGateway(
    parts: Parts,
    servicePort?: number,
    holdListeners?: Context['holdListeners'],
  ): Promise<Protected> {
    const ref = servicePort === undefined ? '' : 'ratelimitServerRef: { name: rate-limit, namespace: gw-system },';
    const service = servicePort === undefined ? '' : `---\n${upstream(servicePort, 'rate-limit')}`;
    const gateway = await protect(resources({ ...parts, more: (parts.more ?? '') + service }, ref), '', {
      now: () => NOW,
      ...(holdListeners && { holdListeners }),
    });
    open.push(() => gateway.close());
    return gateway;
  }

  async function outcomes(gateway: Protected, requests: Scenario['requests']) {
    const answers = [];
    for (const headers of requests) {
      const { status, headers: received, body } = await gateway.ask('/', headers);
      const { date: _, 'x-envoy-upstream-service-time': __, 'content-length': length, ...rest } = received;
      const { 'x-request-id': id, ...same } = rest;
      answers.push({ status, rest: same, ...(status !== 200 && { body, length, hasId: id !== undefined }) });
    }
    return answers;
  }

  for (const scenario of SCENARIOS) {
    it(`has the same outcome as embedded limits: ${scenario.name}`, async () => {
      const { port } = await startService(scenario);
      const embedded = await outcomes(await startGateway(scenario), scenario.requests);
      const remote = await outcomes(await startGateway(scenario, port), scenario.requests);
      expect(embedded.map(({ status }) => status)).to.deep.equal(scenario.expected);
      expect(remote).to.deep.equal(embedded);
    });
  }

  const [TUPLE] = SCENARIOS as [Scenario];

  it('shares the counters of three gateways', async () => {
    const parts = { ...TUPLE, rules: `{ descriptors: [{ key: a, descriptors: [{ key: b, ${LIMIT(100)} }] }] }` };
    const { port } = await startService(parts);
    const gateways = [
      await startGateway(parts, port),
      await startGateway(parts, port),
      await startGateway(parts, port),
    ];
    const statuses: number[] = [];
    for (let i = 0; i < 15; i++) {
      const batch = Array.from({ length: 20 }, (_, j) => gateways[j % 3]!.ask('/', A));
      statuses.push(...(await Promise.all(batch)).map(({ status }) => status));
    }
    expect(statuses.filter((status) => status === 200)).to.have.length(100);
    expect(statuses.filter((status) => status === 429)).to.have.length(200);
  });

  it('connects to the server before the listeners open', async () => {
    const held: [string, boolean][] = [];
    const waits: Promise<unknown>[] = [];
    const hold = (what: string, ready: Promise<boolean>) => void waits.push(ready.then((is) => held.push([what, is])));
    await startGateway(TUPLE, (await startService(TUPLE)).port, hold);
    await Promise.all(waits);
    expect(held).to.deep.include(['the connection to the rate limit server rate-limit_gw-system', true]);
    expect(new Set(held.map(([, isConnected]) => isConnected))).to.deep.equal(new Set([true]));
  });

  it('counts in the gateway while the upstream does not exist', async () => {
    const parts = { ...TUPLE, server: 'ratelimitServerRef: { name: none, namespace: gw-system }' };
    const gateway = await startGateway(parts);
    expect((await outcomes(gateway, TUPLE.requests)).map(({ status }) => status)).to.deep.equal(TUPLE.expected);
  });

  it('allows requests if the server fails, or rejects them with 500 if denyOnFail is set', async () => {
    const store: Store = { count: () => Promise.reject(new Error('down')), close() {} };
    const { port } = await startService(TUPLE, store);
    expect((await (await startGateway(TUPLE, port)).ask('/', A)).status).to.equal(200);
    const denying = await startGateway({ ...TUPLE, server: 'denyOnFail: true' }, port);
    const { status, body } = await denying.ask('/', A);
    expect([status, body]).to.deep.equal([500, '']);
  });

  it('fails at the timeout if the server does not respond', async () => {
    const sockets = new Set<Socket>();
    const silent = createServer((socket) => void sockets.add(socket)).listen(0, '127.0.0.1');
    await once(silent, 'listening');
    open.push(() => {
      for (const socket of sockets) socket.destroy();
      silent.close();
    });
    const { port } = silent.address() as AddressInfo;
    const parts = { ...TUPLE, server: 'denyOnFail: true' };
    const gateway = await protect(
      resources(
        { ...parts, more: upstream(port, 'rate-limit') },
        'ratelimitServerRef: { name: rate-limit, namespace: gw-system },',
      ).replace('requestTimeout: 5s', 'requestTimeout: 0.1s'),
    );
    open.push(() => gateway.close());
    const began = performance.now();
    expect((await gateway.ask('/', A)).status).to.equal(500);
    expect(performance.now() - began).to.be.below(2000);
  });
});
