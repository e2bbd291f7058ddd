import { expect } from 'chai';
import { protect, type Answer, type Protected } from './protection.ts';

const NOW = Date.UTC(2027, 0, 5, 12, 0, 1);
const COST = 'cost: { graphqlComplexity: {} }';

const resources = (options: string, more = ''): string => `
apiVersion: settings.gw.vendor.io/v1
kind: Settings
metadata: { name: default, namespace: gw-system }
spec:
  ratelimit: { descriptors: [{ key: generic_key, value: work, rateLimit: { requestsPerUnit: 25, unit: MINUTE } }] }
  ratelimitServer: { enableXRatelimitHeaders: true }
---
apiVersion: graphql.gw.vendor.io/v1beta1
kind: GraphQLApi
metadata: { name: shop, namespace: gw-system }
spec:
  executableSchema:
    schemaDefinition: |
      type Query { one: Int @resolve(name: one) list(first: Int): [Item] @resolve(name: list) }
      type Item { n: Int }
    executor:
      local:
        resolutions:
          one: { mockResolver: { syncResponse: 1 } }
          list: { mockResolver: { syncResponse: [{ n: 1 }] } }
  options: { limits: { maxBatchSize: 3 } }
---
apiVersion: gateway.vendor.io/v1
kind: VirtualService
metadata: { name: shop, namespace: gw-system }
spec:
  virtualHost:
    domains: ['*']
    options: ${options}
    routes:
      - matchers: [{ prefix: /graphql }]
        graphqlApiRef: { name: shop, namespace: gw-system }
      - matchers: [{ prefix: / }]
        routeAction: { single: { upstream: { name: echo, namespace: gw-system } } }
${more}
`;

const WORK = `actions: [{ genericKey: { descriptorValue: work } }], ${COST}`;
const CONFIG = `
---
apiVersion: ratelimit.vendor.io/v1alpha1
kind: RateLimitConfig
metadata: { name: work, namespace: gw-system }
spec:
  raw:
    descriptors: [{ key: generic_key, value: work, rateLimit: { requestsPerUnit: 25, unit: MINUTE } }]
    rateLimits: [{ ${WORK} }]
`;

describe('limits by the complexity of GraphQL operations', () => {
  const started: Protected[] = [];
  afterEach(async () => {
    for (const each of started.splice(0)) await each.close();
  });

  async function start(options: string, more = '', state = 'Accepted'): Promise<(body: unknown) => Promise<Answer>> {
    const gateway = await protect(resources(options, more), '', { now: () => NOW });
    started.push(gateway);
    expect(gateway.state('VirtualService', 'shop')).to.equal(state);
    return (body) => gateway.ask('/graphql', { 'content-type': 'application/json' }, JSON.stringify(body));
  }

  const query = { query: '{ list(first: 10) { n } }' };

  for (const [name, options, more] of [
    ['in the Settings', `{ ratelimit: { rateLimits: [{ ${WORK} }] } }`, ''],
    ['in the Settings, before authentication', `{ ratelimitEarly: { rateLimits: [{ ${WORK} }] } }`, ''],
    ['of a RateLimitConfig', '{ rateLimitConfigs: { refs: [{ name: work, namespace: gw-system }] } }', CONFIG],
  ] as const) {
    it(`${name} are charged before the operation is executed`, async () => {
      const ask = await start(options, more);
      const answers = [await ask(query), await ask(query), await ask(query)];
      expect(answers.map(({ status }) => status)).to.deep.equal([200, 200, 429]);
      expect(answers.map(({ headers }) => headers['x-ratelimit-remaining'])).to.deep.equal(['14', '3', '0']);
      const { body, headers } = answers[2]!;
      expect([body, headers['x-envoy-ratelimited'], headers['content-length']]).to.deep.equal(['', 'true', '0']);
    });
  }

  it('count a batch as the sum of its operations', async () => {
    const ask = await start(`{ ratelimit: { rateLimits: [{ ${WORK} }] } }`);
    expect((await ask([query, query])).headers['x-ratelimit-remaining']).to.equal('3');
    expect((await ask([query, query])).status).to.equal(429);
  });

  it('do not replace limits of requests', async () => {
    const requests = 'actions: [{ genericKey: { descriptorValue: request } }]';
    const ask = await start(`{ ratelimit: { rateLimits: [{ ${WORK} }, { ${requests} }] } }`, '', 'Warning');
    const settings = resources(`{ ratelimit: { rateLimits: [{ ${WORK} }, { ${requests} }] } }`).replace(
      'descriptors: [',
      'descriptors: [{ key: generic_key, value: request, rateLimit: { requestsPerUnit: 1, unit: MINUTE } }, ',
    );
    started[0]!.source.set('resources', settings);
    expect(started[0]!.state('VirtualService', 'shop')).to.equal('Accepted');
    const one = { query: '{ one }' };
    expect([(await ask(one)).status, (await ask(one)).status]).to.deep.equal([200, 429]);
  });

  it('count requests to other routes as 1', async () => {
    await start(`{ ratelimit: { rateLimits: [{ ${WORK} }] } }`);
    expect((await started[0]!.ask('/')).headers['x-ratelimit-remaining']).to.equal('24');
  });
});
