import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadDirectory } from '@edge-gateway/core';
import { expect } from 'chai';
import { answer } from '../support/answering-server.ts';
import { call } from '../support/captured-io.ts';
import { expectFixture } from '../support/fixtures.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const RESOURCES = `apiVersion: gw.vendor.io/v1
kind: Upstream
metadata: { name: echo }
spec: { static: { hosts: [{ addr: 127.0.0.1, port: 8081 }] } }
---
apiVersion: gateway.vendor.io/v1
kind: VirtualService
metadata: { name: shop }
spec:
  virtualHost:
    domains: [shop.example, '*.example']
    options:
      headerManipulation:
        requestHeadersToAdd: [{ header: { key: authorization, value: hunter2 } }]
    routes:
      - name: beta
        matchers: [{ prefix: /cart, methods: [POST], headers: [{ name: x-beta, value: '1' }] }]
        directResponseAction: { status: 200, body: beta }
      - name: cart
        matchers: [{ prefix: /cart }]
        routeAction: { single: { upstream: { name: echo } } }
        options: { prefixRewrite: /basket, timeout: 2s }
      - matchers: [{ exact: /old }]
        redirectAction: { hostRedirect: new.example }
      - matchers: [{ prefix: /lost }]
        routeAction: { single: { upstream: { name: lost } } }
