import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { answer, at, recordedAnswers, type Handle } from '../support/answering-server.ts';
import { call, type Outcome } from '../support/captured-io.ts';
import { expectFixture } from '../support/fixtures.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

interface Item {
  kind: string;
  metadata: { name: string; namespace: string };
  spec: Record<string, unknown>;
  status?: unknown;
}

const ACCEPTED = { statuses: { 'gw-system': { state: 'Accepted', reportedBy: 'gw' } } };
const item = (kind: string, name: string, more: Partial<Item> = {}): Item => ({
  kind,
  metadata: { name, namespace: 'gw-system' },
  spec: {},
  status: ACCEPTED,
  ...more,
});
const problem = (kind: string, name: string, more: object = {}) => ({
  severity: 'error',
  file: '/etc/gateway/all.yaml',
  line: 3,
  column: 1,
  code: 'WRONG_TYPE',
  kind,
  namespace: 'gw-system',
  name,
  path: 'spec.x',
  message: 'must be text',
  ...more,
});
const HEALTHY = [
  item('Upstream', 'echo'),
  item('Gateway', 'gateway-proxy'),
  item('Secret', 'cert', { status: undefined }),
];

/** Calls `check` of a gateway that answers with these problems; `more` replaces other pages. */
async function check(problems: unknown[], argv: string[] = [], more: Record<string, unknown> = {}): Promise<Outcome> {
  const pages = { '/snapshots/input': { data: HEALTHY }, '/problems': { total: problems.length, problems } };
  const server = await answer({ ...recordedAnswers(), ...pages, ...more });
  const outcome = await call(['check', ...argv, ...at(server)]);
  await server.close();
  return outcome;
}
const withInput = (input: unknown) => ({ '/snapshots/input': { data: input } });

