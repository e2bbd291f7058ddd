import { readFileSync, writeFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { createDirectory, type ResourceDirectory } from '../support/directory.ts';
import { call } from '../support/captured-io.ts';

const RESOURCES = `apiVersion: gw.vendor.io/v1
kind: Upstream
metadata: { name: cart }
spec: { static: { hosts: [{ addr: 127.0.0.1, port: 8081 }] } }
---
apiVersion: gw.vendor.io/v1
kind: Upstream
metadata: { name: cart-v2 }
spec: { static: { hosts: [{ addr: 127.0.0.1, port: 8082 }] } }
---
apiVersion: gw.vendor.io/v1
kind: Upstream
metadata: { name: labeled }
spec:
  static:
    hosts:
      - { addr: 127.0.0.1, port: 8083, metadata: { envoy.lb: { version: v1 } } }
      - { addr: 127.0.0.1, port: 8084, metadata: { envoy.lb: { version: v2 } } }
    subsetSpec: { selectors: [{ keys: [version] }] }
---
apiVersion: ratelimit.vendor.io/v1alpha1
kind: RateLimitConfig
metadata: { name: each }
spec:
  raw:
    descriptors: [{ key: generic_key, value: all, rateLimit: { requestsPerUnit: 5, unit: SECOND } }]
    rateLimits: [{ actions: [{ genericKey: { descriptorValue: all } }] }]
---
apiVersion: enterprise.gw.vendor.io/v1
kind: AuthConfig
metadata: { name: keys }
spec: { configs: [{ apiKeyAuth: { labelSelector: { team: shop } } }] }
---
apiVersion: v1
kind: Secret
metadata: { name: key, labels: { team: shop } }
type: extauth.vendor.io/apikey
stringData: { api-key: hush, plan: gold-plated }
---
apiVersion: enterprise.gw.vendor.io/v1
kind: AuthConfig
metadata: { name: staff }
spec:
  configs:
    - basicAuth:
        realm: staff
        apr: { users: { ann: { salt: TYiryv0/, hashedPassword: 8BvzLUO9IfGPGGsPnAgSu1 } } }
---
apiVersion: enterprise.gw.vendor.io/v1
kind: AuthConfig
metadata: { name: either }
spec:
  booleanExpr: key || token
  configs:
    - name: key
      apiKeyAuth: { headerName: x-key, headersFromMetadataEntry: { x-plan: { name: plan } }, labelSelector: { team: shop } }
    - name: token
      oauth2: { accessTokenValidation: { jwt: { remoteJwks: { url: https://id.example/keys } } } }
---
apiVersion: enterprise.gw.vendor.io/v1
kind: AuthConfig
metadata: { name: elsewhere }
spec: { configs: [{ apiKeyAuth: { labelSelector: { team: other } } }] }
---
apiVersion: gateway.vendor.io/v1
kind: VirtualService
metadata: { name: shop }
spec:
  virtualHost:
    domains: [shop.example]
    options:
      jwtStaged:
        afterExtAuth:
          allowMissingOrFailedJwt: true
          providers:
            main: { jwks: { local: { key: '{"keys":[{"kty":"oct","kid":"a","alg":"HS256","k":"c2VjcmV0LXNlY3JldC1zZWNyZXQtc2VjcmV0LXNlY3JldA"}]}' } } }
    routes:
      - name: old
        matchers: [{ exact: /old }]
        redirectAction: { hostRedirect: new.example, httpsRedirect: true, responseCode: FOUND }
      - name: health
        matchers: [{ exact: /health }]
        directResponseAction: { status: 200, body: fine }
      - name: split
        matchers: [{ prefix: /split }]
        routeAction:
          multi:
            destinations:
              - { weight: 9, destination: { upstream: { name: cart } } }
              - { weight: 1, destination: { upstream: { name: cart-v2 } } }
      - name: labeled
        matchers: [{ prefix: /labeled }]
        routeAction:
          multi:
            destinations:
              - { weight: 1, destination: { upstream: { name: labeled }, subset: { values: { version: v1 } } } }
              - { weight: 3, destination: { upstream: { name: labeled }, subset: { values: { version: v2 } } } }
      - name: admin
        matchers: [{ prefix: /admin }]
        routeAction: { single: { upstream: { name: cart } } }
        options:
          rbac:
            policies:
              admins:
                principals: [{ jwtPrincipal: { claims: { role: admin } } }]
                permissions: { methods: [GET] }
      - name: keyed
        matchers: [{ prefix: /keyed }]
        routeAction: { single: { upstream: { name: cart } } }
        options:
          extauth: { configRef: { name: keys, namespace: gw-system } }
          rateLimitConfigs: { refs: [{ name: each, namespace: gw-system }] }
      - name: staff
        matchers: [{ prefix: /staff }]
        routeAction: { single: { upstream: { name: cart } } }
        options: { extauth: { configRef: { name: staff, namespace: gw-system } } }
      - name: either
        matchers: [{ prefix: /either }]
        routeAction: { single: { upstream: { name: cart } } }
        options: { extauth: { configRef: { name: either, namespace: gw-system } } }
      - name: elsewhere
        matchers: [{ prefix: /elsewhere }]
        routeAction: { single: { upstream: { name: cart } } }
        options: { extauth: { configRef: { name: elsewhere, namespace: gw-system } } }
      - name: cart
        matchers: [{ prefix: /cart }]
        routeAction: { single: { upstream: { name: cart } } }
        options:
          prefixRewrite: /v1
          timeout: 3s
          headerManipulation: { requestHeadersToAdd: [{ header: { key: x-team, value: cart } }, { header: { key: x-chef, value: Mikołaj } }] }
          rateLimitConfigs: { refs: [{ name: each, namespace: gw-system }] }
`;

/** Tests that pass, each with everything that can be expected of its request. */
const GOOD = `config: resources
tests:
  - name: the cart
    request: { url: http://shop.example/cart/1, headers: { x-debug: 1 } }
    expect:
      listener: listener-::-8080
      virtualService: shop
      domain: shop.example
      route: cart
      upstream: cart
      method: GET
      url: http://127.0.0.1:8081/v1/1
      timeout: 3s
      headers: { x-team: cart, x-chef: Mikołaj, x-debug: '1', x-none: null, x-request-id: { matches: '.+' } }
      jwt: allow
      rbac: none
      extauth: null
      rateLimits: [vendor.io.generic_key_gw-system.each.generic_key_all]
  - name: a redirect
    request: { url: http://shop.example/old }
    expect: { status: 302, location: https://new.example/old, upstream: null, rateLimits: [] }
  - name: a response
    request: { url: http://shop.example/health }
    expect: { status: 200, body: { matches: 'fi.e' }, virtualService: gw-system/shop }
  - name: shares
    request: { url: http://shop.example/split, method: POST }
    expect: { upstream: { gw-system/cart: 90, cart-v2: 10 }, method: POST }
  - name: subsets
    request: { url: http://shop.example/labeled }
    expect: { upstream: { labeled: 100 } }
  - name: an admin
    request: { url: http://shop.example/admin, claims: { role: admin } }
    expect: { rbac: { policy: admins }, upstream: gw-system/cart }
  - name: another user
    request: { url: http://shop.example/admin, claims: { role: user } }
    expect: { rbac: deny, status: 403, body: 'RBAC: access denied', jwt: allow }
  - name: a key
    request: { url: http://shop.example/keyed, headers: { api-key: hush } }
    expect: { extauth: keys, upstream: cart, headers: { x-user-id: key } }
  - name: another host
    request: { url: http://other.example/ }
    expect: { virtualService: null, route: null, status: 404 }
`;

describe('test', () => {
  let directory: ResourceDirectory;
  beforeEach(() => {
    directory = createDirectory();
    directory.write('shop.yaml', RESOURCES);
  });
  afterEach(() => directory.remove());
  const write = (text: string, name = 'shop.test.yaml') => writeFileSync(join(directory.cwd, name), text);
  const test = (...argv: string[]) => call(['test', ...argv], { cwd: directory.cwd });
  /** The mismatches of one test with these expectations. */
  async function mismatches(request: string, expected: string): Promise<string[]> {
    write(`config: resources\ntests: [{ name: it, request: ${request}, expect: ${expected} }]\n`);
    const { code, stdout, stderr } = await test('shop.test.yaml', '-o', 'json');
    expect({ code, stderr }).to.deep.equal({ code: 1, stderr: '' });
    const { tests } = JSON.parse(stdout) as {
      tests: { mismatches: { field: string; expected: string; found: string }[] }[];
    };
    return tests[0]!.mismatches.map((one) => `${one.field}: ${one.expected} | ${one.found}`);
  }

  it('passes if every expectation is met, and sends nothing', async () => {
    write(GOOD);
    const fetch = () => Promise.reject(new Error('the network is used'));
    expect(await call(['test', 'shop.test.yaml'], { cwd: directory.cwd, fetch })).to.deep.equal({
      code: 0,
      stderr: '',
      stdout: `shop.test.yaml
  ✓ the cart
  ✓ a redirect
  ✓ a response
  ✓ shares
  ✓ subsets
  ✓ an admin
  ✓ another user
  ✓ a key
  ✓ another host

9 tests, 9 passed, 0 failed
`,
    });
  });

  const CART = '{ url: http://shop.example/cart }';
  const HEALTH = '{ url: http://shop.example/health }';
  const ADMIN = '{ url: http://shop.example/admin, claims: { role: user } }';
  for (const [request, expected, found] of [
    [CART, '{ listener: other }', 'listener: other | listener-::-8080'],
    [CART, '{ virtualService: default/shop }', 'virtualService: default/shop | gw-system/shop'],
    [CART, "{ domain: '*' }", 'domain: * | shop.example'],
    [CART, '{ route: old }', 'route: old | gw-system.shop-route-9-cart'],
    [CART, '{ route: null }', 'route: none | gw-system.shop-route-9-cart'],
    [CART, '{ status: 200 }', 'status: 200 | forwarded to gw-system/cart'],
    [HEALTH, '{ status: 404 }', 'status: 404 | 200 (direct response)'],
    [
      '{ url: http://shop.example:8080/health }',
      '{ status: 200 }',
      'status: 200 | 404 (no virtual host has this domain): the port is part of the host, and shop.example:8080 is not among the domains (without the port it would match)',
    ],
    [HEALTH, '{ body: bad }', 'body: bad | fine'],
    [HEALTH, '{ location: /x }', 'location: /x | none'],
    [HEALTH, '{ upstream: cart }', 'upstream: cart | 200 (direct response)'],
    [HEALTH, '{ url: http://x/ }', 'url: a forwarded request | 200 (direct response)'],
    [HEALTH, '{ headers: { a: b } }', 'header a: a forwarded request | 200 (direct response)'],
    [CART, '{ upstream: cart-v2 }', 'upstream: cart-v2 | gw-system/cart'],
    ['{ url: http://shop.example/split }', '{ upstream: cart }', 'upstream: cart | gw-system/cart, gw-system/cart-v2'],
    [
      '{ url: http://shop.example/split }',
      '{ upstream: { cart: 50, cart-v2: 50 } }',
      'upstream: cart 50 %, cart-v2 50 % | cart 90 %, cart-v2 10 %',
    ],
    [
      '{ url: http://shop.example/labeled }',
      '{ upstream: other }',
      'upstream: other | gw-system/labeled (subset version=v1), gw-system/labeled (subset version=v2)',
    ],
    [
      '{ url: http://shop.example/labeled }',
      '{ upstream: { labeled: 90 } }',
      'upstream: labeled 90 % | labeled (subset version=v1) 25 %, labeled (subset version=v2) 75 %',
    ],
    [CART, "{ url: { matches: 'https:.*' } }", 'url: a match of https:.* | http://127.0.0.1:8081/v1'],
    [CART, '{ timeout: 0s }', 'timeout: none | 3s'],
    [CART, '{ method: POST }', 'method: POST | GET'],
    [CART, '{ headers: { x-team: other } }', 'header x-team: other | cart'],
    [CART, '{ headers: { x-chef: José } }', 'header x-chef: José | Mikołaj'],
    [CART, '{ headers: { x-team: null } }', 'header x-team: none | cart'],
    [CART, '{ jwt: deny }', 'jwt: deny | allow'],
    [CART, '{ rbac: allow }', 'rbac: allow | none'],
    [CART, '{ extauth: keys }', 'extauth: keys | none'],
    [CART, '{ rateLimits: [] }', 'rateLimits: none | vendor.io.generic_key_gw-system.each.generic_key_all'],
  ] as const)
    it(`reports ${expected} as not met`, async () => {
      expect(await mismatches(request, expected)).to.deep.equal([found]);
    });

  it('names the reason of a denial', async () => {
    expect(await mismatches(ADMIN, '{ rbac: { policy: admins } }')).to.have.length(1);
    const [line] = await mismatches(ADMIN, '{ rbac: allow }');
    expect(line).to.match(/^rbac: allow \| deny \(.*role.*\)$/);
  });

  describe('external auth', () => {
    const ann = (password: string) => `authorization: Basic ${btoa(`ann:${password}`)}`;
    const asking = (path: string, headers = '', more = '') =>
      `{ url: http://shop.example/${path}, headers: { ${headers} }${more} }`;
    const passing = async (request: string, expected: string) => {
      write(`config: resources\ntests: [{ name: it, request: ${request}, expect: ${expected} }]\n`);
      return test('shop.test.yaml');
    };

    for (const [title, request, expected] of [
      ['no key', asking('keyed'), "{ status: 401, body: '', extauth: keys }"],
      ['a wrong key', asking('keyed', 'api-key: guessed'), '{ status: 401, upstream: null }'],
      ['a key', asking('keyed', 'api-key: hush, x-user-id: forged'), '{ upstream: cart, headers: { x-user-id: key } }'],
      ['no password', asking('staff'), '{ status: 401 }'],
      ['a wrong password', asking('staff', ann('guessed')), '{ status: 401 }'],
      ['a password', asking('staff', ann('password')), '{ upstream: cart, headers: { x-user-id: ann } }'],
      [
        'a key beside a token that is not needed',
        asking('either', 'x-key: hush, x-plan: forged'),
        '{ upstream: cart, headers: { x-plan: gold-plated } }',
      ],
    ] as const)
      it(`evaluates ${title}`, async () => {
        const { code, stdout, stderr } = await passing(request, expected);
        expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
        expect(stdout).to.equal('shop.test.yaml\n  ✓ it\n\n1 test, 1 passed, 0 failed\n');
      });

    for (const [title, request, reason] of [
      [
        'a token',
        asking('either', 'x-key: guessed'),
        'only apiKeyAuth and basicAuth are evaluated, not oauth2.accessTokenValidation',
      ],
      ['keys in other Secrets', asking('elsewhere'), 'the resources contain no Secret with an API key'],
    ] as const)
      it(`says that ${title} is not evaluated`, async () => {
        const { code, stdout } = await passing(request, '{ upstream: cart }');
        expect({ code, stdout }).to.deep.equal({
          code: 0,
          stdout: `shop.test.yaml
  ✓ it
      external auth is assumed to allow the request (not evaluated: ${reason})

1 test, 1 passed, 0 failed
`,
        });
        for (const [format, note] of [
          ['junit', '<system-out>external auth is assumed'],
          ['tap', '  # external auth is assumed'],
          ['json', '"externalAuthNotEvaluated": '],
        ] as const)
          expect((await test('shop.test.yaml', '-o', format)).stdout)
            .to.contain(note)
            .and.contain(reason);
      });

    it('takes the user of a test for authenticated', async () => {
      expect((await passing(asking('staff', '', ', user: ann'), '{ upstream: cart }')).code).to.equal(0);
    });

    it('names the reason of a denial, and counts no request behind it', async () => {
      const reason = '401 (external auth rejects the request: unknown key)';
      const wrong = asking('keyed', 'api-key: guessed');
      expect(await mismatches(wrong, '{ upstream: cart }')).to.deep.equal([`upstream: cart | ${reason}`]);
      expect(await mismatches(wrong, '{ rateLimits: [a] }')).to.deep.equal(['rateLimits: a | none']);
    });

    it('prints no value that a key grants', async () => {
      expect(await mismatches(asking('either', 'x-key: hush'), '{ headers: { x-plan: silver } }')).to.deep.equal([
        'header x-plan: silver | <redacted>',
      ]);
    });
  });

  it('prints no secret value', async () => {
    const request = '{ url: http://shop.example/cart, headers: { authorization: Bearer hush-hush } }';
    expect(await mismatches(request, '{ headers: { authorization: other-secret } }')).to.deep.equal([
      'header authorization: <redacted> | <redacted>',
    ]);
  });

  describe('formats', () => {
    beforeEach(() => {
      write(
        `config: resources
tests:
  - name: passes
    request: ${CART}
    expect: { upstream: cart }
  - name: fails & <shows> "it" # twice
    request: ${HEALTH}
    expect: { status: 404, body: '<b>' }
`.replace(' # twice', " '#' twice"),
      );
    });

    it('prints each mismatch and the place of its test', async () => {
      const { code, stdout } = await test('shop.test.yaml');
      expect(code).to.equal(1);
      expect(stdout).to.equal(`shop.test.yaml
  ✓ passes
  ✗ fails & <shows> "it" '#' twice  (shop.test.yaml:6)
      status: expected 404, found 200 (direct response)
      body: expected <b>, found fine

2 tests, 1 passed, 1 failed
`);
    });

    it('prints JUnit', async () => {
      const { code, stdout } = await test('shop.test.yaml', '-o', 'junit');
      expect(code).to.equal(1);
      expect(stdout.replaceAll(/ time="[\d.]+"/g, '')).to.equal(`<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="gatewayctl test" tests="2" failures="1" errors="0">
  <testsuite name="shop.test.yaml" tests="2" failures="1" errors="0">
    <testcase classname="shop.test.yaml" name="passes" file="shop.test.yaml" line="3"/>
    <testcase classname="shop.test.yaml" name="fails &amp; &lt;shows&gt; &quot;it&quot; '#' twice" file="shop.test.yaml" line="6">
      <failure message="status: expected 404, found 200 (direct response)">status: expected 404, found 200 (direct response)&#10;body: expected &lt;b&gt;, found fine</failure>
    </testcase>
  </testsuite>
</testsuites>
`);
    });

    it('prints TAP', async () => {
      const { code, stdout } = await test('shop.test.yaml', '-o', 'tap');
      expect(code).to.equal(1);
      expect(stdout).to.equal(`TAP version 14
1..2
ok 1 - shop.test.yaml: passes
not ok 2 - shop.test.yaml: fails & <shows> "it" '\\#' twice
  ---
  at: "shop.test.yaml:6"
  mismatches: [{"field":"status","expected":"404","found":"200 (direct response)"},{"field":"body","expected":"<b>","found":"fine"}]
  ...
`);
    });
  });

  it('runs the files of a directory, of one directory of resources, and only tests of a name', async () => {
    mkdirSync(join(directory.cwd, 'tests'));
    const one = (name: string) => `tests: [{ name: ${name}, request: ${CART}, expect: { upstream: cart } }]\n`;
    for (const name of ['b', 'a']) write(one(name), `tests/${name}.test.yaml`);
    write('no tests', 'tests/other.yaml');
    const { code, stdout } = await test('tests', '-c', 'resources');
    expect({ code, stdout }).to.deep.equal({
      code: 0,
      stdout: 'tests/a.test.yaml\n  ✓ a\n\ntests/b.test.yaml\n  ✓ b\n\n2 tests, 2 passed, 0 failed\n',
    });
    expect((await test('tests', '-c', 'resources', '--name', 'a')).stdout).to.contain('1 test, 1 passed');
    expect(await test('tests', '-c', 'resources', '--name', 'c')).to.include({
      code: 1,
      stderr: 'Error: no test has a name that contains "c"\n',
    });
  });

  it('warns that the directory has errors', async () => {
    directory.write(
      'bad.yaml',
      RESOURCES.split('---\n')[0]!.replace('name: cart', 'name: bad').replace('static', 'sttic'),
    );
    write(GOOD);
    const { code, stderr } = await test('shop.test.yaml');
    expect({ code, stderr }).to.deep.equal({
      code: 0,
      stderr: 'Warning: resources has errors (1); see gatewayctl validate resources\n',
    });
  });

  const one = (request: string, expected: string) => `tests: [{ name: a, request: ${request}, expect: ${expected} }]`;
  for (const [what, text, message] of [
    ['an unknown key', `config: resources\ntest: []\n`, 'shop.test.yaml:2:1  unknown key test (did you mean "tests"?)'],
    ['no test', 'config: resources\ntests: []\n', 'shop.test.yaml:2:1  tests must be a list of at least one test'],
    ['a list', '- a\n', 'expected an object with apiVersion, kind, metadata and spec, got a list'],
    ['what is not YAML', 'tests: [', 'shop.test.yaml:1:'],
    ['two documents', 'tests: []\n---\ntests: []\n', 'shop.test.yaml: write all tests of a file in one document'],
    ['a test that is empty', 'tests: [{}]', 'a test has a name, a request and expect'],
    [
      'a name that is a number',
      'tests: [{ name: 1, request: { url: http://a/ }, expect: { status: 200 } }]',
      'name must be a text, not 1',
    ],
    [
      'a name that is used twice',
      `${one(CART, '{ status: 200 }').slice(0, -1)}, { name: a, request: ${CART}, expect: { status: 200 } }]`,
      'the name "a" belongs to several tests',
    ],
    ['no URL', one('{ method: GET }', '{ status: 200 }'), 'url must be a text, not missing'],
    ['a URL without host', one('{ url: /cart }', '{ status: 200 }'), 'url must be an absolute URL'],
    [
      'an unknown request key',
      one('{ url: http://a/, header: {} }', '{ status: 200 }'),
      'unknown key header (did you mean "headers"?)',
    ],
    [
      'an invalid header name',
      one('{ url: http://a/, headers: { "a b": c } }', '{ status: 200 }'),
      'invalid header name "a b"',
    ],
    [
      'a header that is an object',
      one('{ url: http://a/, headers: { a: { b: c } } }', '{ status: 200 }'),
      'a must be a text, not {"b":"c"}',
    ],
    [
      'claims that are a text',
      one('{ url: http://a/, claims: a }', '{ status: 200 }'),
      'claims must be an object, not "a"',
    ],
    ['no expectation', one(CART, '{}'), 'expect must have at least one expectation'],
    ['an unknown expectation', one(CART, '{ statsu: 200 }'), 'unknown key statsu (did you mean "status"?)'],
    ['a status that is a text', one(CART, '{ status: ok }'), 'status must be a number from 100 to 999, not "ok"'],
    ['a decision that is none', one(CART, '{ jwt: maybe }'), 'jwt must be one of allow, deny, none, not "maybe"'],
    ['a policy that is a number', one(CART, '{ rbac: { policy: 1 } }'), 'policy must be a text, not 1'],
    ['an invalid expression', one(CART, '{ url: { matches: "(" } }'), 'invalid regular expression "("'],
    ['a matcher that is a list', one(CART, '{ url: [a] }'), 'url must be an object, not ["a"]'],
    [
      'a share above 100',
      one(CART, '{ upstream: { cart: 101 } }'),
      'the share of cart must be a percentage from 0 to 100, not 101',
    ],
    [
      'a duration that is none',
      one(CART, '{ timeout: soon }'),
      'timeout must be a duration such as 15s, or 0s for none, not "soon"',
    ],
    ['limits that are a text', one(CART, '{ rateLimits: a }'), 'rateLimits must be a list, not "a"'],
  ] as const)
    it(`rejects ${what}`, async () => {
      write(text);
      const { code, stdout, stderr } = await test('shop.test.yaml', '-c', 'resources');
      expect({ code, stdout }).to.deep.equal({ code: 2, stdout: '' });
      expect(stderr).to.contain(message);
    });

  it('rejects a missing file or directory, and a missing --config', async () => {
    expect(await test('none.test.yaml')).to.include({
      code: 2,
      stderr: 'Error: none.test.yaml: no such file or directory\n',
    });
    expect(await test('resources')).to.include({
      code: 2,
      stderr: 'Error: resources: the directory contains no *.test.yaml\n',
    });
    write(GOOD.replace('config: resources\n', ''));
    expect((await test('shop.test.yaml')).stderr).to.equal(
      'Error: shop.test.yaml: the directory of the resources is unknown: write config in the file, or pass --config DIR\n',
    );
    write(GOOD.replace('config: resources', 'config: none'));
    expect((await test('shop.test.yaml')).stderr).to.equal('Error: none: no such file or directory\n');
    expect((await test('shop.test.yaml', '-o', 'xml')).code).to.equal(2);
    expect(readFileSync(join(directory.cwd, 'shop.test.yaml'), 'utf8')).to.contain('config: none');
  });
});
