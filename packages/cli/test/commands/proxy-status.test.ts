import type { ProxyStatus } from '@edge-gateway/core';
import { expect } from 'chai';
import { parse } from 'yaml';
import { answer, at, recordedAnswers } from '../support/answering-server.ts';
import { call } from '../support/captured-io.ts';

const PROXY: ProxyStatus = {
  node: 'host-1~4711',
  proxy: 'gateway-proxy',
  address: '10.0.0.1:4711',
  version: '7',
  current: true,
  connectedSince: '2026-01-01T00:00:00.000Z',
  lastAck: '2026-01-01T00:00:00.000Z',
  age: 11_105,
};
const NACK = {
  type: 'type.vendor.io/gw.v1.VirtualHost',
  resource: 'listener-::-8080/gw-system.shop',
  field: 'routes[0]',
  message: 'bad regex',
};
const PROXIES: ProxyStatus[] = [
  PROXY,
  { ...PROXY, node: 'host-2~1', age: 3, current: false },
  { ...PROXY, node: 'host-3~1', age: 86_400, nack: NACK, current: false },
  { ...PROXY, node: 'host-4~1', age: 0, version: '', current: false },
];

async function withProxies(argv: readonly string[], proxies: unknown) {
  const server = await answer({ ...recordedAnswers(), '/proxies': proxies });
  const outcome = await call([...argv, ...at(server)]);
  await server.close();
  return outcome;
}
const status = (argv: readonly string[], proxies: unknown = PROXIES) =>
  withProxies(['proxy', 'status', ...argv], proxies);

describe('proxy status', () => {
  it('prints the version of each proxy, its age, and whether it is in sync', async () => {
    const { code, stdout, stderr } = await status([]);
    expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
    expect(stdout).to.equal(
      `\
+---------------+-------------+---------------+---------+------+------------------------------------------------------------------------------------+
| PROXY         | NODE        | ADDRESS       | VERSION | AGE  | STATUS                                                                             |
+---------------+-------------+---------------+---------+------+------------------------------------------------------------------------------------+
| gateway-proxy | host-1~4711 | 10.0.0.1:4711 | 7       | 3h5m | in sync                                                                            |
| gateway-proxy | host-2~1    | 10.0.0.1:4711 | 7       | 3s   | behind                                                                             |
| gateway-proxy | host-3~1    | 10.0.0.1:4711 | 7       | 1d   | NACK: VirtualHost listener-::-8080/gw-system.shop at routes[0]: bad regex          |
| gateway-proxy | host-4~1    | 10.0.0.1:4711 |         | 0s   | waiting for its first version                                                      |
+---------------+-------------+---------------+---------+------+------------------------------------------------------------------------------------+
`
        .replaceAll(/ {9}\|$/gm, '|')
        .replaceAll(/-{9}\+$/gm, '+'),
    );
  });

  it('prints the data, and sets the exit status only when it is asked to', async () => {
    expect(JSON.parse((await status(['-o', 'json'])).stdout)).to.deep.equal(PROXIES);
    expect((await status(['-o', 'yaml'])).stdout).to.match(/^- node: host-1~4711\n/);
    expect((await status(['--exit-code'])).code).to.equal(1);
    expect((await status(['--exit-code'], [PROXY])).code).to.equal(0);
    expect((await status([], [])).stdout).to.match(/\| PROXY \|/);
  });

  it('prints where the field that a proxy rejected is written', async () => {
    const nack = { ...NACK, origin: { file: 'shop.yaml', line: 12, column: 9 } };
    const { stdout } = await status(['-o', 'wide'], [{ ...PROXY, nack }]);
    expect(stdout).to.contain(
      'NACK: VirtualHost listener-::-8080/gw-system.shop at routes[0]: bad regex (shop.yaml:12:9)',
    );
  });

  it('prints what proxies report about their traffic with -o wide', async () => {
    const requests = { name: 'u', requests: 50, clientErrors: 0, serverErrors: 5, p99: 12.345 };
    const traffic = {
      seconds: 10,
      total: requests,
      listeners: [],
      upstreams: [{ ...requests, healthy: 1, unhealthy: 2 }],
      reportedAt: '2026-01-01T00:00:00.000Z',
      isStale: false,
    };
    const idle = { ...traffic, total: { name: '', requests: 0, clientErrors: 0, serverErrors: 0 }, upstreams: [] };
    const { stdout } = await status(
      ['-o', 'wide'],
      [
        { ...PROXY, traffic },
        { ...PROXY, traffic: idle },
        { ...PROXY, traffic: { ...traffic, isStale: true } },
      ],
    );
    const rows = stdout.split('\n').map((line) => line.replaceAll(/ +/g, ' '));
    expect(rows[1]).to.contain('| AGE | REQUESTS/S | 5XX | P99 | UNHEALTHY | STATUS |');
    expect(rows[3]).to.contain('| 5.0 | 10.0 % | 12.3 ms | 2 | in sync |');
    expect(rows[4]).to.contain('| 0.0 | | | 0 | in sync |');
    expect(rows[5]).to.contain('| stale | | | | in sync |');
    expect((await status([], [{ ...PROXY, traffic }])).stdout).to.not.contain('REQUESTS/S');
  });

  it('rejects the response of something else', async () => {
    for (const other of [{}, 'text', [{}], [1]]) expect(await status([], other)).to.include({ code: 1, stdout: '' });
    expect((await withProxies(['proxy', 'status'], undefined)).stderr).to.contain('404');
  });

  it('is part of check', async () => {
    const { code, stdout, stderr } = await withProxies(['check'], PROXIES);
    expect(code).to.equal(1);
    expect(stdout).to.contain('Checking Proxies... 3 Errors!');
    expect(stderr).to.contain('Proxy gateway-proxy of host-2~1 is not in sync: behind');
    expect((await withProxies(['check'], [PROXY])).stdout).to.contain('Checking Proxies... OK');
  });
});

