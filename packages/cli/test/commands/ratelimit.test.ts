import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadDirectory } from '@edge-gateway/core';
import { expect } from 'chai';
import { answer } from '../support/answering-server.ts';
import { call } from '../support/captured-io.ts';
import { expectFixture } from '../support/fixtures.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const RESOURCES = `apiVersion: settings.gw.vendor.io/v1
kind: Settings
metadata: { name: default, namespace: gw-system }
spec:
  ratelimit:
    descriptors:
      - key: remote_address
        rateLimit: { requestsPerUnit: 100, unit: MINUTE, algorithm: TOKEN_BUCKET, burst: 20 }
      - { key: api-key, weight: 1, rateLimit: { requestsPerUnit: 10, unit: SECOND } }
      - { key: plan, value: gold, alwaysApply: true, shadow: true, rateLimit: { requestsPerUnit: 5, unit: HOUR } }
      - { key: who, rateLimit: { requestsPerUnit: 2, unit: DAY } }
---
apiVersion: gw.vendor.io/v1
kind: Upstream
metadata: { name: echo }
spec: { static: { hosts: [{ addr: 127.0.0.1, port: 8081 }] } }
---
apiVersion: ratelimit.vendor.io/v1alpha1
kind: RateLimitConfig
metadata: { name: posts, namespace: gw-system }
spec:
  raw:
    setDescriptors:
      - simpleDescriptors: [{ key: method, value: POST }]
        rateLimit: { requestsPerUnit: 3, unit: MINUTE, algorithm: SLIDING_WINDOW }
    rateLimits:
      - setActions: [{ requestHeaders: { headerName: ':method', descriptorKey: method } }]
