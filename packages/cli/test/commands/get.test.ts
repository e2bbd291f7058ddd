import { Writable } from 'node:stream';
import { expect } from 'chai';
import { parseAllDocuments } from 'yaml';
import { VIEWS } from '../../src/tables/views.ts';
import { answer, at, recordedAnswers, type AnsweringServer } from '../support/answering-server.ts';
import { call } from '../support/captured-io.ts';
import { createDirectory } from '../support/directory.ts';
import { expectFixture } from '../support/fixtures.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

describe('get', () => {
  let server: AnsweringServer;
  before(async () => {
    server = await answer(recordedAnswers());
  });
  after(() => server.close());
  const get = (...argv: string[]) => call(['get', ...argv, ...at(server)]);

  const tables: [file: string, argv: string[]][] = [
    ['get-virtualservices.txt', ['virtualservices']],
    ['get-virtualservices-wide.txt', ['vs', '-o', 'wide']],
    ['get-virtualservice-route.txt', ['virtualservice', 'route', 'shop']],
    ['get-routetables.txt', ['routetables', '-n', 'team-a']],
    ['get-upstreams.txt', ['upstreams']],
    ['get-upstreamgroups.txt', ['upstreamgroups']],
    ['get-proxies.txt', ['proxies']],
    ['get-authconfigs.txt', ['authconfigs']],
    ['get-ratelimitconfigs.txt', ['ratelimitconfigs']],
    ['get-all.txt', ['all']],
  ];
  for (const [file, argv] of tables) {
    it(`prints ${argv.join(' ')} as the table in ${file}`, async () => {
      const { code, stdout, stderr } = await get(...argv);
      expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
      expectFixture(file, stdout);
    });
  }

  it('lists the resources of all kinds of one namespace or all, the proxies with what they serve', async () => {
    const { stdout } = await get('all', '-A', '-o', 'json');
    const objects = JSON.parse(stdout) as { kind: string; metadata: { namespace: string }; spec?: object }[];
    const kinds = [...new Set(objects.map(({ kind }) => kind))];
    expect(kinds).to.include.members(['VirtualService', 'Upstream', 'Proxy', 'Secret']);
    expect(kinds).to.deep.equal(VIEWS.map(({ kind }) => kind).filter((kind) => kinds.includes(kind)));
    expect(objects.some(({ metadata }) => metadata.namespace === 'team-a')).to.equal(true);
    expect(objects.find(({ kind }) => kind === 'Proxy')!.spec).to.have.property('listeners');
    const one = JSON.parse((await get('all', '-n', 'team-a', '-o', 'json')).stdout) as typeof objects;
    expect(one).to.deep.equal(objects.filter(({ metadata }) => metadata.namespace === 'team-a'));
  });

  it('rejects a namespace without resources, and says where others are', async () => {
    const { code, stderr } = await get('all', '-n', 'team-b');
    expect({ code, stderr }).to.deep.equal({
      code: 1,
      stderr: 'Error: namespace "team-b" has no resources (did you mean "team-a"?); choose another with -n\n',
    });
    const empty = await call(['get', 'all', '-c', temporaryDirectory()]);
    expect({ code: empty.code, stderr: empty.stderr }).to.deep.equal({ code: 0, stderr: 'No resources here.\n' });
  });

  it('shows the health of the hosts of upstreams in the wide table', async () => {
    const counted = (name: string, value: string) => ({ name, value, type: 'COUNTER' });
    const host = (port: number, health_status: object, stats: object[] = []) => ({
      address: { socket_address: { address: '127.0.0.1', port_value: port } },
      health_status: { ...health_status, eds_health_status: 'HEALTHY' },
      stats,
    });
    const name = 'carts_gw-system';
    const host_statuses = [
      host(1, {}, [counted('rq_total', '12'), counted('rq_error', '1')]),
      {
        ...host(3, {}),
        last_failure: {
          time: new Date(Date.now() - 5000).toISOString(),
          reason: 'Connection refused',
          is_over: false,
        },
      },
      host(2, { failed_active_health_check: true, failed_outlier_check: true }),
    ];
    const clusters = { cluster_statuses: [{ name, host_statuses }] };
    const running = await answer({ ...recordedAnswers(), '/clusters': clusters });
    const { code, stdout } = await call(['get', 'upstream', 'carts', '-o', 'wide', ...at(running)]);
    expect(code).to.equal(0);
    expect(stdout).to.contain('127.0.0.1:1 unchecked, 12 requests, 1 error');
    expect(stdout).to.match(/127\.0\.0\.1:3 connections fail, last connection failure \d s ago: Connection refused/);
    expect(stdout).to.contain('127.0.0.1:2 failed_active_hc failed_outlier_check');
    await running.close();
  });

  it('says that the response of a proxy without hosts is not understood', async () => {
    const running = await answer({ ...recordedAnswers(), '/clusters': {} });
    const { code, stderr } = await call(['get', 'upstreams', '-o', 'wide', ...at(running)]);
    expect(code).to.equal(1);
    expect(stderr).to.match(/^Error: .*\/clusters/);
    await running.close();
  });

  it('accepts every alias of the group and its kinds', async () => {
    const aliases = {
      virtualservice: ['vs', 'virtualservices'],
      upstream: ['u', 'us', 'upstreams'],
      upstreamgroup: ['ug', 'ugs', 'upstreamgroups'],
      proxy: ['p', 'proxies'],
      authconfig: ['ac', 'authconfigs'],
      ratelimitconfig: ['rlc', 'ratelimitconfigs'],
      routetable: ['rt', 'routetables'],
    };
    for (const [name, others] of Object.entries(aliases)) {
      const expected = (await get(name, '-A', '-o', 'name')).stdout;
      expect(expected).to.not.equal('');
      for (const other of others)
        expect((await call(['g', other, '-A', '-o', 'name', ...at(server)])).stdout).to.equal(expected);
    }
  });

  it('prints one resource by argument or --name, as JSON, YAML, to apply, or by its name', async () => {
    const json = JSON.parse((await get('upstream', 'carts', '-o', 'json')).stdout) as { metadata: { name: string } }[];
    expect(json.map(({ metadata }) => metadata.name)).to.deep.equal(['carts']);
    expect((await get('upstream', '--name', 'carts', '-o', 'name')).stdout).to.equal('upstream.gw.vendor.io/carts\n');
    const yaml = (await get('upstream', 'front', '-o', 'yaml')).stdout;
    expect(yaml).to.contain('state: 3');
    const kube = (await get('upstream', 'front', '-o', 'kube-yaml')).stdout;
    expect(kube).to.contain('apiVersion: gw.vendor.io/v1').and.contain('state: Warning');
    const many = parseAllDocuments((await get('upstreams', '-o', 'yaml')).stdout);
    expect(many).to.have.length(4);
  });

  it('never prints a secret value', async () => {
    for (const output of ['table', 'wide', 'yaml', 'json', 'kube-yaml']) {
      const { stdout } = await get('authconfigs', '-o', output);
      expect(stdout).to.not.match(/TYiryv0|8BvzLUO9/);
    }
    expect((await get('authconfigs', '-o', 'yaml')).stdout).to.contain('<redacted>');
  });

  it('shows one namespace by default, and names the others', async () => {
    const { stdout, stderr } = await get('routetables');
    expect(stdout).to.contain('ROUTE TABLE');
    expect(stderr).to.equal('No route tables here; there are some in: team-a (-n or -A).\n');
    expect((await get('routetables', '-A', '-o', 'name')).stdout).to.equal('routetable.gateway.vendor.io/team\n');
  });

  it('says that the default gateways are used if there is no Gateway', async () => {
    const directory = createDirectory();
    const { stderr } = await directory.call(['get', 'gateways']);
    directory.remove();
    expect(stderr).to.equal('No gateways here; the default gateways are used.\n');
  });

  it('prints no header of a kind without resources if the terminal is too narrow for it', async () => {
    let printed = '';
    const narrow = (columns: number) => {
      const write = (chunk: Buffer, _encoding: string, done: () => void) => {
        printed += String(chunk);
        done();
      };
      return { stdout: Object.assign(new Writable({ write }), { columns }) };
    };
    const { code, stderr } = await call(['get', 'gateways', '-n', 'team-a', ...at(server)], narrow(60));
    expect({ code, printed }).to.deep.equal({ code: 0, printed: '' });
    expect(stderr).to.match(/^No gateways here; there are some in: /);
    await call(['get', 'gateways', '-n', 'team-a', ...at(server)], narrow(62));
    expect(printed).to.match(/^GATEWAY .*STATUS\n$/);
  });

  it('rejects an empty namespace, with a suggestion', async () => {
    const { code, stderr } = await get('upstreams', '-n', 'team-b');
    expect(code).to.equal(1);
    expect(stderr).to.equal(
      'Error: namespace "team-b" has no resources (did you mean "team-a"?); choose another with -n\n',
    );
  });

  it('rejects a name that is not there, with a suggestion', async () => {
    const { code, stderr } = await get('upstream', 'cart');
    expect(code).to.equal(1);
    expect(stderr).to.equal('Error: upstream "cart" not found in namespace gw-system (did you mean "carts"?)\n');
    expect((await get('routetable', 'team')).stderr).to.equal(
      'Error: routetable "team" not found in namespace gw-system; there is one in team-a (-n)\n',
    );
  });

  it('restricts proxies by what they were made from', async () => {
    expect((await get('proxies', '--edge', '-o', 'name')).stdout).to.equal('proxy.gw.vendor.io/gateway-proxy\n');
    expect((await get('proxies', '--kube', '-o', 'name')).stdout).to.equal('');
  });

  it('requires a subcommand, and suggests one for a mistyped one', async () => {
    const none = await get();
    expect(none).to.include({ code: 2, stdout: '' });
    expect(none.stderr).to.match(/^Error: please provide a subcommand: virtualservice, .*upstream, .*\n$/);
    const { code, stderr } = await get('upstraem');
    expect({ code, stderr }).to.deep.equal({
      code: 2,
      stderr: 'Error: unknown kind "upstraem": did you mean "upstream"? (gatewayctl get --help lists all kinds)\n',
    });
  });

  it('names every kind for a word that is similar to none', async () => {
    const kinds = [...VIEWS.map(({ command }) => command), 'all'].join(', ');
    expect(await get('bogus')).to.deep.equal({
      code: 2,
      stdout: '',
      stderr: `Error: unknown kind "bogus": choose one of ${kinds} (gatewayctl get --help lists all kinds)\n`,
    });
  });

  it('rejects an unknown form of output', async () => {
    const { code, stderr } = await get('upstreams', '-o', 'xml');
    expect(code).to.equal(2);
    expect(stderr.trim().split('\n')).to.have.length(1);
  });
});