describe('proxy bootstrap', () => {
  const bootstrap = (...argv: string[]) => call(['proxy', 'bootstrap', ...argv]);

  it('prints the command that starts a proxy', async () => {
    expect(await bootstrap('--xds', 'control:9977')).to.deep.equal({
      code: 0,
      stdout: 'edge-gateway proxy --xds control:9977 --proxy-name gateway-proxy --admin-port 19000\n',
      stderr: '',
    });
    const all = ['--xds', '10.0.0.1:1,[::1]:2', '--name', 'other', '--admin-port', '0', '--bind-address', '127.0.0.2'];
    const { stdout } = await bootstrap(
      ...all,
      '--snapshot-file',
      "/var/a b's",
      '--workers',
      'auto',
      '--data-plane',
      'node',
    );
    expect(stdout).to.equal(
      "edge-gateway proxy --xds 10.0.0.1:1,[::1]:2 --proxy-name other --admin-port 0 --bind-address 127.0.0.2 --snapshot-file '/var/a b'\\''s' --workers auto\n",
    );
  });

  it('prints the environment, with TLS', async () => {
    const tls = [
      '--xds-tls-ca',
      'ca.pem',
      '--xds-tls-cert',
      'a.pem',
      '--xds-tls-key',
      'k.pem',
      '--xds-tls-server-name',
      'x',
    ];
    expect((await bootstrap('--xds', 'a:1', ...tls, '-o', 'env')).stdout).to.equal(`GATEWAY_XDS=a:1
GATEWAY_XDS_TLS_CA=ca.pem
GATEWAY_XDS_TLS_CERT=a.pem
GATEWAY_XDS_TLS_KEY=k.pem
GATEWAY_XDS_TLS_SERVER_NAME=x
GATEWAY_PROXY_NAME=gateway-proxy
GATEWAY_ADMIN_PORT=19000
`);
    expect((await bootstrap('--xds', 'a:1', ...tls)).stdout).to.contain(
      '--xds a:1 --xds-tls-ca ca.pem --xds-tls-cert a.pem',
    );
  });

  it('prints the configuration of an Envoy', async () => {
    const { code, stdout } = await bootstrap('--data-plane', 'envoy', '--xds', 'control:9977', '--admin-port', '0');
    expect(code).to.equal(0);
    const {
      node,
      admin,
      cluster_manager: manager,
      dynamic_resources: dynamic,
      static_resources: fixed,
    } = parse(stdout) as any;
    expect(node).to.deep.equal({
      id: 'gateway-proxy',
      cluster: 'gateway-proxy',
      metadata: { role: 'gw-system~gateway-proxy' },
    });
    expect(admin.address.socket_address).to.deep.equal({ address: '127.0.0.1', port_value: 0 });
    expect(dynamic.ads_config).to.include({ api_type: 'DELTA_GRPC' });
    expect(manager.load_stats_config).to.deep.include({
      api_type: 'GRPC',
      grpc_services: [{ envoy_grpc: { cluster_name: fixed.clusters[0].name } }],
    });
    expect(fixed.clusters).to.have.length(1);
    expect(fixed.clusters[0].type).to.equal('STRICT_DNS');
  });

  it('prints the TLS and the control planes of an Envoy in order of preference', async () => {
    const tls = ['--xds-tls-ca', 'ca.pem', '--xds-tls-cert', 'a.pem', '--xds-tls-key', 'k.pem'];
    const args = ['--data-plane', 'envoy', '--xds', '10.0.0.1:1,[::1]:2', '--name', 'other', '--node-id', 'e1'];
    const { stdout } = await bootstrap(...args, ...tls);
    const { node, static_resources: fixed } = parse(stdout) as any;
    expect(node).to.deep.include({ id: 'e1', metadata: { role: 'gw-system~other' } });
    const [cluster] = fixed.clusters;
    const addresses = cluster.load_assignment.endpoints.map((each: any) => [
      each.priority ?? 0,
      each.lb_endpoints[0].endpoint.address.socket_address,
    ]);
    expect(addresses).to.deep.equal([
      [0, { address: '10.0.0.1', port_value: 1 }],
      [1, { address: '::1', port_value: 2 }],
    ]);
    const { common_tls_context: context } = cluster.transport_socket.typed_config;
    expect(context.validation_context.trusted_ca).to.deep.equal({ filename: 'ca.pem' });
    expect(context.validation_context.match_typed_subject_alt_names).to.deep.equal([
      { san_type: 'IP_ADDRESS', matcher: { exact: '10.0.0.1' } },
    ]);
    expect(context.tls_certificates[0].private_key).to.deep.equal({ filename: 'k.pem' });
  });

  for (const [argv, message] of [
    [
      ['--xds', 'a:1', '--xds-tls-ca', 'a', '--xds-tls-key', 'b'],
      '--xds-tls-cert and --xds-tls-key must be used together',
    ],
    [['--xds', 'a:1', '--xds-tls-server-name', 'a'], '--xds-tls-cert and --xds-tls-server-name require --xds-tls-ca'],
    [[], "required option '--xds <addresses>' not specified"],
    [['--xds', 'a'], "--xds: invalid address 'a': write host:port"],
    [['--xds', 'a:1,:2'], "--xds: invalid address ':2': write host:port"],
    [['--xds', 'a:0'], "--xds: invalid address 'a:0': write host:port"],
    [['--xds', '[a]:1'], "--xds: invalid address '[a]:1': write host:port"],
    [['--xds', 'a:1', '--data-plane', 'nginx'], "--data-plane must be node or envoy, not 'nginx'"],
    [['--xds', 'a:1', '--node-id', 'e1'], '--node-id requires --data-plane envoy'],
    [['--xds', 'a:1', '--data-plane', 'envoy', '--workers', '2'], '--workers has no meaning with --data-plane envoy'],
    [
      ['--xds', 'a:1', '--data-plane', 'envoy', '-o', 'env'],
      '-o env has no meaning with --data-plane envoy: an Envoy reads a file',
    ],
    [
      ['--xds', 'a:1', '--data-plane', 'envoy', '--node-id', 'a b'],
      "--node-id must be 1 to 256 visible characters, not 'a b'",
    ],
    [['--xds', 'a:1', '-n', 'a~b'], "--namespace must be the name of a namespace, not 'a~b'"],
    [['--xds', 'a:1', '--admin-port', '65536'], "--admin-port must be a port, not '65536'"],
    [['--xds', 'a:1', '--bind-address', 'host'], "--bind-address must be an IP address, not 'host'"],
    [['--xds', 'a:1', '--workers', '0'], "--workers must be auto or a number between 1 and 256, not '0'"],
    [['--xds', 'a:1', '--workers', '257'], "--workers must be auto or a number between 1 and 256, not '257'"],
  ] as const)
    it(`rejects ${argv.join(' ')}`, async () => {
      expect(await bootstrap(...argv)).to.deep.equal({ code: 2, stdout: '', stderr: `Error: ${message}\n` });
    });
});
