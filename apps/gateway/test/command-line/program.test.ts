import { expect } from 'chai';
import { createProgram } from '../../src/command-line/program.ts';
import type { RoleSettings } from '../../src/command-line/role.ts';

describe('the command line of edge-gateway', () => {
  const variable = process.env['GATEWAY_CONFIG'];
  before(() => void delete process.env['GATEWAY_CONFIG']);
  after(() => {
    if (variable !== undefined) process.env['GATEWAY_CONFIG'] = variable;
  });

  /** What a call prints as its error, or the settings it runs with. */
  async function call(...argv: string[]): Promise<string | RoleSettings> {
    let settings: RoleSettings | undefined;
    let printed = '';
    const program = createProgram(async (given) => void (settings = given));
    for (const command of [program, ...program.commands]) {
      command.exitOverride().configureOutput({
        writeErr: (text) => void (printed += text),
        writeOut: (text) => void (printed += text),
      });
    }
    try {
      await program.parseAsync(argv, { from: 'user' });
    } catch (error) {
      expect(error).to.have.property('exitCode', argv.includes('--help') ? 0 : 1);
    }
    return settings ?? printed;
  }

  it('suggests a flag for an unknown one, before it requires --config', async () => {
    expect(await call('--http-prt', '1')).to.equal("Error: unknown option '--http-prt' (did you mean --http-port?)\n");
    expect(await call('--bogus')).to.equal("Error: unknown option '--bogus' (see --help)\n");
  });

  it('requires --config', async () => {
    expect(await call()).to.equal("Error: required option '--config <dir>' not specified\n");
  });

  it('accepts the name of a namespace, which is gw-system by default', async () => {
    expect(await call('--config', 'resources')).to.include({ namespace: 'gw-system' });
    for (const role of [['control-plane'], ['extauth'], ['rate-limit']])
      expect(await call(...role, '--config', 'resources', '--namespace', 'edge')).to.include({ namespace: 'edge' });
    expect(await call('proxy', '--xds', '127.0.0.1:1', '--namespace', 'edge')).to.include({ namespace: 'edge' });
    for (const wrong of ['', 'Edge', 'a/b', 'a'.repeat(64), '-a'])
      expect(await call('--config', 'resources', '--namespace', wrong), wrong).to.contain('a namespace has at most 63');
  });

  it('requires all files of TLS from Envoys to the servers that they call', async () => {
    const role = (...argv: string[]) => call('control-plane', '--config', 'resources', ...argv);
    const [ca, cert, key] = ['ca', 'cert', 'key'].map((name) => [`--envoy-services-${name}`, `/${name}.pem`] as const);
    const server = ['--envoy-extauth', 'extauth:8083'];
    expect(await role(...ca!)).to.contain('--envoy-services-ca requires --envoy-extauth or --envoy-rate-limit');
    for (const wrong of [
      [...ca!, ...cert!],
      [...ca!, ...key!],
      [...cert!, ...key!],
    ])
      expect(await role(...server, ...wrong)).to.contain('require each other and --envoy-services-ca');
    expect(await role(...server, ...ca!)).to.include({ envoyServicesCa: '/ca.pem' });
    expect(await role(...server, ...ca!, ...cert!, ...key!)).to.include({ envoyServicesKey: '/key.pem' });
  });

  it('rejects an unknown access log policy, and defaults to drop', async () => {
    expect(await call('--config', 'resources', '--access-log-overflow', 'wait')).to.contain(
      'Allowed choices are drop, block.',
    );
    expect(await call('--config', 'resources', '--access-log-overflow', 'block')).to.include({
      accessLogOverflow: 'block',
    });
    expect(await call('--config', 'resources')).to.include({ accessLogOverflow: 'drop' });
  });

  it('rejects an unknown parser of HTTP/1.1, and defaults to plain', async () => {
    expect(await call('--config', 'resources', '--http1-parser', 'fast')).to.contain(
      'Allowed choices are plain, node.',
    );
    expect(await call('--config', 'resources', '--http1-parser', 'node')).to.include({ http1Parser: 'node' });
    expect(await call('--config', 'resources')).to.include({ http1Parser: 'plain' });
  });

  it('rejects an unknown client of HTTP/2, and defaults to direct', async () => {
    expect(await call('--config', 'resources', '--http2-client', 'fast')).to.contain(
      'Allowed choices are direct, node.',
    );
    expect(await call('--config', 'resources', '--http2-client', 'node')).to.include({ http2Client: 'node' });
    expect(await call('--config', 'resources')).to.include({ http2Client: 'direct' });
  });

  it('hides options that are not supported yet, and rejects them', async () => {
    const help = createProgram(async () => {}).helpInformation();
    for (const hidden of ['Arguments', '--kubernetes']) expect(help).not.to.include(hidden);
    expect(await call('--config', 'resources', '--kubernetes')).to.match(/^Error: --kubernetes is not supported yet: /);
    for (const argv of [['all'], ['--workers', '1']]) {
      expect(await call('--config', 'resources', ...argv)).to.include({ config: 'resources' });
    }
  });

  it('accepts the flags of the role discovery, which needs a cluster', async () => {
    expect(await call('discovery', '--kubeconfig', 'k', '--stats-port', '0')).to.include({
      kubeconfig: 'k',
      statsPort: 0,
    });
    expect(await call('discovery')).to.equal("Error: required option '--kubernetes' not specified\n");
    expect(await call('discovery', '--config', 'resources')).to.contain('unknown option');
    expect(await call('control-plane', '--kubernetes')).to.include({ discovery: true });
    expect(await call('control-plane', '--kubernetes', '--no-discovery')).to.include({ discovery: false });
  });

  it('accepts the flags of the roles control-plane and proxy', async () => {
    const controlPlane = await call('control-plane', '--config', 'resources', '--xds-port', '0');
    expect(controlPlane).to.include({ xdsPort: 0, statsPort: 9091, httpPort: 8080, xdsAddress: '127.0.0.1' });
    expect(await call('control-plane', '--xds-port', '0')).to.equal(
      "Error: required option '--config <dir>' or '--kubernetes' not specified\n",
    );
    const proxy = await call('proxy', '--xds', 'cp-1:9977,[::1]:9978', '--bind-address', '127.0.0.1');
    expect(proxy).to.deep.include({
      xds: [
        { host: 'cp-1', port: 9977 },
        { host: '::1', port: 9978 },
      ],
      bindAddress: '127.0.0.1',
      adminPort: 19_000,
      workers: 1,
    });
    expect(await call('proxy')).to.equal("Error: required option '--xds <addresses>' not specified\n");
    expect(await call('proxy', '--xds', 'cp-1:9977', '--xds', 'cp-2:9977')).to.contain(
      'the flag is repeated: separate its values by commas',
    );
    expect(await call('proxy', '--xds', 'nowhere'))
      .to.contain('the address must be host:port, or [address]:port for IPv6, not "nowhere"')
      .and.not.match(/invalid.*invalid/);
    expect(await call('proxy', '--xds', 'a:1', '--bind-address', 'b')).to.contain('an IP address');
    expect(await call('proxy', '--xds', 'a:1', '--config', 'x')).to.contain("unknown option '--config'");
    expect(await call('proxy', '--xds', 'a:1', '--proxy-protocol-from', '10.0.0.0/8,10.0.0.0/33')).to.contain(
      "'10.0.0.0/33' is neither an address nor a CIDR range such as 10.0.0.0/8",
    );
  });

  it('reads the resources of the control plane from a directory or a cluster', async () => {
    expect(await call('control-plane', '--kubernetes')).to.include({ kubernetes: true });
    const chosen = await call('control-plane', '--kubeconfig', 'file', '--context', 'dev');
    expect(chosen).to.include({ kubeconfig: 'file', context: 'dev' });
    expect(await call('control-plane', '--config', 'resources', '--kubernetes')).to.equal(
      'Error: --config and --kubernetes exclude each other\n',
    );
    expect(await call('control-plane', '--config', 'resources', '--context', 'dev')).to.equal(
      'Error: --context requires --kubernetes, not --config\n',
    );
  });

  it('rejects addresses of services beside Envoys with the form that they must have', async () => {
    const rejected = (...given: string[]) => call('control-plane', '--config', 'resources', ...given);
    expect(await rejected('--envoy-extauth', 'nowhere')).to.contain('must be host:port');
    expect(await rejected('--envoy-rate-limit', 'a:1,b:2')).to.contain('only one address is allowed');
    expect(await rejected('--envoy-node-proxies', 'a:80')).to.contain(
      'must be a DNS name or an IP address, without a port, not "a:80"',
    );
  });

  it('accepts names of client certificates of proxies, which need a CA', async () => {
    const named = (names: string, ...more: string[]) =>
      call('control-plane', '--config', 'resources', '--xds-client-names', names, ...more);
    const accepted = await named('{proxy}.{namespace}.svc', '--xds-tls-client-ca', 'ca.crt');
    expect(accepted).to.have.nested.property('xdsClientNames[0].kind', 'DNS');
    expect(await named('{proxy}')).to.equal('Error: --xds-client-names requires --xds-tls-client-ca\n');
    expect(await named('gateway-proxy', '--xds-tls-client-ca', 'ca.crt')).to.contain(
      'invalid name "gateway-proxy": {proxy} is required once',
    );
  });

  it('rejects flags of the webhook that would have no effect', async () => {
    const rejected = (...given: string[]) => call('control-plane', ...given);
    expect(await rejected('--kubernetes', '--validation-client-ca', 'ca.crt')).to.equal(
      'Error: --validation-client-ca requires --validation-port\n',
    );
    expect(await rejected('--config', 'resources', '--validation-port', '8443')).to.equal(
      'Error: --validation-port requires --kubernetes, not --config\n',
    );
  });

  it('accepts levels of single loggers in every role, and rejects unknown loggers and levels', async () => {
    const levels = [
      { name: 'grpc', level: 'debug' },
      { name: 'ext_authz', level: 'warn' },
    ];
    const given = ['--component-log-level', 'grpc:debug,ext_authz:warning'];
    const roles = [
      ['--config', 'r'],
      ['control-plane', '--config', 'r'],
      ['proxy', '--xds', 'a:1'],
      ['extauth', '--config', 'r'],
      ['rate-limit', '--config', 'r'],
    ];
    for (const role of roles) {
      expect(await call(...role, ...given)).to.deep.include({ componentLogLevel: levels, logLevel: 'info' });
    }
    for (const [text, error] of [
      ['nobody:debug', "unknown logger name in 'nobody:debug'; loggers: admin, client"],
      ['grpc', "unknown logger level in 'grpc'; levels: trace, debug"],
      ['grpc:loud', "unknown logger level in 'grpc:loud'"],
      ['grpc:debug:info', "unknown logger level in 'grpc:debug:info'"],
    ] as const) {
      expect(await call('--config', 'r', '--component-log-level', text)).to.contain(error);
    }
  });

  it('opens the ports for scrapers and readers of a proxy only on request', async () => {
    const all = await call('--config', 'r', '--metrics-port', '8081', '--read-config-port', '8082');
    expect(all).to.include({ metricsPort: 8081, readConfigPort: 8082, readOnlyAddress: '127.0.0.1' });
    expect(await call('proxy', '--xds', 'a:1')).not.to.have.any.keys('metricsPort', 'readConfigPort');
    expect(await call('control-plane', '--config', 'r', '--metrics-port', '1')).to.contain(
      "unknown option '--metrics-port'",
    );
    expect(await call('proxy', '--xds', 'a:1', '--metrics-port', '19000')).to.equal(
      'Error: --admin-port and --metrics-port are both 19000: choose different ports\n',
    );
  });

  it('rejects one port for two flags', async () => {
    expect(await call('--config', 'resources', '--stats-port', '8080')).to.equal(
      'Error: --http-port and --stats-port are both 8080: choose different ports\n',
    );
  });

  it('applies its flags', async () => {
    expect(await call('--config', 'resources', '--http-port', '0')).to.include({ config: 'resources', httpPort: 0 });
  });

  it('accepts the flags of the role rate-limit', async () => {
    const settings = await call('rate-limit', '--config', 'resources', '--grpc-port', '0');
    expect(settings).to.include({ grpcPort: 0, httpPort: 18_080, statsPort: 9091, address: '127.0.0.1' });
    expect(settings).not.to.have.any.keys('tlsCert', 'adminPort');
    expect(await call('rate-limit', '--config', 'resources', '--http-port', '18081')).to.equal(
      'Error: --grpc-port and --http-port are both 18081: choose different ports\n',
    );
    expect(await call('rate-limit', '--config', 'resources', '--grpc-port', 'x')).to.include('between 0 and 65535');
  });

  it('rejects unknown roles', async () => {
    expect(await call('--config', 'resources', 'cache')).to.match(
      /^Error: unknown role 'cache': the roles are all, control-plane, proxy, discovery, extauth, rate-limit/,
    );
    for (const flags of [[], ['--xds', 'localhost:9977'], ['--config', 'resources']])
      expect(await call('proxi', ...flags)).to.equal("Error: unknown role 'proxi' (did you mean proxy?)\n");
    expect(await call('cache', '--nothing')).to.match(/^Error: unknown role 'cache': the roles are all, /);
    expect(await call('all', 'all')).to.match(/^Error: too many arguments/);
  });

  it('rejects flags before a role, which would be ignored', async () => {
    expect(await call('--config', 'resources', 'rate-limit', '--config', 'others')).to.equal(
      'Error: --config must follow the role: write edge-gateway rate-limit --config <dir>\n',
    );
  });

  it('accepts flags before and after the role all', async () => {
    expect(await call('--config', 'resources', 'all', '--http-port', '0')).to.include({
      config: 'resources',
      httpPort: 0,
    });
  });

  it('prints the help of a role with only its flags', async () => {
    const help = await call('rate-limit', '--help');
    expect(help).to.include('Usage: edge-gateway rate-limit [options]').and.include('--stats-port');
    expect(help).not.to.include('--https-port').and.not.include('--proxy-name');
    expect(await call('rate-limit', '--https-port', '1')).to.equal(
      "Error: unknown option '--https-port' (did you mean --http-port?)\n",
    );
  });

  it('accepts the flags of the role extauth, and opens no HTTP port by default', async () => {
    const settings = await call('extauth', '--config', 'resources', '--grpc-port', '0');
    expect(settings).to.include({ config: 'resources', grpcPort: 0, address: '127.0.0.1', statsPort: 9091 });
    expect(settings).not.to.have.any.keys('httpPort', 'tlsCert', 'adminPort');
    expect(await call('extauth', '--config', 'resources', '--http-port', '8083')).to.equal(
      'Error: --grpc-port and --http-port are both 8083: choose different ports\n',
    );
    expect(await call('extauth', '--config', 'resources', '--http-port', 'x')).to.include('between 0 and 65535');
  });
});
