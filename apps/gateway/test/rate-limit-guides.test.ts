import { createSign, generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createMetrics, type Metrics } from '@edge-gateway/core';
import { compileRules, ruleLines } from '@edge-gateway/rate-limit';
import { expect } from 'chai';
import { parse } from 'yaml';
import { protect, upstream, type Protected } from './protection.ts';

const NOW = Date.UTC(2027, 0, 5, 12, 0, 1);

const settings = (ratelimit: string, more = ''): string => `
apiVersion: settings.gw.vendor.io/v1
kind: Settings
metadata: { name: default, namespace: gw-system }
spec: { ratelimit: ${ratelimit}${more} }
---`;

const service = (options: string, routes = ''): string => `
apiVersion: gateway.vendor.io/v1
kind: VirtualService
metadata: { name: guide, namespace: gw-system }
spec:
  virtualHost:
    domains: ['*']
    options: ${options}
    routes:
${routes}
      - matchers: [{ prefix: / }]
        routeAction: { single: { upstream: { name: echo, namespace: gw-system } } }
---`;

const perMinute = (requestsPerUnit: number): string =>
  `rateLimit: { requestsPerUnit: ${requestsPerUnit}, unit: MINUTE }`;
const header = (headerName: string, descriptorKey: string): string =>
  `{ requestHeaders: { headerName: '${headerName}', descriptorKey: ${descriptorKey} } }`;

type Call = readonly [headers: Record<string, string>, status: number, body?: string];