describe('get of a server that is not a gateway', () => {
  const answers: Record<string, unknown>[] = [
    { '/snapshots/input': { data: 'text' } },
    { '/snapshots/input': { data: { a: 1 } } },
    { '/snapshots/input': [1, 2] },
    { '/snapshots/input': 'hello' },
  ];
  for (const pages of answers) {
    it(`rejects ${JSON.stringify(pages['/snapshots/input'])}`, async () => {
      const server = await answer(pages);
      const { code, stderr } = await call(['get', 'vs', '--server', server.url]);
      await server.close();
      expect(code).to.equal(1);
      expect(stderr).to.match(/^Error: http:.*\/snapshots\/input is not the response of a gateway; check --server\n$/);
    });
  }

  it('skips what has no kind or name, and survives every wrong type inside a resource', async () => {
    const wrong = [null, 1, 'x', [], {}, { spec: {} }, undefined];
    const data = [
      ...wrong,
      ...[
        'VirtualService',
        'RouteTable',
        'Upstream',
        'UpstreamGroup',
        'Proxy',
        'AuthConfig',
        'RateLimitConfig',
      ].flatMap((kind) =>
        [null, 1, 'x', [], { virtualHost: { routes: [1, null, { matchers: 3 }] }, routes: 'x' }].map((spec, i) => ({
          kind,
          metadata: { name: `${i}`, namespace: 'gw-system' },
          spec,
          status: i,
        })),
      ),
    ];
    const server = await answer({ '/snapshots/input': { data }, '/snapshots/proxies': { data } });
    for (const kind of ['vs', 'rt', 'us', 'ug', 'p', 'ac', 'rlc']) {
      for (const output of ['table', 'json', 'kube-yaml', 'name']) {
        expect(await call(['get', kind, '-o', output, '--server', server.url])).to.include({ code: 0, stderr: '' });
      }
    }
    await server.close();
  });
});
