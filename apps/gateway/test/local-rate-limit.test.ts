import { Agent, request } from 'node:http';
import { expect } from 'chai';
import { protect, type Protected } from './protection.ts';

const NOW = Date.UTC(2027, 0, 5, 12, 0, 1);

interface Parts {
  readonly listener?: string;
  readonly host?: string;
  readonly route?: string;
}

const resources = ({ listener = '{}', host = '{}', route = '{}' }: Parts): string => `
apiVersion: gateway.vendor.io/v1
kind: Gateway
metadata: { name: gateway-proxy, namespace: gw-system }
spec: { bindPort: 8080, httpGateway: { options: ${listener} } }
---
apiVersion: gateway.vendor.io/v1
kind: VirtualService
metadata: { name: shop, namespace: gw-system }
spec:
  virtualHost:
    domains: ['*']
    options: ${host}
    routes:
      - matchers: [{ prefix: /limited }]
        routeAction: { single: { upstream: { name: echo, namespace: gw-system } } }
        options: ${route}
      - matchers: [{ prefix: /redirect }]
        redirectAction: { pathRedirect: /limited }
      - matchers: [{ prefix: /direct }]
        directResponseAction: { status: 203 }
      - matchers: [{ prefix: / }]
        routeAction: { single: { upstream: { name: echo, namespace: gw-system } } }
`;
const UNROUTED = (domain: string, text: string): string =>
  text.replace("['*']", `[${domain}]`).replace('prefix: / ', 'prefix: /else ');

const bucket = (maxTokens: number): string => `{ maxTokens: ${maxTokens}, tokensPerFill: 1, fillInterval: 30s }`;
const shown = ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset'];