/** The rate limits of the published guides, with their numbers. */
describe('the guides of rate limits', () => {
  const started: Protected[] = [];
  afterEach(async () => {
    for (const each of started.splice(0)) await each.close();
  });

  async function start(resources: string, metrics?: Metrics): Promise<Protected> {
    const gateway = await protect(resources, '', { now: () => NOW, ...(metrics && { metrics }) });
    started.push(gateway);
    return gateway;
  }

  async function expectStatuses(gateway: Protected, calls: readonly Call[], path = '/'): Promise<void> {
    const found: number[] = [];
    for (const [headers, , body] of calls) found.push((await gateway.ask(path, headers, body)).status);
    expect(found).to.deep.equal(calls.map(([, status]) => status));
  }

  it('a generic key with one request per minute: 200, then 429', async () => {
    const rules = `{ descriptors: [{ key: generic_key, value: per-minute, ${perMinute(1)} }] }`;
    const action = '{ genericKey: { descriptorValue: per-minute } }';
    const gateway = await start(settings(rules) + service(`{ ratelimit: { rateLimits: [{ actions: [${action}] }] } }`));
    await expectStatuses(gateway, [[{}, 200]]);
    const { status, headers, body } = await gateway.ask('/');
    expect([status, headers['x-envoy-ratelimited'], body]).to.deep.equal([429, 'true', '']);
  });

  const nested = `{ descriptors: [
    { key: type, value: Messenger, descriptors: [{ key: number, ${perMinute(1)} }] },
    { key: type, value: Whatsapp, descriptors: [{ key: number, ${perMinute(2)} }, { key: number, value: '411', ${perMinute(3)} }] }] }`;
  const byType = `{ ratelimit: { rateLimits: [{ actions: [${header('x-type', 'type')}, ${header('x-number', 'number')}] }] } }`;
  const message = (type: string, number: string) => ({ 'x-type': type, 'x-number': number });

  it('headers as a tuple: each number has its own counter, a value goes before any value', async () => {
    const gateway = await start(settings(nested) + service(byType));
    await expectStatuses(gateway, [
      [message('Messenger', '311'), 200],
      [message('Messenger', '311'), 429],
      [message('Messenger', '312'), 200],
      [message('Whatsapp', '311'), 200],
      [message('Whatsapp', '311'), 200],
      [message('Whatsapp', '311'), 429],
      ...[200, 200, 200, 429].map((status): Call => [message('Whatsapp', '411'), status]),
      [message('SMS', '1'), 200],
      [message('SMS', '1'), 200],
      [{ 'x-type': 'Messenger' }, 200],
      [{ 'x-type': 'Messenger' }, 200],
    ]);
  });

  it('the address of the client', async () => {
    const rules = `{ descriptors: [{ key: remote_address, ${perMinute(1)} }] }`;
    const options = '{ ratelimit: { rateLimits: [{ actions: [{ remoteAddress: {} }] }] } }';
    const gateway = await start(settings(rules) + service(options));
    await expectStatuses(gateway, [
      [{}, 200],
      [{ 'x-forwarded-for': '192.0.2.9' }, 429],
    ]);
  });

  it('weights: only the rules with the highest weight count', async () => {
    const rules = `{ descriptors: [
      { key: method, value: GET, ${perMinute(1)} },
      { key: type, value: gold, weight: 1, ${perMinute(3)} }] }`;
    const lists = `{ actions: [${header(':method', 'method')}] }, { actions: [${header('x-type', 'type')}] }`;
    const gateway = await start(settings(rules) + service(`{ ratelimit: { rateLimits: [${lists}] } }`));
    await expectStatuses(gateway, [
      ...[200, 200, 200, 429].map((status): Call => [{ 'x-type': 'gold' }, status]),
      // The rule with the lower weight was not even counted.
      [{}, 200],
      [{}, 429],
    ]);
  });

  it('alwaysApply: a rule with a lower weight counts too', async () => {
    const rules = `{ descriptors: [
      { key: method, value: GET, alwaysApply: true, ${perMinute(2)} },
      { key: type, value: gold, weight: 1, ${perMinute(9)} }] }`;
    const lists = `{ actions: [${header(':method', 'method')}] }, { actions: [${header('x-type', 'type')}] }`;
    const gateway = await start(settings(rules) + service(`{ ratelimit: { rateLimits: [${lists}] } }`));
    await expectStatuses(
      gateway,
      [200, 200, 429].map((status): Call => [{ 'x-type': 'gold' }, status]),
    );
  });

  it('the priority of methods: GET and POST have own limits', async () => {
    const rules = `{ descriptors: [{ key: method, value: GET, ${perMinute(2)} }, { key: method, value: POST, ${perMinute(1)} }] }`;
    const options = `{ ratelimit: { rateLimits: [{ actions: [${header(':method', 'method')}] }] } }`;
    const gateway = await start(settings(rules) + service(options));
    await expectStatuses(gateway, [
      [{}, 200],
      [{}, 200],
      [{}, 429],
      [{}, 200, 'x'],
      [{}, 429, 'x'],
    ]);
  });

  it('set style: actions in any order, and with more entries than the rule', async () => {
    const rules = `{ setDescriptors: [{ simpleDescriptors: [{ key: type }, { key: number }], ${perMinute(1)} }] }`;
    const sets = [header('x-number', 'number'), header('x-other', 'other'), header('x-type', 'type')].join(', ');
    const gateway = await start(
      settings(rules) + service(`{ ratelimit: { rateLimits: [{ setActions: [${sets}] }] } }`),
    );
    await expectStatuses(gateway, [
      [message('a', '1'), 200],
      [message('a', '1'), 429],
      [{ ...message('a', '1'), 'x-other': 'more' }, 429],
      [{ 'x-type': 'a' }, 200],
    ]);
  });

  const RAW = {
    global: `{ descriptors: [{ key: generic_key, value: count, ${perMinute(4)} }], rateLimits: [{ actions: [{ genericKey: { descriptorValue: count } }] }] }`,
    perUpstream: `{ descriptors: [{ key: destination_cluster, ${perMinute(3)} }], rateLimits: [{ actions: [{ destinationCluster: {} }] }] }`,
  };
  const config = (name: string, raw: string): string => `
apiVersion: ratelimit.vendor.io/v1alpha1
kind: RateLimitConfig
metadata: { name: ${name}, namespace: gw-system }
spec: { raw: ${raw} }
---`;
  const refs =
    '{ rateLimitConfigs: { refs: [{ name: global, namespace: gw-system }, { name: per-upstream, namespace: gw-system }] } }';

  async function startWithResources(): Promise<Protected> {
    const other = `      - matchers: [{ prefix: /keys }]
        routeAction: { single: { upstream: { name: other, namespace: gw-system } } }`;
    const configs = config('global', RAW.global) + config('per-upstream', RAW.perUpstream);
    // Nothing listens there: what matters is whether the limits let the request through.
    return start(`${configs}${upstream(1, 'other')}---${service(refs, other)}`);
  }

  it('resources: the fourth call to one upstream is rejected', async () => {
    const gateway = await startWithResources();
    await expectStatuses(
      gateway,
      [200, 200, 200, 429].map((status): Call => [{}, status]),
    );
  });

  it('resources: after two calls, the third to another upstream is rejected', async () => {
    const gateway = await startWithResources();
    await expectStatuses(
      gateway,
      [200, 200].map((status): Call => [{}, status]),
    );
    const statuses: boolean[] = [];
    for (let i = 0; i < 3; i++) statuses.push((await gateway.ask('/keys')).status === 429);
    expect(statuses).to.deep.equal([false, false, true]);
  });

  it('resources: the lines of /rlconfig', () => {
    const lines = (resource: string, raw: string) =>
      ruleLines(compileRules(parse(raw) as object, { domain: 'vendor.io', resource }));
    expect(lines('gw-system.global', RAW.global)).to.deep.equal([
      'vendor.io.generic_key_gw-system.global.generic_key_count: unit=MINUTE requests_per_unit=4 weight=0 always_apply=false',
    ]);
    expect(lines('gw-system.per-upstream', RAW.perUpstream)).to.deep.equal([
      'vendor.io.generic_key_gw-system.per-upstream.destination_cluster: unit=MINUTE requests_per_unit=3 weight=0 always_apply=false',
    ]);
  });

  it('metrics: over_limit is labelled with the descriptor', async () => {
    const metrics = createMetrics();
    const rules = `{ descriptors: [{ key: generic_key, value: per-minute, ${perMinute(1)} }] }`;
    const options = '{ ratelimit: { rateLimits: [{ actions: [{ genericKey: { descriptorValue: per-minute } }] }] } }';
    const gateway = await start(settings(rules) + service(options), metrics);
    await expectStatuses(gateway, [
      [{}, 200],
      [{}, 429],
    ]);
    const descriptor = 'custom.generic_key_per-minute';
    const { value } = metrics.counter({
      path: `ratelimit.vendor.io.over_limit.${descriptor}`,
      metric: 'ratelimit_vendor_io_over_limit',
      labels: { descriptor },
    });
    expect(value).to.equal(1);
  });

  it('access logs: the third call has 429, RL, and no upstream', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'rate-limit-log-'));
    const path = join(folder, 'access.log');
    const format =
      '{ code: "%RESPONSE_CODE%", flags: "%RESPONSE_FLAGS%", cluster: "to %UPSTREAM_HOST%", details: "%RESPONSE_CODE_DETAILS%" }';
    const listener = `
apiVersion: gateway.vendor.io/v1
kind: Gateway
metadata: { name: gateway-proxy, namespace: gw-system }
spec:
  bindPort: 8080
  httpGateway: {}
  options: { accessLoggingService: { accessLog: [{ fileSink: { path: ${path}, jsonFormat: ${format} } }] } }
---`;
    const rules = `{ descriptors: [{ key: generic_key, value: two, ${perMinute(2)} }] }`;
    const options = '{ ratelimit: { rateLimits: [{ actions: [{ genericKey: { descriptorValue: two } }] }] } }';
    const gateway = await start(listener + settings(rules) + service(options));
    await expectStatuses(
      gateway,
      [200, 200, 429].map((status): Call => [{}, status]),
    );
    // Closing the gateway writes the rest of the log.
    await started.pop()!.close();
    const lines = readFileSync(path, 'utf8').trimEnd().split('\n');
    rmSync(folder, { recursive: true });
    expect(lines).to.have.length(3);
    expect(JSON.parse(lines[2]!)).to.deep.equal({
      code: 429,
      flags: 'RL',
      cluster: 'to -',
      details: 'request_rate_limited',
    });
  });

  it('JWT, RBAC and a limit: 401 with the key of another issuer, 403 by the policy, then 429', async () => {
    const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
    const token = (key = privateKey, claims: object = {}) => {
      const input = `${part({ alg: 'RS256' })}.${part({ iss: 'https://id', ...claims })}`;
      return { authorization: `Bearer ${input}.${createSign('sha256').update(input).sign(key, 'base64url')}` };
    };
    const pem = publicKey.export({ type: 'spki', format: 'pem' }).toString();
    const options = JSON.stringify({
      jwtStaged: { afterExtAuth: { providers: { main: { issuer: 'https://id', jwks: { local: { key: pem } } } } } },
      rbac: { policies: { all: { principals: [{ jwtPrincipal: { claims: { role: 'user' } } }] } } },
      ratelimit: {
        rateLimits: [
          {
            actions: [
              {
                metadata: {
                  descriptorKey: 'role',
                  metadataKey: { key: 'envoy.filters.http.jwt_authn', path: [{ key: 'main' }, { key: 'role' }] },
                },
              },
            ],
          },
        ],
      },
    });
    const gateway = await start(
      settings(`{ descriptors: [{ key: role, value: user, ${perMinute(1)} }] }`) + service(options),
    );
    const foreign = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
    const { status, body } = await gateway.ask('/', token(foreign, { role: 'user' }));
    expect([status, body]).to.deep.equal([401, 'Jwt verification fails']);
    await expectStatuses(gateway, [
      [token(privateKey, { role: 'guest' }), 403],
      [token(privateKey, { role: 'user' }), 200],
      [token(privateKey, { role: 'user' }), 429],
    ]);
  });

  it('local limits: 200 with x-ratelimit-*, then 429; a route has its own bucket', async () => {
    const listener = `
apiVersion: gateway.vendor.io/v1
kind: Gateway
metadata: { name: gateway-proxy, namespace: gw-system }
spec:
  bindPort: 8080
  httpGateway:
    options:
      httpLocalRatelimit:
        defaultLimit: { maxTokens: 1, tokensPerFill: 1, fillInterval: 60s }
        enableXRatelimitHeaders: true
---`;
    const search = `      - matchers: [{ prefix: /search }]
        options: { ratelimit: { localRatelimit: { maxTokens: 2, fillInterval: 60s } } }
        routeAction: { single: { upstream: { name: echo, namespace: gw-system } } }`;
    const gateway = await start(listener + service('{}', search));
    const shown = async (path: string): Promise<unknown[]> => {
      const { status, headers, body } = await gateway.ask(path);
      return [status, headers['x-ratelimit-limit'], headers['x-ratelimit-remaining'], status === 429 ? body : ''];
    };
    expect([await shown('/'), await shown('/')]).to.deep.equal([
      [200, '1', '0', ''],
      [429, '1', '0', 'local_rate_limited'],
    ]);
    expect([await shown('/search'), await shown('/search'), await shown('/search')]).to.deep.equal([
      [200, '2', '1', ''],
      [200, '2', '0', ''],
      [429, '2', '0', 'local_rate_limited'],
    ]);
  });
});
