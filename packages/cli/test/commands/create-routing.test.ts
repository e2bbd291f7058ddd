import { expect } from 'chai';
import { parse } from 'yaml';
import { createDirectory, SHOP, type ResourceDirectory } from '../support/directory.ts';
import { call } from '../support/captured-io.ts';

describe('create virtualservice, upstream and upstreamgroup', () => {
  let directory: ResourceDirectory;
  beforeEach(() => {
    directory = createDirectory();
    directory.write('shop.yaml', SHOP.replace("'*'", 'shop.example'));
  });
  afterEach(() => directory.remove());
  const create = (...argv: string[]) => directory.call(['create', ...argv]);
  /** The resource that a call prints with `--dry-run`. */
  async function printed(...argv: string[]): Promise<any> {
    const { code, stdout, stderr } = await create(...argv, '--dry-run');
    expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
    return parse(stdout);
  }

  it('creates a virtual service', async () => {
    const { code, stdout, stderr } = await create('virtualservice', 'admin', '--domains', 'admin.example, a.example');
    expect({ code, stderr }).to.deep.equal({
      code: 0,
      stderr: 'VirtualService gw-system/admin: resources/virtualservice-gw-system-admin.yaml\n',
    });
    expect(stdout).to.contain('| admin           | admin        | admin.example, a.example | none |');
    expect(directory.read('virtualservice-gw-system-admin.yaml')).to.equal(`\
apiVersion: gateway.vendor.io/v1
kind: VirtualService
metadata:
  name: admin
  namespace: gw-system
spec:
  displayName: admin
  virtualHost:
    domains:
      - admin.example
      - a.example
`);
  });

  it('prints the status that a gateway would set', async () => {
    const statusOf = (text: string) => /Accepted|Pending|Warning|Rejected/.exec(text)?.[0];
    const upstream = ['upstream', 'static', 'mine', '--static-hosts', '10.0.0.1:80'];
    expect(statusOf((await create(...upstream)).stdout)).to.equal('Accepted');
    expect(statusOf((await create('vs', 'mine', '--domains', 'mine.example')).stdout)).to.equal('Accepted');
    // The domain belongs to another virtual service.
    const contested = await create('vs', 'rival', '--domains', 'shop.example', '--force');
    expect(statusOf(contested.stdout)).to.equal('Rejected');
    expect(statusOf((await create(...upstream, '--dry-run', '-o', 'table')).stdout)).to.equal('Pending');
  });

  it('reads every flag', async () => {
    expect((await printed('vs', '--name', 'x')).spec).to.deep.equal({
      displayName: 'x',
      virtualHost: { domains: ['*'] },
    });
    const limited = await printed('vs', 'x', '--display-name', 'X', '--enable-rate-limiting');
    expect(limited.spec).to.deep.equal({
      displayName: 'X',
      virtualHost: {
        domains: ['*'],
        options: { ratelimitBasic: { anonymousLimits: { requestsPerUnit: 100, unit: 'MINUTE' } } },
      },
    });
    const argv = ['--enable-rate-limiting', '--rate-limit-time-unit', 'hour', '--rate-limit-requests', '5'];
    expect((await printed('vs', 'x', ...argv)).spec.virtualHost.options.ratelimitBasic).to.deep.equal({
      anonymousLimits: { requestsPerUnit: 5, unit: 'HOUR' },
    });
    expect((await printed('upstream', 'static', 'u', '--static-hosts', 'a,b:81,[::1]:82')).spec).to.deep.equal({
      static: {
        hosts: [
          { addr: 'a', port: 80 },
          { addr: 'b', port: 81 },
          { addr: '::1', port: 82 },
        ],
      },
    });
    const tls = ['--static-hosts', 'a:443', '--static-outbound-tls', '--service-spec-type', 'rest'];
    expect((await printed('us', 'static', 'u', ...tls)).spec.static).to.deep.equal({
      hosts: [{ addr: 'a', port: 443 }],
      useTls: true,
      serviceSpec: { rest: {} },
    });
    const group = await printed(
      'upstreamgroup',
      'g',
      '--weighted-upstreams',
      'gw-system.cart=3,gw-system.cart=0,gw-system.cart=x,gw-system.cart',
    );
    const destination = { upstream: { name: 'cart', namespace: 'gw-system' } };
    expect(group.spec.destinations).to.deep.equal([3, 1, 1, 1].map((weight) => ({ destination, weight })));
  });

  it('does not write a resource that would make others invalid', async () => {
    const { code, stderr } = await create('vs', 'again', '--domains', 'shop.example');
    expect(code).to.equal(1);
    expect(stderr).to.match(
      /the change was not written[^]*virtualservice-gw-system-again\.yaml:\d+:\d+ .*shop\.example/,
    );
    expect(directory.names()).to.deep.equal(['shop.yaml']);
  });

  for (const [argv, code, message] of [
    [['vs'], 2, 'missing name: pass it as argument or with --name'],
    [['vs', 'x', '--rate-limit-requests', '1'], 2, '--rate-limit-requests requires --enable-rate-limiting'],
    [['vs', 'x', '--rate-limit-time-unit', 'DAY'], 2, '--rate-limit-time-unit requires --enable-rate-limiting'],
    [
      ['vs', 'x', '--enable-rate-limiting', '--rate-limit-requests', '-1'],
      2,
      "--rate-limit-requests must be a number from 0, not '-1'",
    ],
    [
      ['vs', 'x', '--enable-rate-limiting', '--rate-limit-time-unit', 'EON'],
      2,
      '--rate-limit-time-unit must be one of SECOND, MINUTE',
    ],
    [['vs', 'x', '--domains', ''], 2, 'missing --domains'],
    [['upstream'], 2, 'please provide a subcommand: static'],
    [['upstream', 'static', 'u'], 2, 'missing --static-hosts'],
    [['upstream', 'static', 'u', '--static-hosts', 'a:1:2'], 2, "--static-hosts: invalid host 'a:1:2'"],
    [['upstream', 'static', 'u', '--static-hosts', 'a:0'], 2, "--static-hosts: invalid host 'a:0'"],
    [['upstream', 'static', 'u', '--static-hosts', 'a:65536'], 2, "--static-hosts: invalid host 'a:65536'"],
    [['upstream', 'static', 'u', '--static-hosts', 'a,'], 2, "--static-hosts: invalid host ''"],
    [
      ['upstream', 'static', 'u', '--static-hosts', 'a', '--service-spec-type', 'soap'],
      2,
      "--service-spec-type must be rest or grpc, not 'soap'",
    ],
    [['ug', 'g'], 2, 'missing --weighted-upstreams: at least one upstream is required'],
    [
      ['ug', 'g', '--weighted-upstreams', 'cart=1'],
      2,
      "--weighted-upstreams must have the form namespace.name=weight, not 'cart=1'",
    ],
    [
      ['ug', 'g', '--weighted-upstreams', 'gw-system.none=1'],
      1,
      '--weighted-upstreams: Upstream gw-system/none not found in resources',
    ],
  ] as const)
    it(`rejects create ${argv.join(' ')}`, async () => {
      const outcome = await create(...argv);
      expect(outcome).to.include({ code, stdout: '' });
      expect(outcome.stderr).to.contain(`Error: ${message}`);
      expect(directory.names()).to.deep.equal(['shop.yaml']);
    });

  it('prints an upstream group without a directory', async () => {
    const argv = ['create', 'ug', 'g', '--weighted-upstreams', 'gw-system.none=1', '--dry-run'];
    expect((await call(argv, { cwd: directory.cwd })).code).to.equal(0);
  });
});