describe('local rate limits', () => {
  const started: Protected[] = [];
  afterEach(async () => {
    for (const each of started.splice(0)) await each.close();
  });

  async function start(parts: Parts): Promise<Protected> {
    const gateway = await protect(resources(parts), '', { now: () => NOW });
    started.push(gateway);
    return gateway;
  }

  async function statuses(gateway: Protected, ...paths: string[]): Promise<number[]> {
    const found: number[] = [];
    for (const path of paths) found.push((await gateway.ask(path)).status);
    return found;
  }

  it('rejects with a text, without the header of global limits', async () => {
    const gateway = await start({ listener: `{ httpLocalRatelimit: { defaultLimit: ${bucket(1)} } }` });
    expect(await statuses(gateway, '/')).to.deep.equal([200]);
    const { status, body, headers } = await gateway.ask('/limited');
    expect([status, body, headers['content-type']]).to.deep.equal([429, 'local_rate_limited', 'text/plain']);
    expect(headers).not.to.have.any.keys('x-envoy-ratelimited', ...shown);
  });

  it('sends plain numbers with every response if the listener requires it', async () => {
    const listener = `{ httpLocalRatelimit: { enableXRatelimitHeaders: true, defaultLimit: ${bucket(2)} } }`;
    const gateway = await start({ listener });
    const answers = [await gateway.ask('/'), await gateway.ask('/'), await gateway.ask('/')];
    expect(answers.map(({ status, headers }) => [status, ...shown.map((name) => headers[name])])).to.deep.equal([
      [200, '2', '1', '0'],
      [200, '2', '0', '30'],
      [429, '2', '0', '30'],
    ]);
  });

  for (const option of ['ratelimit', 'ratelimitEarly']) {
    it(`${option}.localRatelimit of a route overrides that of the virtual host, and that the one of the listener`, async () => {
      const own = (tokens: number): string => `{ ${option}: { localRatelimit: ${bucket(tokens)} } }`;
      const gateway = await start({
        listener: `{ httpLocalRatelimit: { defaultLimit: ${bucket(1)} } }`,
        host: own(2),
        route: own(3),
      });
      expect(await statuses(gateway, '/', '/', '/')).to.deep.equal([200, 200, 429]);
      expect(await statuses(gateway, '/limited', '/limited', '/limited', '/limited')).to.deep.equal([
        200, 200, 200, 429,
      ]);
    });
  }

  it('has a bucket for each virtual host, also with equal limits', async () => {
    const host = `{ ratelimit: { localRatelimit: ${bucket(1)} } }`;
    const other = resources({ host })
      .slice(resources({ host }).indexOf('---'))
      .replace('name: shop', 'name: other')
      .replace("['*']", "['other.example']");
    const gateway = await protect(resources({ host }) + other, '', { now: () => NOW });
    started.push(gateway);
    expect(await statuses(gateway, '/', '/')).to.deep.equal([200, 429]);
    const found = [];
    for (let i = 0; i < 2; i++) found.push((await gateway.ask('/', { host: 'other.example' })).status);
    expect(found).to.deep.equal([200, 429]);
  });

  it('keeps the tokens over reloads', async () => {
    const host = `{ ratelimit: { localRatelimit: ${bucket(1)} } }`;
    const gateway = await start({ host });
    expect(await statuses(gateway, '/')).to.deep.equal([200]);
    const route = '{ headerManipulation: { responseHeadersToAdd: [{ header: { key: x-version, value: new } }] } }';
    gateway.source.set('resources', resources({ host, route }));
    const { status, headers } = await gateway.ask('/limited');
    expect([status, headers['x-version']]).to.deep.equal([429, 'new']);
  });

  for (const [name, domain] of [
    ['without a route', "'*'"],
    ['without a virtual host', 'a.example.com'],
  ] as const) {
    it(`limits requests ${name} together with all others of the listener`, async () => {
      const listener = `{ httpLocalRatelimit: { enableXRatelimitHeaders: true, defaultLimit: ${bucket(2)} } }`;
      const gateway = await start({ listener });
      gateway.source.set('resources', UNROUTED(domain, resources({ listener })));
      const host = domain === "'*'" ? 'any' : domain;
      expect((await gateway.ask('/else', { host })).status).to.equal(200);
      const missing = await gateway.ask('/none', { host: domain === "'*'" ? 'any' : 'other' });
      expect([missing.status, missing.body, missing.headers['x-ratelimit-remaining']]).to.deep.equal([404, '', '0']);
      const limited = await gateway.ask('/none', { host: 'other' });
      expect([limited.status, limited.body]).to.deep.equal([429, 'local_rate_limited']);
      expect((await gateway.ask('/else', { host })).status).to.equal(429);
    });
  }

  it('limits redirects and direct responses', async () => {
    const gateway = await start({ listener: `{ httpLocalRatelimit: { defaultLimit: ${bucket(2)} } }` });
    expect(await statuses(gateway, '/redirect', '/direct', '/redirect', '/direct')).to.deep.equal([301, 203, 429, 429]);
  });

  it('keeps the tokens of a listener for requests without a route over reloads', async () => {
    const listener = `{ httpLocalRatelimit: { defaultLimit: ${bucket(1)} } }`;
    const gateway = await start({ listener });
    gateway.source.set('resources', UNROUTED("'*'", resources({ listener })));
    expect(await statuses(gateway, '/none')).to.deep.equal([404]);
    const changed = `{ httpConnectionManagerSettings: { serverName: changed }, ${listener.slice(1)}`;
    gateway.source.set('resources', UNROUTED("'*'", resources({ listener: changed })));
    const { status, headers } = await gateway.ask('/none');
    expect([status, headers['server']]).to.deep.equal([429, 'changed']);
  });

  it('has a bucket for each connection if the listener requires it', async () => {
    const limit = `localRateLimitPerDownstreamConnection: true, defaultLimit: ${bucket(1)}`;
    const gateway = await start({ listener: `{ httpLocalRatelimit: { ${limit} } }` });
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const askKept = (): Promise<number | undefined> =>
      new Promise((resolve, reject) => {
        const sent = request({ port: gateway.port, agent }, (res) => {
          res.resume().on('end', () => resolve(res.statusCode));
        });
        sent.on('error', reject).end();
      });
    expect([await askKept(), await askKept()]).to.deep.equal([200, 429]);
    agent.destroy();
    expect(await statuses(gateway, '/')).to.deep.equal([200]);
  });
});