---
apiVersion: gateway.vendor.io/v1
kind: VirtualService
metadata: { name: shop }
spec:
  virtualHost:
    domains: [shop.example]
    options:
      ratelimitBasic:
        anonymousLimits: { requestsPerUnit: 60, unit: MINUTE }
      rateLimitEarlyConfigs: { refs: [{ name: posts, namespace: gw-system }] }
      ratelimit:
        concurrency: [{ actions: [{ remoteAddress: {} }], maxInFlight: 4 }]
        rateLimits:
          - actions: [{ remoteAddress: {} }]
          - actions: [{ requestHeaders: { headerName: X-Api-Key, descriptorKey: api-key } }]
            cost: { header: { headerName: x-cost } }
          - actions:
              - metadata:
                  descriptorKey: plan
                  metadataKey: { key: envoy.filters.http.jwt_authn, path: [{ key: main }, { key: plan }] }
          - actions: [{ headerValueMatch: { descriptorValue: beta, headers: [{ name: x-beta, presentMatch: true }] } }]
          - actions: [{ requestHeaders: { headerName: x-user-id, descriptorKey: who } }]
    routes:
      - name: secure
        matchers: [{ prefix: /secure }]
        routeAction: { single: { upstream: { name: echo } } }
        options:
          jwtProvidersStaged:
            afterExtAuth:
              providers:
                main:
                  issuer: https://id.example
                  jwks: { remote: { url: https://id.example/keys, upstreamRef: { name: echo, namespace: gw-system } } }
              validationPolicy: REQUIRE_VALID
      - matchers: [{ prefix: / }]
        routeAction: { single: { upstream: { name: echo } } }
---
apiVersion: gateway.vendor.io/v1
kind: VirtualService
metadata: { name: open }
spec:
  virtualHost:
    domains: [open.example]
    routes:
      - matchers: [{ prefix: /found }]
        routeAction: { single: { upstream: { name: echo } } }
---
apiVersion: ratelimit.vendor.io/v1alpha1
kind: RateLimitConfig
metadata: { name: broken, namespace: gw-system }
spec: { raw: { descriptors: [{ key: '' }] } }
`;

describe('ratelimit explain', () => {
  let cwd: string;
  before(() => {
    cwd = temporaryDirectory();
    writeFileSync(join(cwd, 'all.yaml'), RESOURCES);
  });
  const explain = (...argv: string[]) => call(['ratelimit', 'explain', ...argv, '--config', '.'], { cwd });

  it('shows descriptors, rules and counters of both stages, as in ratelimit-explain.txt', async () => {
    const headers = ['-H', 'x-api-key: hunter2', '-H', 'x-cost: 7'];
    const { stdout } = await explain(
      'POST',
      'http://shop.example/a?token=x',
      '--client-address',
      '192.0.2.7',
      ...headers,
    );
    expectFixture('ratelimit-explain.txt', stdout);
    expect(stdout).not.to.contain('hunter2');
  });

  it('evaluates claims and the user of a protected route', async () => {
    const url = 'http://shop.example/secure';
    const without = await explain('GET', url);
    expect(without.stdout).to.contain('After authentication\n  not reached: the response is 401 (access denied)\n');
    const { stdout } = await explain('GET', url, '--claims', '{"plan":"gold"}', '--user', 'bob', '-H', 'x-beta: 1');
    for (const line of [
      'descriptor of basic is dropped: there is no limit for users',
      'header x-api-key is absent',
      'descriptor of custom: header_match=beta',
      'rule custom.plan_gold: 5 per HOUR, always applies, only counts (shadow)',
      'counter custom||who|bob',
    ])
      expect(stdout).to.contain(line);
  });

  it('does not let a header choose the user', async () => {
    const { stdout } = await explain('GET', 'http://shop.example/', '-H', 'x-user-id: bob');
    expect(stdout).not.to.contain('bob');
    expect(stdout).to.contain('header x-user-id is absent');
  });

  it('says that a request is not limited, or has no route', async () => {
    expect((await explain('GET', 'http://open.example/found')).stdout).to.contain(
      'Result\n  the request is not limited',
    );
    expect((await explain('GET', 'http://open.example/lost')).stdout).to.contain('Route\n  no route matches');
    expect((await explain('GET', 'http://lost.example/')).stdout).to.contain('no virtual host has this domain');
  });

  it('returns JSON and YAML', async () => {
    const json = JSON.parse((await explain('POST', 'http://shop.example/', '-o', 'json')).stdout) as {
      route: string;
      stages: { stage: string; rules: { rule: string; applies: boolean }[] }[];
    };
    expect(json.route).to.equal('gw-system.shop-route-1');
    expect(json.stages.map(({ stage }) => stage)).to.deep.equal(['rateLimitEarly', 'rateLimit']);
    expect(json.stages[0]!.rules).to.deep.include.members([
      {
        rule: 'vendor.io.generic_key_gw-system.posts.generic_key_vendor.setDescriptor.uniqueValue.method_POST',
        limit: { requests: 3, unit: 'MINUTE', unitMs: 60_000, algorithm: 'SLIDING_WINDOW', burst: 3 },
        weight: 0,
        alwaysApply: false,
        isShadow: false,
        cost: 1,
        applies: true,
        counter: 'vendor.io|gw-system.posts|*|generic_key=vendor.setDescriptor.uniqueValue|method=POST',
      },
    ]);
    expect((await explain('GET', 'http://open.example/found', '-o', 'yaml')).stdout).to.match(
      /^request:\n  method: GET\n/,
    );
  });

  it('names the RateLimitConfig for which a virtual service is not served', async () => {
    const dir = temporaryDirectory();
    writeFileSync(join(dir, 'all.yaml'), RESOURCES.replace('refs: [{ name: posts', 'refs: [{ name: broken'));
    const { stdout, code } = await call(['ratelimit', 'explain', 'GET', 'http://shop.example/', '-c', dir], { cwd });
    expect(code).to.equal(1);
    expect(stdout.indexOf('Rejected resources')).to.be.below(stdout.indexOf('no virtual host has this domain'));
    expect(stdout).to.match(
      /Rejected resources\n {2}VirtualService gw-system\/shop: .*RateLimitConfig gw-system\.broken is rejected/,
    );
  });

  it('names a rejected RateLimitConfig whose last good version is served', async () => {
    const { snapshots } = await loadDirectory(cwd);
    const metadata = { name: 'posts', namespace: 'gw-system' };
    const status = { state: 'REJECTED', message: 'in short' };
    const problem = {
      kind: 'RateLimitConfig',
      ...metadata,
      severity: 'error',
      path: 'spec.raw',
      message: 'bad field x',
    };
    const server = await answer({
      '/snapshots/xds': { data: { 'gw-system~gateway-proxy': snapshots.get('gateway-proxy') } },
      '/snapshots/input': { data: [{ apiVersion: 'v1', kind: 'RateLimitConfig', metadata, spec: {}, status }] },
      '/problems': { problems: [problem] },
    });
    const ask = (...argv: string[]) => call([...argv, '--server', server.url], { cwd });
    const limits = await ask('ratelimit', 'explain', 'GET', 'http://shop.example/');
    const request = await ask('explain', 'GET', 'http://shop.example/');
    await server.close();
    const line = 'RateLimitConfig gw-system/posts: its last good version is served: spec.raw: bad field x';
    expect(limits.stdout).to.contain(line);
    expect(request.stdout).to.contain(line);
  });

  for (const [what, argv, message] of [
    ['an invalid address', ['--client-address', 'here'], "--client-address must be an IP address, not 'here'"],
    ['claims that are no object', ['--claims', '[1]'], '--claims must be a JSON object'],
    ['a header without a name', ['-H', 'x'], "invalid header 'x': write 'name: value'"],
    ['an unknown proxy', ['--proxy', 'lost'], 'proxy lost is not served'],
  ] as const) {
    it(`rejects ${what}`, async () => {
      const { stderr, code } = await explain('GET', 'http://shop.example/', ...argv);
      expect(stderr).to.contain(message);
      expect(code).to.be.greaterThan(0);
    });
  }
});