`;

/** Of `password` with the salt `TYiryv0/`. */
const HASH = '8BvzLUO9IfGPGGsPnAgSu1';

describe('explain', () => {
  let cwd: string;
  before(() => {
    cwd = temporaryDirectory();
    writeFileSync(join(cwd, 'all.yaml'), RESOURCES);
  });
  const explain = (...argv: string[]) => call(['explain', ...argv], { cwd });
  const offline = (...argv: string[]) => explain(...argv, '--config', '.');

  it('names the host of a hash and the unused hosts, by the state of the running gateway', async () => {
    const dir = temporaryDirectory();
    const hosts = [8081, 8082, 8083].map((port) => `{ addr: 127.0.0.1, port: ${port} }`);
    writeFileSync(
      join(dir, 'all.yaml'),
      RESOURCES.replace(
        'spec: { static: { hosts: [{ addr: 127.0.0.1, port: 8081 }] } }',
        `spec: { static: { hosts: [${hosts.join(', ')}] }, loadBalancerConfig: { maglev: {} } }`,
      ).replace('timeout: 2s', 'timeout: 2s, lbHash: { hashPolicies: [{ header: x-user }] }'),
    );
    const { snapshots } = await loadDirectory(dir);
    const stateOf = (port: number, health_status: object) => ({
      address: { socket_address: { address: '127.0.0.1', port_value: port } },
      stats: [{ name: 'rq_total', value: '3', type: 'COUNTER' }],
      health_status,
      weight: 1,
      hostname: '127.0.0.1',
      locality: {},
    });
    const host_statuses = [
      stateOf(8081, { failed_active_health_check: true, eds_health_status: 'HEALTHY' }),
      stateOf(8082, {}),
      stateOf(8083, {}),
    ];
    const server = await answer({
      '/snapshots/xds': { data: { 'gw-system~gateway-proxy': snapshots.get('gateway-proxy') } },
      '/snapshots/input': { data: [] },
      '/problems': { problems: [] },
      '/clusters': { cluster_statuses: [{ name: 'echo_gw-system', host_statuses }] },
    });
    const at = ['--server', server.url, '--proxy-admin', server.url];
    const { stdout } = await explain('GET', 'http://shop.example/cart', '-H', 'x-user: ann', ...at);
    await server.close();
    expect(stdout).to.match(/\n {4}host 127\.0\.0\.1:808[23]: hash [0-9a-f]{16} of the request\n/);
    expect(stdout).to.contain('\n    host 127.0.0.1:8081 is not used: its health checks fail\n');
  });

  it('shows the subset of a destination', async () => {
    const directory = temporaryDirectory();
    writeFileSync(
      join(directory, 'all.yaml'),
      RESOURCES.replace(
        'spec: { static: { hosts: [{ addr: 127.0.0.1, port: 8081 }] } }',
        'spec: { static: { hosts: [{ addr: 127.0.0.1, port: 8081, metadata: { envoy.lb: { version: v2, zone: b } } }], subsetSpec: { selectors: [{ keys: [version, zone] }] } } }',
      ).replace(
        'single: { upstream: { name: echo } }',
        'single: { upstream: { name: echo }, subset: { values: { version: v2, zone: b } } }',
      ),
    );
    const cart = ['GET', 'http://shop.example/cart/1', '-c', directory];
    expect((await explain(...cart)).stdout).to.contain(
      '\nResult\n  upstream echo_gw-system (subset version=v2, zone=b) (100 % of the requests)',
    );
    expect((await explain(...cart, '--expect-status', '200')).stderr).to.equal(
      'Error: expected 200, found forwarded to gw-system/echo (subset version=v2, zone=b)\n',
    );
  });

  describe('with --expect-status', () => {
    const CART = ['GET', 'http://shop.example/cart/1'];
    const BETA = ['POST', 'http://shop.example/cart', '-H', 'x-beta: 1'];
    const OLD = ['GET', 'http://shop.example/old'];

    for (const [status, request] of [
      ['forwarded', CART],
      ['200', BETA],
      ['301', OLD],
      ['404', ['GET', 'http://shop.example/none']],
    ] as const) {
      it(`exits with status 0 for ${status}`, async () => {
        const { code, stdout, stderr } = await offline(...request, '--expect-status', status);
        expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
        expect(stdout).to.equal((await offline(...request)).stdout);
      });
    }

    for (const [status, request, found] of [
      ['403', CART, 'forwarded to gw-system/echo'],
      ['forwarded', BETA, '200 (direct response)'],
      ['302', OLD, '301, a redirect to http://new.example/old'],
    ] as const) {
      it(`exits with status 1 for ${found} instead of ${status}`, async () => {
        for (const output of ['table', 'json']) {
          const shown = await offline(...request, '-o', output);
          expect(await offline(...request, '-o', output, '--expect-status', status)).to.deep.equal({
            code: 1,
            stdout: shown.stdout,
            stderr: `Error: expected ${status}, found ${found}\n`,
          });
        }
      });
    }

    it('does not take a part of the requests for all of them', async () => {
      const directory = temporaryDirectory();
      const lost = '{ weight: 1, destination: { upstream: { name: lost } } }';
      const weighted = (...list: string[]) =>
        RESOURCES.replace('single: { upstream: { name: echo } }', `multi: { destinations: [${list.join(', ')}] }`);
      const expecting = async (text: string, status: string) => {
        writeFileSync(join(directory, 'all.yaml'), text);
        return explain(...CART, '-c', directory, '--expect-status', status);
      };
      const half = weighted('{ weight: 1, destination: { upstream: { name: echo } } }', lost);
      for (const status of ['forwarded', '404']) {
        const { code, stderr } = await expecting(half, status);
        expect(code, status).to.equal(1);
        expect(stderr).to.equal(
          `Error: expected ${status}, found forwarded to gw-system/echo, 404 (*v1.Upstream { gw-system.lost } not found)\n`,
        );
      }
      expect(await expecting(weighted(lost, lost), '404')).to.include({ code: 0, stderr: '' });
    });

    it('rejects everything but a status or forwarded, and GraphQL operations', async () => {
      for (const status of ['', '99', '1000', '0x1', '2.0', '20e1', '-200', 'Forwarded']) {
        const { code, stderr } = await offline(...CART, `--expect-status=${status}`);
        expect(code, status).to.equal(2);
        expect(stderr).to.contain(
          `invalid --expect-status '${status}': must be a status from 100 to 999, or forwarded`,
        );
      }
      const { code, stderr } = await offline('--graphql', '{ a }', '--expect-status', '200');
      expect(code).to.equal(2);
      expect(stderr).to.contain('--expect-status');
    });
  });

  describe('of rejected resources', () => {
    const rejection = { statuses: { 'gw-system': { state: 2, reason: 'in short', reportedBy: 'gateway' } } };
    const problem = { severity: 'error', path: 'spec.x', message: 'bad field x', hint: 'did you mean y?' };
    const reason = 'spec.x: bad field x (did you mean y?)';
    const ask = async (
      kind: string,
      name: string,
      url: string,
      more: { problem?: object; status?: object; spec?: object } = {},
    ) => {
      const { status = rejection, spec } = more;
      const { snapshots } = await loadDirectory(cwd);
      const metadata = { name, namespace: 'gw-system' };
      const server = await answer({
        '/snapshots/xds': { data: { 'gw-system~gateway-proxy': snapshots.get('gateway-proxy') } },
        '/snapshots/input': { data: [{ apiVersion: 'v1', kind, metadata, spec, status }] },
        '/problems': { problems: [{ kind, ...metadata, ...(more.problem ?? problem) }] },
      });
      const { stdout } = await explain('GET', url, '--server', server.url);
      await server.close();
      return stdout;
    };

    it('names a last good version that is served', async () => {
      for (const [kind, name] of [
        ['VirtualService', 'shop'],
        ['Upstream', 'echo'],
      ] as const) {
        expect(await ask(kind, name, 'http://shop.example/cart')).to.contain(
          `Rejected resources\n  ✗ ${kind} gw-system/${name}: its last good version is served: ${reason}\n`,
        );
      }
    });

    it('names a last good destination that is kept', async () => {
      const message = '*v1.Upstream { a.b } not found; the last good destination is used';
      const status = { statuses: { 'gw-system': { state: 'Warning', reason: 'in short', reportedBy: 'gateway' } } };
      const shop = (more: object, name = 'shop') =>
        ask('VirtualService', name, 'http://shop.example/cart', { status, problem: { message, ...more } });
      expect(await shop({ effect: 'keeps-last-good' })).to.contain(
        `Served as before\n  ✗ VirtualService gw-system/shop: ${message}\n`,
      );
      expect(await shop({ effect: 'keeps-last-good' }, 'other')).to.not.contain('Served as before');
      expect(await shop({})).to.not.contain('Served as before');
    });

    it('names only the last good destination of the matched route', async () => {
      const keeps = (index: number) => {
        const path = `spec.virtualHost.routes[${index}].routeAction.single.upstream`;
        return ask('VirtualService', 'shop', 'http://shop.example/cart', {
          status: { statuses: {} },
          problem: { message: 'kept', effect: 'keeps-last-good', path },
          spec: {
            virtualHost: { routes: [{ matchers: [{ prefix: '/other' }] }, { matchers: [{ prefix: '/cart' }] }] },
          },
        });
      };
      expect(await keeps(1)).to.contain('Served as before\n  ✗ VirtualService gw-system/shop: kept\n');
      expect(await keeps(0)).to.not.contain('Served as before');
    });

    it('names the route table that a route without match delegates to', async () => {
      const found = 'route table gw-system.cartt not found (did you mean cart?)';
      const status = { statuses: { 'gw-system': { state: 'Warning', reason: 'in short', reportedBy: 'gateway' } } };
      const missing = { status, problem: { message: found, effect: 'lacks-routes' } };
      const stdout = await ask('VirtualService', 'shop', 'http://shop.example/none', missing);
      expect(stdout).to.contain(`Routes that are missing\n  ✗ VirtualService gw-system/shop: ${found}\n\nResult`);
      const matched = await ask('VirtualService', 'shop', 'http://shop.example/cart', missing);
      expect(matched).to.not.contain('missing');
    });

    describe('in a directory', () => {
      const routes = (...list: string[]) => list.map((one) => `\n    - ${one}`).join('');
      const served = async (list: string, url: string) => {
        const dir = temporaryDirectory();
        const text = `apiVersion: gateway.vendor.io/v1