describe('check', () => {
  it('checks every kind in order and ends with No problems detected', async () => {
    const { code, stdout, stderr } = await check([]);
    expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
    expect(stdout.split('\n')).to.deep.equal([
      'Checking Components... OK',
      'Checking Listeners... OK',
      'Checking Upstreams... OK',
      'Checking UpstreamGroups... OK',
      'Checking AuthConfigs... OK',
      'Checking RateLimitConfigs... OK',
      'Checking VirtualHostOptions... OK',
      'Checking RouteOptions... OK',
      'Checking ListenerOptions... OK',
      'Checking HttpListenerOptions... OK',
      'Checking Secrets... OK',
      'Checking VirtualServices... OK',
      'Checking Gateways... OK',
      'Checking Proxies... OK',
      'No problems detected.',
      '',
    ]);
  });

  it('checks GraphQL APIs if there are any', async () => {
    const good = await check([], [], withInput([...HEALTHY, item('GraphQLApi', 'books')]));
    expect(good.stdout).to.include('Checking GraphQLApis... OK\nNo problems detected.');
    const broken = problem('GraphQLApi', 'books', { message: 'breaking: a field was removed' });
    const bad = await check([broken]);
    expect(bad.code).to.equal(1);
    expect(bad.stderr).to.include('GraphQLApi gw-system/books  spec.x  breaking: a field was removed');
    expect((await check([broken], ['-x', 'graphqlapis'])).code).to.equal(0);
  });

  it('prints the problems of every kind, nested per check, and exits 1', async () => {
    const { code, stdout, stderr } = await check([
      problem('Upstream', 'a'),
      problem('Upstream', 'b', { severity: 'warning', hint: 'did you mean y?', line: 9 }),
      problem('VirtualService', 'shop'),
      problem('RouteTable', 'items'),
      problem('', '', { kind: undefined, namespace: undefined, name: undefined, message: 'no kind' }),
    ]);
    expect(code).to.equal(1);
    expectFixture('check-problems.txt', `${stdout}${stderr}`);
  });

  it('reports warnings as warnings, and exits 1', async () => {
    const warning = { severity: 'warning', message: 'certificate expires soon' };
    const { code, stdout, stderr } = await check([problem('Gateway', 'tcp', warning)]);
    expect(code).to.equal(1);
    expect(stdout).to.contain('Checking Gateways... 1 warning\n').and.not.contain('Errors!');
    expect(stderr).to.equal(
      '1 warning occurred:\n\t* /etc/gateway/all.yaml:3:1  Gateway gw-system/tcp  spec.x  certificate expires soon  [warning]\n',
    );
    const both = await check([problem('Gateway', 'tcp', warning), problem('Upstream', 'a'), problem('Upstream', 'b')]);
    expect(both.stdout).to.contain('Checking Upstreams... 2 Errors!\n').and.contain('Checking Gateways... 1 warning\n');
    expect(both.stderr).to.match(/^Error: 1 error and 1 warning occurred:\n\t\* 2 errors occurred:\n/);
  });

  it('lists the problems of one failing check without nesting', async () => {
    const { code, stderr } = await check([problem('Upstream', 'a'), problem('Upstream', 'b', { line: 7 })]);
    expect(code).to.equal(1);
    expect(stderr).to.equal(
      [
        'Error: 2 errors occurred:',
        '\t* /etc/gateway/all.yaml:3:1  Upstream gw-system/a  spec.x  must be text',
        '\t* /etc/gateway/all.yaml:7:1  Upstream gw-system/b  spec.x  must be text',
        '',
      ].join('\n'),
    );
  });

  it('lists one cause once, with the resources that have it', async () => {
    const lost = { code: 'MISSING_REFERENCE', cause: 'Upstream/gw-system/lost not found', message: 'lost not found' };
    const names = ['a', 'b', 'b', 'c', 'd', 'e'];
    const { stdout, stderr } = await check(names.map((name) => problem('VirtualService', name, lost)));
    expect(stdout).to.contain('Checking VirtualServices... 1 Errors!');
    expect(stdout).to.match(/\n6 problems in the configuration, with 1 cause\n$/);
    const also = 'also VirtualService gw-system/b, VirtualService gw-system/c, VirtualService gw-system/d and 1 more';
    expect(stderr).to.equal(
      `Error: 1 error occurred:\n\t* /etc/gateway/all.yaml:3:1  VirtualService gw-system/a  spec.x  lost not found  (${also})\n`,
    );
    const twice = await check(['a', 'a'].map((name) => problem('VirtualService', name, lost)));
    expect(twice.stderr).to.contain('lost not found  (and in 1 more place)');
  });

  it('lists one cause in each check that it affects, so that none of them is OK', async () => {
    const lost = { cause: 'Secret/gw-system/lost not found', message: 'lost not found' };
    const kinds = ['VirtualService', 'AuthConfig', 'VirtualService'];
    const { stdout, stderr } = await check(kinds.map((kind, index) => problem(kind, `r${index}`, lost)));
    expect(stdout)
      .to.contain('Checking AuthConfigs... 1 Errors!\n')
      .and.contain('Checking VirtualServices... 1 Errors!\n');
    expect(stdout).to.match(/\n3 problems in the configuration, with 1 cause\n$/);
    expect(stderr).to.contain('AuthConfig gw-system/r1  spec.x  lost not found\n');
    expect(stderr).to.contain(
      'VirtualService gw-system/r0  spec.x  lost not found  (also VirtualService gw-system/r2)\n',
    );
  });

  it('escapes control characters of problems', async () => {
    const { stderr } = await check([problem('Upstream', 'a', { message: '\u001b[2Jgone\nnext' })]);
    expect(stderr).to.contain('gone next').and.not.contain('\u001b');
  });

  it('prints JSON with null for empty lists, and exits 0 even with errors', async () => {
    const good = await check([], ['-o', 'json']);
    expect(good.code).to.equal(0);
    expect(JSON.parse(good.stdout)).to.deep.include({ messages: null, errors: null });
    const bad = await check([problem('Upstream', 'a')], ['-o', 'json', '-x', 'pods']);
    expect({ code: bad.code, stderr: bad.stderr }).to.deep.equal({ code: 0, stderr: '' });
    const { resources, errors } = JSON.parse(bad.stdout) as { resources: unknown[]; errors: string[] };
    expect(errors).to.have.length(1);
    expect(resources.slice(0, 2)).to.deep.equal([
      { name: 'Components', status: 'OK' },
      { name: 'Upstreams', status: '1 Errors!' },
    ]);
  });

  it('leaves out what is excluded, in lists and repeated flags', async () => {
    const { stdout } = await check([], ['-x', 'pods, upstreams', '--exclude', 'deployments']);
    expect(stdout).to.not.match(/Components\.|Listeners\.|Upstreams/);
    expect(stdout).to.contain('Skipping proxies because deployments were excluded');
  });

  it('does not query the proxy with --read-only', async () => {
    const server = await answer({ ...recordedAnswers(), '/snapshots/input': { data: HEALTHY } });
    const { stdout } = await call(['check', '--read-only', ...at(server)]);
    await server.close();
    expect(stdout).to.contain('Warning: the proxy was not queried');
    expect(server.asked.filter((one) => /ready|stats/.test(one))).to.deep.equal([]);
  });

  it('looks at the asked namespaces only, cut down to the watched ones', async () => {
    const input = withInput([item('Settings', 'default', { spec: { watchNamespaces: ['gw-system', 'team-a'] } })]);
    const elsewhere = [problem('Upstream', 'a', { namespace: 'team-a' })];
    expect((await check(elsewhere, [], input)).code).to.equal(1);
    expect((await check(elsewhere, ['-r', 'gw-system'], input)).code).to.equal(0);
    expect((await check(elsewhere, ['-r', 'gw-system', '-r', 'team-a'], input)).code).to.equal(1);
    expect((await check(elsewhere, ['-r', 'team-b'], input)).stderr).to.equal(
      "Error: No namespaces specified are currently being watched (defaulting to 'gw-system' namespace)\n",
    );
  });

  it('always includes the write namespace, and everything for an empty name', async () => {
    const watching = (spec: Record<string, unknown>) => withInput([item('Settings', 'default', { spec })]);
    const own = [problem('Upstream', 'a', { namespace: 'gw-system' })];
    expect((await check(own, [], watching({ watchNamespaces: ['team-a'] }))).code).to.equal(1);
    const infra = [problem('Upstream', 'a', { namespace: 'infra' })];
    const spec = { watchNamespaces: ['team-a'], discoveryNamespace: 'infra' };
    expect((await check(infra, [], watching(spec))).code).to.equal(1);
    expect((await check(infra, [], watching({ watchNamespaces: ['team-a', ''] }))).code).to.equal(1);
    expect((await check(infra, [], watching({ watchNamespaces: ['team-a'] }))).code).to.equal(0);
  });

  it('reports a component that is not running', async () => {
    const components = [
      { name: 'control-plane', kind: 'control-plane', state: 'ready' },
      { name: 'gateway-proxy', kind: 'proxy', state: 'starting', reason: 'no snapshot yet' },
      { name: 'listener-::-80', kind: 'listener', state: 'failed', reason: 'port taken' },
    ];
    const { stderr } = await check([], [], { '/components': components });
    expect(stderr).to.contain('* Component gateway-proxy (proxy) is starting: no snapshot yet');
    expect(stderr).to.contain('* Listener listener-::-80 (listener) is not served: port taken');
    expect((await check([], ['-n', 'other'])).stderr).to.contain('No running control plane or proxy was found');
    expect((await check([], ['-p', 'nothing'])).stdout).to.contain(
      'Warning: no component matches --pod-selector nothing',
    );
  });

  it('reports the cause of a missing listener once, at its resource, and that the proxy is not ready', async () => {
    const message = 'Listener Warning: SSLConfigWarning. Reason: SSL secret not found: no secret gw-system.none';
    const resource = { kind: 'VirtualService', namespace: 'gw-system', name: 'shop' };
    const components = [
      { name: 'control-plane', kind: 'control-plane', state: 'ready' },
      {
        name: 'gateway-proxy',
        kind: 'proxy',
        state: 'starting',
        reason: `some listeners are not served: listener-::-8443: ${message}`,
        waitsFor: ['listener-::-8443'],
      },
      { name: 'listener-::-8443', kind: 'listener', state: 'failed', reason: message, resources: [resource] },
    ];
    const pages = {
      '/components': components,
      '/ready': ((_, res) => res.writeHead(503).end('INITIALIZING')) satisfies Handle,
    };
    const missing = [problem('VirtualService', 'shop', { path: 'spec.sslConfig.secretRef', message })];
    const { code, stdout, stderr } = await check(missing, [], pages);
    expect(code).to.equal(1);
    expect(stdout).to.contain('Checking Components... 1 Errors!\nChecking Listeners... 1 Errors!\n');
    expect(stderr.split('\n')).to.deep.equal([
      'Error: 3 errors occurred:',
      '\t* Component gateway-proxy (proxy) is starting: some listeners are not served: listener-::-8443',
      '\t* Listener listener-::-8443 (listener) is not served because of VirtualService gw-system/shop',
      `\t* /etc/gateway/all.yaml:3:1  VirtualService gw-system/shop  spec.sslConfig.secretRef  ${message}`,
      '',
    ]);
    const withoutPods = await check(missing, ['-x', 'pods,virtual-services'], pages);
    expect(withoutPods.stderr)
      .to.contain(`Component gateway-proxy (proxy) is starting: some listeners`)
      .and.contain(message);
    const withoutServices = await check(missing, ['-x', 'virtual-services'], pages);
    expect(withoutServices.stderr).to.contain(`Listener listener-::-8443 (listener) is not served: ${message}\n`);
  });

  describe('with the hosts of upstreams', () => {
    const host = (port: number, more: object) => ({
      address: { socket_address: { address: '127.0.0.1', port_value: port } },
      health_status: { eds_health_status: 'HEALTHY' },
      ...more,
    });
    const failure = (ageMs: number, is_over: boolean) => {
      const time = new Date(Date.now() - ageMs).toISOString();
      return { last_failure: { time, reason: 'Connection refused', is_over } };
    };
    const clusters = (...host_statuses: object[]) => ({
      '/clusters': { cluster_statuses: [{ name: 'echo_gw-system', host_statuses }] },
    });

    it('names hosts whose last connection failed, and hosts that health checks reject', async () => {
      const unhealthy = host(2, { health_status: { failed_active_health_check: true } });
      const { code, stdout, stderr } = await check([], [], clusters(host(1, failure(5000, false)), unhealthy));
      expect(code).to.equal(1);
      expect(stdout).to.match(/Checking Upstreams\.\.\. 2 Errors!/);
      expect(stderr).to.match(
        /Upstream echo_gw-system: 127\.0\.0\.1:1 cannot be connected, last connection failure \d s ago: Connection refused/,
      );
      expect(stderr).to.contain('Upstream echo_gw-system: 127.0.0.1:2 is not healthy, failed_active_hc');
    });

    it('names hosts that do not respond', async () => {
      const time = new Date(Date.now() - 5000).toISOString();
      const last_failure = { time, reason: 'no response in 2000 ms', is_over: false, is_timeout: true };
      const { code, stderr } = await check([], [], clusters(host(1, { last_failure })));
      expect(code).to.equal(1);
      expect(stderr).to.match(
        /Upstream echo_gw-system: 127\.0\.0\.1:1 does not respond, last timeout \d s ago: no response in 2000 ms/,
      );
    });

    it('accepts hosts that were connected again, hosts with old failures, and those that it must not look at', async () => {
      const pages = clusters(host(1, failure(5000, true)), host(2, failure(3_700_000, false)), host(3, {}));
      expect((await check([], [], pages)).code).to.equal(0);
      expect((await check([], ['--read-only'], clusters(host(1, failure(5000, false))))).code).to.equal(0);
    });
  });

  it('warns if the gateway does not list its components', async () => {
    const { code, stdout } = await check([], [], { '/components': undefined });
    expect(code).to.equal(0);
    expect(stdout).to.contain('Warning: the gateway does not list its components');
  });

  it('reports a proxy that is not ready, missing, not connected, or rejects updates', async () => {
    const notReady = await check([], [], {
      '/ready': ((_, res) => res.writeHead(503).end('DRAINING')) satisfies Handle,
    });
    expect(notReady.stderr).to.contain('503 (DRAINING)');
    const alone = await check([], [], { '/stats': 'control_plane.connected_state: 0\n' });
    expect(alone.stderr).to.contain('is not connected to its control plane');
    let refused = 1;
    const rising: Handle = (_, res) => res.end(`cluster_manager.cds.update_rejected: ${refused++}\n`);
    expect((await check([], [], { '/stats': rising })).stderr).to.contain('cds.update_rejected is rising');
    expect((await check([], [], { '/stats': 'x.update_rejected: 1\n' })).code).to.equal(0);
  });

  it('names the default ports that Gateway resources close', async () => {
    const withPorts = (replacedDefaultPorts: readonly number[]) =>
      check([], [], { '/problems': { total: 0, problems: [], replacedDefaultPorts } });
    const note = 'Note: Gateway resources replace the default gateways, so';
    expect(await withPorts([8080, 8443])).to.include({ code: 0, stderr: `${note} ports 8080 and 8443 are not open\n` });
    expect(await withPorts([8443])).to.include({ code: 0, stderr: `${note} port 8443 is not open\n` });
    expect((await withPorts([])).stderr).to.equal('');
  });

  describe('with servers that AuthConfigs name', () => {
    const configs = (address: string, closed: string) => [
      { oauth2: { oidcAuthorizationCode: { issuerUrl: `${address}/good/` } } },
      { oauth2: { oidcAuthorizationCode: { issuerUrl: `${address}/broken` } } },
      { oauth2: { accessTokenValidation: { jwt: { remoteJwks: { url: `${address}/keys` } } } } },
      { passThroughAuth: { http: { url: `${address}/auth` } } },
      { passThroughAuth: { grpc: { address: closed } } },
      { ldap: { address: `ldap://${closed}` } },
      {
        oauth2: {
          oidcAuthorizationCode: { session: { redis: { options: { host: `redis://user:<redacted>@${closed}` } } } },
        },
      },
      { oauth2: { oauth2: { session: { redis: {} } } } },
    ];
    const answers = { '/good/.well-known/openid-configuration': {}, '/keys': undefined };
    const checked = async (argv: string[] = []) => {
      const server = await answer(answers);
      const closed = '127.0.0.1:1';
      const data = [...HEALTHY, item('AuthConfig', 'login', { spec: { configs: configs(server.url, closed) } })];
      const outcome = await check([], argv, withInput(data));
      await server.close();
      return { ...outcome, url: server.url };
    };

    it('names those that do not respond, with the reason', async () => {
      const { code, stdout, stderr, url } = await checked();
      expect(code).to.equal(1);
      expect(stdout).to.contain('Checking AuthConfigs... 5 warnings\n');
      const found = stderr
        .replaceAll(/ at \S+Z:/g, ':')
        .split('\n\t* ')
        .slice(1);
      const who = 'AuthConfig gw-system/login: the';
      const silent = 'does not respond to this machine';
      const discovery = `${url}/broken/.well-known/openid-configuration`;
      expect(found.map((line) => line.trim())).to.deep.equal([
        `${who} identity provider ${url}/broken ${silent}: GET ${discovery} returns status 404  [warning]`,
        `${who} key set ${url}/keys ${silent}: GET ${url}/keys returns status 404  [warning]`,
        `${who} auth server 127.0.0.1:1 ${silent}: connection refused  [warning]`,
        `${who} LDAP server ldap://127.0.0.1:1 ${silent}: connection refused  [warning]`,
        `${who} Redis of sessions redis://127.0.0.1:1 ${silent}: connection refused  [warning]`,
      ]);
    });

    it('does not try them with --read-only or without the check of AuthConfigs', async () => {
      for (const argv of [['--read-only'], ['-x', 'auth-configs']])
        expect(await checked(argv)).to.include({ code: 0, stderr: '' });
    });
  });

  it('names the Redis of a flag that does not respond', async () => {
    const flags = { rateLimitRedis: 'redis://<redacted>@127.0.0.1:1/2', graphqlCache: 'redis+cluster://127.0.0.1:1' };
    const { code, stderr } = await check([], [], { '/server_info': { command_line_options: flags } });
    expect(code).to.equal(1);
    const silent = String.raw`does not respond to this machine at \S+: connection refused {2}\[warning\]`;
    expect(stderr).to.match(
      new RegExp(String.raw`--rate-limit-redis: the Redis of rate limits redis://127\.0\.0\.1:1/2 ${silent}`),
    );
    expect(stderr).to.match(
      new RegExp(String.raw`--graphql-cache: the Redis of GraphQL results redis\+cluster://127\.0\.0\.1:1 ${silent}`),
    );
  });

  it('reports certificates of flags that peers reject', async () => {
    const dated = (path: string, from: number, to: number) => ({
      path,
      valid_from: new Date(Date.now() + from * 86_400_000).toISOString(),
      expiration_time: new Date(Date.now() + to * 86_400_000).toISOString(),
    });
    const certificates = [
      { cert_chain: [dated('--xds-tls-cert /a.crt', -9, -1)], ca_cert: [] },
      { cert_chain: [], ca_cert: [dated('--xds-tls-ca /ca.crt', -9, 13)] },
      { cert_chain: [dated('--xds-tls-cert /good.crt', -9, 99), dated('secret gw-system.shop', -9, -1)], ca_cert: [] },
    ];
    const { code, stderr } = await check([], [], { '/certs': { certificates } });
    expect(code).to.equal(1);
    expect(stderr).to.contain('2 warnings occurred:');
    expect(stderr).to.match(/certificate of --xds-tls-cert \/a\.crt expired at .* {2}\[warning\]\n/);
    expect(stderr).to.match(/certificate of --xds-tls-ca \/ca\.crt expires at .*, within 14 days {2}\[warning\]\n/);
  });

  it('reports a gateway that does not list its problems', async () => {
    for (const page of [undefined, [], { total: 0 }]) {
      const { code, stderr } = await check([], [], { '/problems': page });
      expect(code).to.equal(1);
      expect(stderr).to.contain('/problems').and.contain('check --server');
    }
  });

  it('rejects other outputs and unknown checks, and names the nearest', async () => {
    expect(await check([], ['-o', 'yaml'])).to.include({
      code: 2,
      stderr: 'Error: Invalid output type. Only table (default) and json are supported.\n',
    });
    expect((await check([], ['-x', 'upstream'])).stderr).to.equal(
      'Error: --exclude: unknown check \'upstream\' (did you mean "upstreams"?)\n',
    );
  });

  describe('of a directory', () => {
    let cwd: string;
    beforeEach(() => {
      cwd = temporaryDirectory();
      mkdirSync(join(cwd, 'resources'));
    });
    const write = (name: string, text: string) => writeFileSync(join(cwd, 'resources', name), text);
    const offline = (...argv: string[]) => call(['check', '--config', 'resources', ...argv], { cwd });
    const UPSTREAM = `apiVersion: gw.vendor.io/v1
kind: Upstream
metadata: { name: echo }
spec: { static: { hosts: [{ addr: 127.0.0.1, port: 80 }] } }
`;
    const SECRET = `apiVersion: v1
kind: Secret
metadata: { name: cipher }
type: gw.vendor.io.EncryptionKeySecret
stringData: { key: 0123456789abcdef0123456789abcde }
`;

    it('needs no gateway, and reports no problems', async () => {
      write('a.yaml', UPSTREAM);
      const { code, stdout, stderr } = await offline();
      expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
      expect(stdout)
        .to.match(/^Checking Upstreams\.\.\. OK\n/)
        .and.match(/Checking Proxies\.\.\. OK\nNo problems detected\.\n$/)
        .and.not.contain('Components')
        .and.not.contain('GraphQLApis');
    });

    it('names file, line and field of each problem, warnings too, and exits with 1', async () => {
      write('a.yaml', `${UPSTREAM}${'---'}\n${SECRET}`);
      write('b.yaml', 'kind: Nothing\nmetadata: { name: x }\n');
      const { code, stdout, stderr } = await offline();
      expect(code).to.equal(1);
      expect(stdout).to.contain('Checking Secrets... 1 warning').and.contain('Checking Documents... 1 Errors!');
      expect(stderr).to.contain(
        '* resources/a.yaml:9:1  Secret gw-system/cipher  type  the key has 31 bytes, it needs 32  [warning]\n',
      );
      expect(stderr).to.match(/\* resources\/b\.yaml:1:\d+ {2}.*unknown kind Nothing/);
      expect(stderr).to.not.contain('0123456789');
    });

    it('leaves out what is excluded and other namespaces, and prints JSON', async () => {
      write('a.yaml', SECRET);
      expect((await offline('-x', 'secrets')).code).to.equal(0);
      expect((await offline('-r', 'shop')).code).to.equal(0);
      const { code, stdout } = await offline('-o', 'json');
      expect(code).to.equal(0);
      const { resources, errors } = JSON.parse(stdout) as { resources: unknown[]; errors: string[] };
      expect(resources).to.deep.include({ name: 'Secrets', status: '1 warning' });
      expect(errors).to.have.length(1);
    });

    it('rejects a directory without resources', async () => {
      expect(await offline()).to.deep.equal({
        code: 1,
        stdout: '',
        stderr: 'Error: no resources found in resources (no *.yaml, *.yml or *.json file)\n',
      });
    });

    it('rejects a directory that is missing', async () => {
      expect(await call(['check', '--config', 'none'], { cwd })).to.deep.equal({
        code: 2,
        stdout: '',
        stderr: 'Error: none: no such file or directory\n',
      });
    });
  });

  it('exits with one line if no gateway responds', async () => {
    const { code, stdout, stderr } = await call(['check', '--server', 'http://127.0.0.1:1']);
    expect({ code, stdout }).to.deep.equal({ code: 1, stdout: '' });
    expect(stderr).to.match(/^Error: no gateway at http:\/\/127\.0\.0\.1:1 \(.+\n$/);
  });
});