kind: VirtualService
metadata: { name: t }
spec:
  virtualHost:
    domains: ['*']
    routes:${list}`;
        writeFileSync(join(dir, 'all.yaml'), text);
        const { stdout } = await explain('GET', url, '--config', dir);
        return stdout;
      };
      const CATCH_ALL = 'directResponseAction: { status: 200 }';
      const DELEGATING = '{ matchers: [{ prefix: /t }], delegateAction: { ref: { name: lost } } }';

      it('names the missing route table although another route matches', async () => {
        const missing =
          'Routes that are missing\n  ✗ VirtualService gw-system/t: route table gw-system.lost not found\n\nResult';
        expect(await served(routes(DELEGATING, CATCH_ALL), 'http://a.example/t/x')).to.contain(missing);
        expect(await served(routes(DELEGATING), 'http://a.example/t/x')).to.contain(missing);
      });

      it('omits missing route tables of other requests, and after the matching route', async () => {
        expect(await served(routes(DELEGATING, CATCH_ALL), 'http://a.example/other')).to.not.contain('missing');
        expect(await served(routes(CATCH_ALL, DELEGATING), 'http://a.example/t/x')).to.not.contain('missing');
      });
    });

    it('names rejected resources if nothing matches the request', async () => {
      expect(await ask('VirtualService', 'other', 'http://other.test/')).to.contain(
        'VirtualService gw-system/other: it may have been meant to match the request: spec.x: bad field x',
      );
    });

    it('reports that the port is part of the host, without rejected resources', async () => {
      const stdout = await ask('VirtualService', 'other', 'http://shop.example:8080/');
      expect(stdout).to.contain(
        '✗ the domain shop.example does not match: the port is part of the host, and shop.example:8080 is not among the domains',
      );
      expect(stdout).to.not.contain('Rejected');
    });

    it('leaves out rejected virtual services with other domains', async () => {
      const other = (domain: string) =>
        ask('VirtualService', 'other', 'http://other.test/', { spec: { virtualHost: { domains: [domain] } } });
      for (const domain of ['*', 'other.test', '*.test', 'other.*'])
        expect(await other(domain), domain).to.contain('it may have been meant');
      for (const domain of ['else.test', '*.other.test', 'another.*'])
        expect(await other(domain), domain).to.not.contain('Rejected');
    });

    it('leaves out those that have nothing to do with the request', async () => {
      for (const kind of ['VirtualService', 'Upstream']) {
        expect(await ask(kind, 'other', 'http://shop.example/cart')).to.not.contain('Rejected');
      }
    });
  });

  describe('of a destination that the request completes', () => {
    const DESTINATIONS = `apiVersion: gateway.vendor.io/v1
kind: VirtualService
metadata: { name: web }
spec:
  virtualHost:
    routes:
      - matchers: [{ prefix: /open }]
        routeAction: { dynamicForwardProxy: { autoHostRewriteHeader: x-target } }
      - matchers: [{ prefix: /pets }]
        routeAction:
          single:
            upstream: { name: store }
            destinationSpec: { rest: { functionName: find, parameters: { path: '/pets/{id}' } } }
---
apiVersion: gw.vendor.io/v1
kind: Upstream
metadata: { name: store }
spec:
  static:
    hosts: [{ addr: 127.0.0.1, port: 9000 }]
    serviceSpec:
      rest:
        transformations:
          find: { headers: { ':method': { text: POST }, ':path': { text: '/v2/{{ id }}' } }, body: { text: '{}' } }
---
apiVersion: gateway.vendor.io/v1
kind: Gateway
metadata: { name: open }
spec: { bindPort: 8080, httpGateway: { options: { dynamicForwardProxy: {} } } }
`;
    let directory: string;
    before(() => {
      directory = temporaryDirectory();
      writeFileSync(join(directory, 'all.yaml'), DESTINATIONS);
    });
    const resultOf = async (path: string, ...argv: string[]) => {
      const { stdout } = await explain('GET', `http://a.example:8080${path}`, ...argv, '--config', directory);
      return stdout.slice(stdout.indexOf('\nResult\n'));
    };

    it('shows the host to look up, and what depends on DNS', async () => {
      const shown = await resultOf('/open/1', '-H', 'x-target: api.example.com');
      expect(shown).to.contain(
        `(100 % of the requests)
    host api.example.com, port 80 (header x-target)
    depends on DNS: 503 if api.example.com cannot be resolved, 403 if none of its addresses is allowed
    GET http://api.example.com:80/open/1
`,
      );
      expect(await resultOf('/open/1', '-H', 'x-target: 10.0.0.1')).to.equal(`
Result
  upstream dynamic_forward_proxy (100 % of the requests): responds with 403 (10.0.0.1 is not a public address)
    host 10.0.0.1, port 80 (header x-target)
`);
    });

    it('shows the request that the template of a function renders', async () => {
      expect(await resultOf('/pets/7')).to.contain(
        `    POST http://127.0.0.1:9000/v2/7
    body: rendered by the template of the function find
`,
      );
    });
  });

  describe('of a listener that is not served', () => {
    const message = 'Listener Warning: SSLConfigWarning. Reason: SSL secret not found: no secret gw-system.missing';
    const line = `  ✗ listener-::-8454: it is not served: ${message} (VirtualService gw-system/secure)\n`;

    it('names the listener, the reason and the virtual service of a directory', async () => {
      const directory = temporaryDirectory();
      const secure = `---
apiVersion: gateway.vendor.io/v1
kind: Gateway
metadata: { name: plain }
spec: { bindAddress: '::', bindPort: 8091, httpGateway: {} }
---
apiVersion: gateway.vendor.io/v1
kind: Gateway
metadata: { name: secure }
spec: { bindAddress: '::', bindPort: 8454, ssl: true, httpGateway: {} }
---
apiVersion: gateway.vendor.io/v1
kind: VirtualService
metadata: { name: secure }
spec:
  sslConfig: { secretRef: { name: missing, namespace: gw-system } }
  virtualHost:
    domains: [secure.example]
    routes: [{ matchers: [{ prefix: / }], directResponseAction: { status: 200 } }]
`;
      writeFileSync(join(directory, 'all.yaml'), RESOURCES + secure);
      const ask = async (...argv: string[]) => (await explain(...argv, '--config', directory)).stdout;
      for (const url of ['https://secure.example:8454/', 'https://secure.example/', 'http://secure.example:8454/'])
        expect(await ask('GET', url), url).to.contain(line);
      expect(await ask('GET', 'http://a.example/', '--listener', 'listener-::-8454')).to.contain(line);
      for (const url of ['http://shop.example/', 'http://shop.example:8091/', 'https://shop.example:9999/'])
        expect(await ask('GET', url), url).to.not.contain('not served');
      expect(await ask('GET', 'https://secure.example:8454/', '-o', 'json')).to.not.contain('not served');
    });

    it('names them of a running gateway, which may not report them', async () => {
      const { snapshots } = await loadDirectory(cwd);
      const pages = { '/snapshots/xds': { data: { 'gw-system~gateway-proxy': snapshots.get('gateway-proxy') } } };
      const resources = [{ kind: 'VirtualService', namespace: 'gw-system', name: 'secure' }];
      const components = [
        { name: 'listener-::-8454', kind: 'listener', state: 'failed', reason: message, resources },
        { name: 'listener-::-8080', kind: 'listener', state: 'failed', reason: message, resources },
      ];
      const ask = async (more: object) => {
        const server = await answer({ ...pages, ...more });
        const { stdout } = await explain('GET', 'https://secure.example:8454/', '--server', server.url);
        await server.close();
        return stdout;
      };
      expect(await ask({ '/components': components })).to.contain(line);
      const unknown = await ask({});
      expect(unknown).to.contain('no response');
      expect(unknown).to.not.contain('not served');
    });
  });

  const cases: [title: string, argv: string[], file: string][] = [
    [
      'a request that is forwarded',
      ['GET', 'http://shop.example/cart/1?x=2', '-H', 'x-beta: 1'],
      'explain-forward.txt',
    ],
    ['a request that is answered', ['POST', 'http://www.example/cart', '-H', 'X-Beta:1'], 'explain-reply.txt'],
    ['a request that is redirected', ['GET', 'http://shop.example/old'], 'explain-redirect.txt'],
    ['a request without a route', ['GET', 'http://shop.example/none'], 'explain-no-route.txt'],
    ['a request without a virtual host', ['GET', 'http://other.test/'], 'explain-no-host.txt'],
    ['a request to an upstream that is missing', ['GET', 'http://shop.example/lost'], 'explain-broken.txt'],
    ['a request without a listener', ['GET', 'https://shop.example/'], 'explain-no-listener.txt'],
    ['a request that is refused', ['GET', 'http://shop.example/a%00b'], 'explain-refused.txt'],
    ['a request that the listener rejects', ['TRACE', 'http://shop.example/cart'], 'explain-rejected.txt'],
  ];
  for (const [title, argv, file] of cases) {
    it(`explains ${title} as in ${file}`, async () => {
      const { code, stdout, stderr } = await offline(...argv);
      expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
      expectFixture(file, stdout);
      expect(stdout).to.not.contain('hunter2');
    });
  }

  it('explains the same of a running gateway, and as JSON', async () => {
    const { snapshots } = await loadDirectory(cwd);
    const server = await answer({
      '/snapshots/xds': { data: { 'gw-system~gateway-proxy': snapshots.get('gateway-proxy') } },
    });
    const asked = ['GET', 'http://shop.example/cart', '-o', 'json'];
    const running = await explain(...asked, '--server', server.url);
    await server.close();
    expect(running.stdout).to.equal((await offline(...asked)).stdout);
    const { outcome } = JSON.parse(running.stdout) as {
      outcome: { destinations: { url: string; headers: unknown }[] };
    };
    expect(outcome.destinations[0]!.url).to.equal('http://127.0.0.1:8081/basket');
    expect(outcome.destinations[0]!.headers).to.deep.include(['authorization', '<redacted>']);
  });

  describe('of a host that requires a client certificate', () => {
    const secretRef = (name: string) => ({ secretRef: { name, namespace: 'gw-system' } });
    const text = async (body: object, ...argv: string[]) => {
      const { snapshots } = await loadDirectory(cwd);
      const plain = snapshots.get('gateway-proxy')!;
      const listeners = plain.listeners.map((listener) => ({
        ...listener,
        ssl: true,
        sslConfigurations: [
          { sniDomains: ['shop.example'], sslConfig: secretRef('mutual') },
          { sniDomains: [], sslConfig: secretRef('plain') },
        ],
      }));
      const secretOf = (name: string, written: object) => ({
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name, namespace: 'gw-system' },
        ...written,
      });
      const server = await answer({
        '/snapshots/xds': { data: { 'gw-system~gateway-proxy': { ...plain, listeners } } },
        '/snapshots/input': { data: [secretOf('mutual', body), secretOf('plain', { data: {} })] },
      });
      const { stdout } = await explain('GET', ...argv, '--server', server.url);
      await server.close();
      return stdout;
    };
    const ask = async (body: object, ...argv: string[]) => {
      const { outcome } = JSON.parse(await text(body, ...argv, '-o', 'json')) as { outcome: object };
      return outcome;
    };

    it('is named with the listener', async () => {
      const required = '\n  a client certificate is required: without one the TLS connection fails\n';
      expect(await text({ data: { 'ca.crt': '<redacted>' } }, 'https://shop.example/cart')).to.contain(required);
      expect(await text({ data: { 'ca.crt': '<redacted>' } }, 'https://www.example/cart')).to.not.contain(required);
      expect(await text({ data: { 'tls.crt': '<redacted>' } }, 'https://shop.example/cart')).to.not.contain(required);
    });

    it('is 421 on a connection for another host', async () => {
      const other = ['https://www.example/cart', '-H', 'host: shop.example'];
      const withCa = { data: { 'ca.crt': '<redacted>' } };
      expect(await ask(withCa, ...other)).to.include({ status: 421 });
      expect(await ask({ data: { 'tls.crt': '<redacted>' } }, ...other)).to.include({ type: 'forward' });
      expect(await ask(withCa, 'https://shop.example/cart')).to.include({ type: 'forward' });
    });

    it('is 421 also if the Secret is shown as written, because it is rejected', async () => {
      const written = { stringData: { 'ca.crt': '<redacted>' }, data: { other: '<redacted>' } };
      const other = ['https://www.example/cart', '-H', 'host: shop.example'];
      expect(await ask(written, ...other)).to.include({ status: 421 });
    });
  });

  it('rejects a snapshot that it cannot read, in one line', async () => {
    for (const virtualHosts of [[1], [{ domains: 3, routes: 4 }]]) {
      const listener = { bindPort: 80, ssl: false, httpOptions: {}, routeOptions: {}, options: {}, virtualHosts };
      const data = { a: { proxy: 'gateway-proxy', listeners: [listener], upstreams: [] } };
      const server = await answer({ '/snapshots/xds': { data } });
      const { code, stderr } = await explain('GET', 'http://a.example/', '--server', server.url);
      await server.close();
      expect({ code, stderr }).to.deep.equal({
        code: 1,
        stderr: 'Error: cannot read the served configuration; compare the versions with gatewayctl version\n',
      });
    }
  });

  it('names a gateway to which no virtual service belongs', async () => {
    const dir = temporaryDirectory();
    const gateway = `---
apiVersion: gateway.vendor.io/v1
kind: Gateway
metadata: { name: spare }
spec: { bindPort: 8181, httpGateway: { virtualServiceSelector: { team: spare } } }
---
apiVersion: gateway.vendor.io/v1
kind: Gateway
metadata: { name: main }
spec: { bindPort: 8080, httpGateway: {} }
---
`;
    writeFileSync(join(dir, 'all.yaml'), gateway + RESOURCES);
    const why =
      'listener-::-8181: it is not served: no virtual service belongs to gateway gw-system/spare, so that its';
    expect((await explain('GET', 'http://shop.example:8181/', '--config', dir)).stdout).to.contain(why);
    expect((await explain('GET', 'http://shop.example/', '--config', dir)).stdout).to.not.contain('spare');
  });

  it('explains OPTIONS *, to which the gateway itself responds', async () => {
    const { stdout } = await explain('OPTIONS', '*', '--config', '.');
    expect(stdout).to.match(/^OPTIONS \*\n[^]*Result\n {2}respond with 204 \(/);
  });

  it('keeps the case of the method, which is part of it', async () => {
    expect((await offline('post', 'http://www.example/cart')).stdout).to.match(/^post .*respond with 400/s);
  });

  const wrong: [argv: string[], message: RegExp][] = [
    [['GET'], /missing required argument 'url'/],
    [['GET', '/cart'], /must be an absolute URL such as/],
    [['GET', 'ftp://shop.example/'], /must be an absolute URL/],
    [['GET', 'http://'], /must be an absolute URL/],
    [['GET', 'http://shop .example/'], /^Error: .+\n$/],
    [['http://shop.example/', 'GET'], /must be a method such as GET/],
    [['GET', 'http://shop.example/', '-H', 'no colon'], /write 'name: value'/],
    [['GET', 'http://shop.example/', '-H', 'bad name: x'], /invalid header/],
  ];
  for (const [argv, message] of wrong) {
    it(`rejects ${argv.join(' ')} in one line with exit status 2`, async () => {
      const { code, stdout, stderr } = await offline(...argv);
      expect({ code, stdout }).to.deep.equal({ code: 2, stdout: '' });
      expect(stderr).to.match(message);
      expect(stderr.trim().split('\n')).to.have.length(1);
    });
  }

  it('names the proxies there are when the asked one is not served', async () => {
    expect(await offline('GET', 'http://shop.example/', '--proxy', 'gateway-proxi')).to.include({
      code: 1,
      stderr:
        'Error: proxy gateway-proxi is not served (did you mean "gateway-proxy"?); there are: gateway-proxy (--proxy)\n',
    });
  });

  describe('of a protected route', () => {
    const jwt = (more: object = {}) => ({
      afterExtAuth: {
        providers: { main: { issuer: 'https://id.example', tokenSource: { headers: [{ header: 'jwt' }] } } },
        ...more,
      },
    });
    const rbac = {
      policies: {
        elsewhere: { permissions: { pathPrefix: '/other' } },
        admins: {
          principals: [{ jwtPrincipal: { claims: { email: 'admin@example.com' } } }],
          permissions: { methods: ['GET'], pathPrefix: '/cart' },
        },
      },
    };
    const login = {
      ref: { name: 'login', namespace: 'gw-system' },
      spec: { configs: [{ name: 'oidc', oauth2: { oidcAuthorizationCode: {} } }, { basicAuth: {} }] },
    };
    const tokenOf = (claims: object) =>
      [{ alg: 'RS256' }, claims].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.') +
      '.AAAA';

    async function ask(options: object, ...argv: string[]) {
      return askBehind(login, options, ...argv);
    }

    async function askBehind(authConfig: object, options: object, ...argv: string[]) {
      const { snapshots } = await loadDirectory(cwd);
      const plain = snapshots.get('gateway-proxy')!;
      const listeners = plain.listeners.map((listener) => ({
        ...listener,
        virtualHosts: listener.virtualHosts.map((host) => ({ ...host, options, authConfigs: [authConfig] })),
      }));
      const server = await answer({
        '/snapshots/xds': { data: { 'gw-system~gateway-proxy': { ...plain, listeners } } },
      });
      try {
        const request = argv[0]?.startsWith('-') === false ? [] : ['GET', 'http://shop.example/cart/1'];
        return await explain(...request, ...argv, '--server', server.url);
      } finally {
        await server.close();
      }
    }

    it('shows external auth, the deciding provider and the allowing policy, as in explain-access.txt', async () => {
      const token = tokenOf({ iss: 'https://id.example', email: 'admin@example.com' });
      const extauth = { configRef: { name: 'login', namespace: 'gw-system' } };
      const { code, stdout, stderr } = await ask({ extauth, jwtStaged: jwt(), rbac }, '-H', `jwt: ${token}`);
      expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
      expectFixture('explain-access.txt', stdout);
      expect(stdout).to.not.contain(token);
    });

    for (const [title, argv, line] of [
      ['claims in place of a token', ['--claims', '{"email":"admin@example.com"}'], '✓ RBAC: policy admins allows'],
      [
        'someone else',
        ['--claims', '{"email":"user@example.com"}'],
        '✗ RBAC: access denied (403): policy admins came closest, but the claim email does not have the required value',
      ],
      ['nobody', [], '✗ JWT after external auth: no provider accepts a token, the validation policy is REQUIRE_VALID'],
      ['no token', [], 'provider main: Jwt is missing'],
      ['what is no token', ['-H', 'jwt: a.b.c'], 'provider main: Jwt header is an invalid Base64url encoded'],
      [
        'a token of another issuer',
        ['-H', `jwt: ${tokenOf({ iss: 'https://else.example' })}`],
        'provider main: Jwt issuer is not configured',
      ],
      [
        'an old token',
        ['-H', `jwt: ${tokenOf({ iss: 'https://id.example', exp: 1 })}`],
        'provider main: Jwt is expired',
      ],
    ] as const) {
      it(`explains ${title}: ${line}`, async () => {
        expect((await ask({ jwtStaged: jwt(), rbac }, ...argv)).stdout).to.contain(line);
      });
    }

    it('shows the request after access control: with claim headers, without the token and forged claims', async () => {
      const claimsToHeaders = [{ claim: 'email', header: 'x-email' }];
      const main = { issuer: 'https://id.example', claimsToHeaders };
      const token = tokenOf({ iss: 'https://id.example', email: 'admin@example.com' });
      for (const forged of ['x_email: forged', 'X-Email: forged']) {
        const flags = ['-H', `authorization: Bearer ${token}`, '-H', forged];
        const { stdout } = await ask({ jwtStaged: { afterExtAuth: { providers: { main } } } }, ...flags);
        const result = stdout.slice(stdout.indexOf('Result'));
        expect(result).to.contain('x-email: admin@example.com').and.not.contain('authorization');
        expect(stdout).to.not.contain('forged').and.not.contain(token);
      }
    });

    it('reads the token that an early transformation sets', async () => {
      const early = {
        extractors: { token: { header: 'cookie', regex: '.*id_token=([^;]+).*', subgroup: 1 } },
        headers: { jwt: { text: '{{ token }}' } },
        headersToRemove: ['cookie'],
      };
      const requestTransforms = [{ requestTransformation: { transformationTemplate: early } }];
      const stagedTransformations = { early: { requestTransforms } };
      const cookie = `cookie: a=1; id_token=${tokenOf({ iss: 'https://id.example', email: 'admin@example.com' })}`;
      const { stdout } = await ask({ stagedTransformations, jwtStaged: jwt(), rbac }, '-H', cookie);
      expect(stdout)
        .to.include('✓ RBAC: policy admins allows the request')
        .and.include('GET http://127.0.0.1:8081/basket/1');
      expect(stdout).to.not.match(/^ +cookie: /m);
      const undefinedToo = {
        early: {
          requestTransforms: [
            {
              requestTransformation: {
                transformationTemplate: { passthrough: {}, headers: { jwt: { text: '{{ nobody }}' } } },
              },
            },
          ],
        },
      };
      const refused = await ask({ stagedTransformations: undefinedToo, jwtStaged: jwt(), rbac });
      expect(refused.stdout).to.include(
        "respond with 400 (the request cannot be transformed: headers.jwt.text: variable 'nobody' is not defined)",
      );
    });

    it('shows that claim headers of a neighbouring route go, on a route that no provider guards', async () => {
      const claimsToHeaders = [{ claim: 'tier', header: 'x-tier' }];
      const main = { issuer: 'https://id.example', claimsToHeaders };
      const options = {
        jwtStaged: { afterExtAuth: { providers: { main }, validationPolicy: 'ALLOW_MISSING' } },
        rbac: { disable: true },
      };
      const { snapshots } = await loadDirectory(cwd);
      const plain = snapshots.get('gateway-proxy')!;
      const listeners = plain.listeners.map((listener) => ({
        ...listener,
        virtualHosts: listener.virtualHosts.map((host) => ({
          ...host,
          routes: [{ ...host.routes[0]!, name: 'guarded', matchers: [{ exact: '/guarded' }], options }, ...host.routes],
        })),
      }));
      const server = await answer({
        '/snapshots/xds': { data: { 'gw-system~gateway-proxy': { ...plain, listeners } } },
      });
      try {
        const url = 'http://shop.example/cart/1';
        const { stdout } = await explain('GET', url, '-H', 'X-Tier: forged', '--server', server.url);
        expect(stdout).to.contain('removed because only a token may set them: x-tier').and.not.contain('forged');
      } finally {
        await server.close();
      }
    });

    for (const [title, extauth, line] of [
      ['of the settings', { customAuth: {} }, 'auth server upstream gw-system/auth over gRPC'],
      ['with a name', { customAuth: { name: 'web' } }, 'auth server web, upstream inner/web over HTTP'],
      [
        'for an AuthConfig',
        { configRef: { name: 'login', namespace: 'gw-system' } },
        'auth server upstream gw-system/auth over gRPC, for AuthConfig gw-system/login',
      ],
    ] as const) {
      it(`names an auth server ${title}`, async () => {
        const { stdout } = await askWith({ extauth });
        expect(stdout).to.contain(
          `external auth decides (not evaluated: an auth server is not called by this command): ${line}\n`,
        );
        expect(stdout).to.contain('Result, if external auth allows the request\n');
      });
    }

    it('says that an auth server is missing', async () => {
      const { stdout } = await askWith({ extauth: { customAuth: { name: 'other' } } });
      expect(stdout).to.contain(
        "external auth: namedExtauth of the Settings has no auth server 'other', so the response is 500",
      );
      expect(stdout).to.contain('\nResult\n');
    });

    /** Explains a request with auth servers in the Settings. */
    async function askWith(options: object) {
      const { snapshots } = await loadDirectory(cwd);
      const plain = snapshots.get('gateway-proxy')!;
      const listeners = plain.listeners.map((listener) => ({
        ...listener,
        virtualHosts: listener.virtualHosts.map((host) => ({ ...host, options })),
      }));
      const settings = {
        ...plain.settings,
        extauth: { extauthzServerRef: { name: 'auth' } },
        namedExtauth: { web: { extauthzServerRef: { name: 'web', namespace: 'inner' }, httpService: {} } },
      };
      const data = { 'gw-system~gateway-proxy': { ...plain, listeners, settings } };
      const server = await answer({ '/snapshots/xds': { data } });
      try {
        return await explain('GET', 'http://shop.example/cart/1', '--server', server.url);
      } finally {
        await server.close();
      }
    }

    it('marks a result that depends on external auth', async () => {
      const extauth = { configRef: { name: 'login', namespace: 'gw-system' } };
      const before = { beforeExtAuth: { providers: { main: { issuer: 'https://id.example' } } } };
      const conditional = 'Result, if external auth allows the request\n';
      expect((await ask({ extauth, rbac: { disable: true } })).stdout).to.contain(conditional);
      expect((await ask({ extauth, jwtStaged: before })).stdout).to.not.contain(conditional);
      expect((await ask({ rbac: { disable: true } })).stdout).to.contain('\nResult\n');
    });

    it('does not take a result that depends on external auth for the expected one', async () => {
      const extauth = { configRef: { name: 'login', namespace: 'gw-system' } };
      const unknown = 'is not evaluated: only apiKeyAuth and basicAuth are evaluated, not oauth2.oidcAuthorizationCode';
      const expecting = (options: object, status: string) => ask(options, '--expect-status', status);
      for (const status of ['forwarded', '401']) {
        const { code, stderr } = await expecting({ extauth, rbac: { disable: true } }, status);
        expect({ code, stderr }).to.deep.equal({
          code: 1,
          stderr: `Error: expected ${status}, but the outcome is not known: it depends on external auth of AuthConfig gw-system/login, which ${unknown}\n`,
        });
      }
      const before = { beforeExtAuth: { providers: { main: { issuer: 'https://id.example' } } } };
      expect(await expecting({ extauth, jwtStaged: before }, '401')).to.include({ code: 0, stderr: '' });
      const lost = { extauth: { configRef: { name: 'lost', namespace: 'gw-system' } } };
      expect(await expecting(lost, '500')).to.include({ code: 0, stderr: '' });
      expect(await expecting(lost, 'forwarded')).to.include({
        code: 1,
        stderr: 'Error: expected forwarded, found 500 (AuthConfig gw-system/lost does not exist)\n',
      });
    });

    it('evaluates keys and passwords of a directory, and reads none of a running gateway', async () => {
      const directory = temporaryDirectory();
      const authConfig = {
        apiVersion: 'enterprise.gw.vendor.io/v1',
        kind: 'AuthConfig',
        metadata: { name: 'staff', namespace: 'gw-system' },
        spec: { configs: [{ basicAuth: { apr: { users: { ann: { salt: 'TYiryv0/', hashedPassword: HASH } } } } }] },
      };
      const options = { extauth: { configRef: { name: 'staff', namespace: 'gw-system' } } };
      const guarded = RESOURCES.replace('timeout: 2s', `timeout: 2s, extauth: ${JSON.stringify(options.extauth)}`);
      writeFileSync(join(directory, 'all.yaml'), `${guarded}---\n${JSON.stringify(authConfig)}\n`);
      const cart = ['GET', 'http://shop.example/cart/1'];
      const ann = ['-H', `authorization: Basic ${btoa('ann:password')}`];
      const steps = '(AuthConfig gw-system/staff, all of them, in order: config_0 (basicAuth))';

      const denied = await explain(...cart, '-c', directory, '--expect-status', '401');
      expect(denied).to.include({ code: 0, stderr: '' });
      const reason = 'no user name and password';
      expect(denied.stdout).to.contain(`\n  ✗ external auth rejects the request with 401: ${reason} ${steps}\n`);
      expect(denied.stdout).to.contain(`\nResult\n  respond with 401 (external auth rejects the request: ${reason})\n`);
      const allowed = await explain(...cart, ...ann, '-c', directory, '--expect-status', 'forwarded');
      expect(allowed).to.include({ code: 0, stderr: '' });
      expect(allowed.stdout).to.contain(`\n  ✓ external auth allows the request of user ann ${steps}\n`);
      expect(allowed.stdout).to.contain('\nResult\n').and.contain('\n    x-user-id: ann\n');

      const config = { ref: authConfig.metadata, spec: authConfig.spec };
      expect((await askBehind(config, { ...options, rbac: { disable: true } }, ...ann)).stdout)
        .to.contain('external auth decides (not evaluated: keys and passwords of a running gateway are not read; ')
        .and.contain('Result, if external auth allows the request\n');
    });

    it('does not present a token that the login adds as missing', async () => {
      const extauth = { configRef: { name: 'login', namespace: 'gw-system' } };
      const behind = (idTokenHeader: string, options: object) => {
        const oidcAuthorizationCode = { headers: { idTokenHeader } };
        return askBehind({ ...login, spec: { configs: [{ oauth2: { oidcAuthorizationCode } }] } }, options);
      };
      const added = (await behind('JWT', { extauth, jwtStaged: jwt() })).stdout;
      expect(added).to.contain(
        'Result, if external auth allows the request\n  the login adds the token in header jwt; to explain the request with it',
      );
      expect(added).to.not.contain('respond with 401');
      for (const [header, options] of [
        ['other', { extauth, jwtStaged: jwt() }],
        ['jwt', { jwtStaged: jwt() }],
        ['jwt', { extauth, jwtStaged: { beforeExtAuth: jwt().afterExtAuth } }],
      ] as const)
        expect((await behind(header, options)).stdout).to.contain('respond with 401 (access denied)');
    });

    it('reports that the login itself responds to its own paths', async () => {
      const extauth = { configRef: { name: 'login', namespace: 'gw-system' } };
      const oidcAuthorizationCode = {
        appUrl: 'https://shop.example',
        callbackPath: '/callback',
        logoutPath: '/cart/1',
      };
      const config = { ...login, spec: { configs: [{ oauth2: { oidcAuthorizationCode } }] } };
      const { stdout } = await askBehind(config, { extauth, jwtStaged: jwt(), rbac });
      expect(stdout).to.match(
        /\nResult\n {2}the login of AuthConfig gw-system\/login responds itself: the path is its logoutPath\n$/,
      );
      expect(stdout).to.not.match(/RBAC|JWT/);
      const before = { beforeExtAuth: { providers: { main: { issuer: 'https://id.example' } } } };
      expect((await askBehind(config, { extauth, jwtStaged: before })).stdout).to.contain(
        'respond with 401 (access denied)',
      );
    });

    it('names the cookie of the login in which the token is missing, and what a browser gets after the login', async () => {
      const extauth = { configRef: { name: 'login', namespace: 'gw-system' } };
      const extractor = { header: 'cookie', regex: '(?:.*; *)?shop_id_token=([^;]*)(?:;.*)?', subgroup: 1 };
      const transformationTemplate = {
        passthrough: {},
        extractors: { token: extractor },
        headers: { jwt: { text: '{{ token }}' } },
      };
      const early = { requestTransforms: [{ requestTransformation: { transformationTemplate } }] };
      const options = { extauth, jwtStaged: jwt(), stagedTransformations: { early } };
      const behind = (session: object, more: object = {}, ...argv: string[]) => {
        const config = { configs: [{ oauth2: { oidcAuthorizationCode: { session } } }] };
        return askBehind({ ...login, spec: config }, { ...options, ...more }, ...argv);
      };
      const cookie = { keyPrefix: 'shop' };
      const lacks = 'allows the request\n  the request lacks the cookie shop_id_token: the login sets it';
      const { stdout } = await behind({ cookie }, {}, '-H', 'cookie: a=b');
      expect(stdout).to.contain(lacks).and.not.contain('respond with 401');
      expect(stdout).to.match(/\n {2}a browser then gets:\n {4}upstream echo_gw-system [^\n]*\n {6}GET http:/);
      expect((await behind({ cookie }, { rbac })).stdout)
        .to.contain(lacks)
        .and.contain(
          '\n  RBAC then decides by the claims of the token; to explain the request with them, give --claims',
        );
      for (const session of [{ cookie: {} }, { redis: {} }, { cookie, cipherConfig: {} }])
        expect((await behind(session)).stdout, JSON.stringify(session)).to.contain('respond with 401 (access denied)');
    });

    it('explains the response to a denied request', async () => {
      const { stdout } = await ask({ jwtStaged: jwt(), rbac }, '--claims', '{"email":"user@example.com"}');
      expect(stdout).to.match(/Result\n  respond with 403 \(access denied\): "RBAC: access denied"\n$/);
      expect((await ask({ jwtStaged: jwt() })).stdout).to.match(
        /Result\n  respond with 401 \(access denied\): "Jwt is missing"\n$/,
      );
    });

    it('never shows a token of the query', async () => {
      const token = tokenOf({ iss: 'https://id.example' });
      const main = { issuer: 'https://id.example', keepToken: true, tokenSource: { queryParams: ['t'] } };
      const argv = ['GET', `http://shop.example/cart?t=${token}`];
      const { stdout } = await ask({ jwtStaged: { afterExtAuth: { providers: { main } } } }, ...argv);
      expect(stdout).to.contain('✓ JWT').and.contain('t=<redacted>').and.not.contain(token);
    });

    it('explains a route that is selected by claims', async () => {
      const claimsToHeaders = [{ claim: 'beta', header: 'x-beta' }];
      const main = { issuer: 'https://id.example', claimsToHeaders };
      const argv = ['POST', 'http://shop.example/cart', '--claims', '{"beta":"1"}'];
      const { stdout } = await ask({ jwtStaged: { afterExtAuth: { providers: { main } } } }, ...argv);
      expect(stdout)
        .to.contain('the route was selected again')
        .and.contain('respond with 200 (direct response): "beta"');
    });

    it('shows an AuthConfig that is missing, and nothing for a route without access checks', async () => {
      const extauth = { configRef: { name: 'lost', namespace: 'gw-system' } };
      expect((await ask({ extauth })).stdout).to.contain(
        'AuthConfig gw-system/lost does not exist, so the response is 500',
      );
      expect((await ask({ rbac: { disable: true } })).stdout).to.not.contain('Access');
    });

    it('returns the access as JSON', async () => {
      const { stdout } = await ask(
        { jwtStaged: jwt(), rbac },
        '--claims',
        '{"email":"admin@example.com"}',
        '-o',
        'json',
      );
      const { access } = JSON.parse(stdout) as { access: { rbac: unknown } };
      expect(access.rbac).to.deep.equal({ allowed: true, policy: 'admins' });
    });

    for (const claims of ['', 'x', '[]', 'null', '1']) {
      it(`rejects --claims '${claims}'`, async () => {
        expect(await explain('GET', 'http://shop.example/', '--config', '.', '--claims', claims)).to.include({
          code: 2,
        });
      });
    }
  });
});
