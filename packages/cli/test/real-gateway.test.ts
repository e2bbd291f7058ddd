import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  createContext,
  createControlPlane,
  createLoggers,
  directorySource,
  loadSource,
  type ControlPlane,
} from '@edge-gateway/core';
import { expect } from 'chai';
import { until } from '../../../test/parts/until.ts';
import { createControlAdmin, createProxyAdmin, type AdminServer } from '../../admin/src/index.ts';
import { CLIENT_VERSION } from '../src/commands/version.ts';
import { call } from './support/captured-io.ts';
import { start } from './support/process.ts';

const RESOURCES = `apiVersion: gw.vendor.io/v1
kind: Upstream
metadata: { name: echo }
spec: { static: { hosts: [{ addr: 127.0.0.1, port: 8081 }] } }
---
apiVersion: v1
kind: Secret
metadata: { name: token }
type: Opaque
stringData: { token: hunter2 }
---
apiVersion: gateway.vendor.io/v1
kind: VirtualService
metadata: { name: shop }
spec:
  virtualHost:
    domains: ['*']
    routes:
      - matchers: [{ prefix: / }]
        routeAction: { single: { upstream: { name: echo } } }
`;

const BROKEN = ['a', 'b']
  .map(
    (name) => `apiVersion: gateway.vendor.io/v1
kind: VirtualService
metadata: { name: ${name} }
spec:
  virtualHost:
    domains: ['${name}.example']
    optionsConfigRefs: { delegateOptions: [{ name: some-options }] }
    options: { extauth: { configRef: { name: some-auth } } }
    routes:
      - matchers: [{ prefix: / }]
        routeAction: { single: { upstream: { name: lost } } }
`,
  )
  .join('---\n');

describe('gatewayctl with the real admin ports', () => {
  let directory: string;
  let controlPlane: ControlPlane;
  let flags: string[];
  const admins: AdminServer[] = [];
  const log = createLoggers({ destination: { write: () => {} } });

  before(async () => {
    directory = mkdtempSync(join(tmpdir(), 'cli-real-'));
    writeFileSync(join(directory, 'all.yaml'), RESOURCES);
    const context = createContext({ log, secrets: { get: (ref) => controlPlane.state?.secrets.get(ref) } });
    controlPlane = createControlPlane({ source: directorySource(directory, { watch: false }), log: context.log });
    await controlPlane.start();
    const snapshot = () => controlPlane.state?.snapshots.get('gateway-proxy');
    const control = createControlAdmin({
      state: () => controlPlane.state,
      loggers: context.log,
      metrics: context.metrics,
      version: CLIENT_VERSION,
      components: () => [
        { name: 'control-plane', kind: 'control-plane', state: 'ready' },
        { name: 'gateway-proxy', kind: 'proxy', state: 'ready' },
        { name: 'listener-::-8080', kind: 'listener', state: 'ready' },
      ],
    });
    const proxy = createProxyAdmin({
      context,
      snapshot,
      lastUpdated: () => new Date(),
      listeners: () => [{ name: 'listener-::-8080', address: '::', port: 18_080 }],
      readiness: () => 'LIVE',
      info: { version: CLIENT_VERSION, startedAt: Date.now(), commandLineOptions: {} },
    });
    admins.push(control, proxy);
    const ports = [await control.listen(0), await proxy.listen(0)].map(({ port }) => `http://127.0.0.1:${port}`);
    flags = ['--server', ports[0]!, '--proxy-admin', ports[1]!];
  });
  after(async () => {
    await Promise.all(admins.map((admin) => admin.close()));
    await controlPlane.close();
    rmSync(directory, { recursive: true });
  });
  const ask = (...argv: string[]) => call([...argv, ...flags]);

  it('checks it', async () => {
    const { code, stdout, stderr } = await ask('check');
    expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
    expect(stdout).to.match(/Checking Proxies\.\.\. OK\nNo problems detected\.\n$/);
  });

  it('finds the same problems as in its directory, one for each cause', async () => {
    const broken = mkdtempSync(join(tmpdir(), 'cli-broken-'));
    writeFileSync(join(broken, 'broken.yaml'), BROKEN);
    const state = await loadSource(directorySource(broken, { watch: false }));
    const { log: loggers, metrics } = createContext({ log, secrets: { get: () => undefined } });
    const admin = createControlAdmin({
      state: () => state,
      loggers,
      metrics,
      version: CLIENT_VERSION,
      components: () => [],
    });
    const { port } = await admin.listen(0);
    const argv = ['check', '--read-only', '-x', 'deployments,pods'];
    const running = await call([...argv, '--server', `http://127.0.0.1:${port}`]);
    const offline = await call([...argv, '--config', broken]);
    await admin.close();
    rmSync(broken, { recursive: true });
    expect({ running: running.code, offline: offline.code }).to.deep.equal({ running: 1, offline: 1 });
    expect(running.stderr).to.equal(offline.stderr);
    expect(running.stderr.match(/broken\.yaml/g)).to.have.length(3);
    expect(running.stderr.match(/lost \} not found/g)).to.have.length(1);
    expect(running.stderr).to.match(/lost \} not found[^\n]*also VirtualService gw-system\/b/);
    for (const name of ['some-auth', 'some-options']) expect(running.stderr).to.contain(name);
    const total = `${state.issues.length} problems in the configuration, with 3 causes`;
    expect(running.stdout).to.contain(total);
    expect(offline.stdout).to.contain(total);
  });

  it('gets the same from it as from its directory', async () => {
    for (const kind of ['virtualservices', 'upstreams', 'proxies']) {
      const running = await ask('get', kind);
      expect(running).to.include({ code: 0, stderr: '' });
      expect(running.stdout).to.equal((await call(['get', kind, '--config', directory])).stdout);
      expect(running.stdout).to.contain('Accepted');
    }
  });

  it('finds no difference to its directory, and explains a request alike', async () => {
    expect((await ask('diff', directory)).stdout).to.equal('No differences.\n');
    const request = ['explain', 'GET', 'http://a.example/x'];
    expect((await ask(...request)).stdout).to.equal((await call([...request, '-c', directory])).stdout);
  });

  it('prints addresses, dump, statistics, logs and served configuration of the proxy', async () => {
    expect((await ask('proxy', 'url')).stdout).to.equal('http://127.0.0.1:18080\n');
    expect(JSON.parse((await ask('proxy', 'dump')).stdout))
      .to.have.property('configs')
      .with.length.greaterThan(3);
    expect((await ask('proxy', 'stats')).stdout).to.contain(': ');
    log.get('router').info({ token: 'hunter2' }, 'said');
    const logs = await ask('proxy', 'logs');
    expect(logs).to.include({ code: 0, stderr: '' });
    expect(logs.stdout)
      .to.match(/"msg":"said"\}\n$/)
      .and.not.contain('hunter2');
    expect(log.level('router')).to.equal('info');
    expect((await ask('proxy', 'served-config')).stdout).to.match(/^#role: gw-system~gateway-proxy\n/);
  });

  describe('proxy logs -f', () => {
    const debug = (expected: string) => until(() => log.level('router') === expected);
    const following = async (...more: string[]) => {
      const started = start(['proxy', 'logs', '-f', ...more, ...flags]);
      await once(started.child.stdout, 'data');
      return started;
    };

    for (const signal of ['SIGINT', 'SIGTERM', 'SIGKILL'] as const) {
      it(`logs at debug until ${signal}`, async () => {
        log.get('router').info({}, 'before');
        const { child, ended } = await following();
        await debug('debug');
        log.get('router').debug({}, 'in detail');
        await once(child.stdout, 'data');
        child.kill(signal);
        const { code, stdout, stderr } = await ended;
        await debug('info');
        expect(stdout).to.contain('"before"').and.contain('"in detail"');
        expect(stderr).to.contain('is debug until this command ends');
        if (signal === 'SIGKILL') return;
        expect(code).to.equal(0);
        expect(stderr).to.contain('has been restored');
      });
    }

    it('logs at debug until its reader exits', async () => {
      const { child, ended } = await following();
      await debug('debug');
      child.stdout.destroy();
      log.get('router').info({}, 'line without a reader');
      expect((await ended).code).to.equal(0);
      await debug('info');
    });

    it('leaves the level unchanged with --debug false', async () => {
      const { child, ended } = await following('-d', 'false');
      expect(log.level('router')).to.equal('info');
      child.kill('SIGINT');
      expect((await ended).stderr).to.equal('');
    });
  });

  it('reads its version without a warning', async () => {
    const { stdout, stderr } = await ask('version');
    expect(stderr).to.equal('');
    expect(stdout).to.contain(`"Tag": "${CLIENT_VERSION}"`);
  });

  it('never prints a secret value', async () => {
    const calls = [
      ['check', '-o', 'json'],
      ['proxy', 'dump'],
      ['proxy', 'served-config'],
      ['get', 'vs', '-A', '-o', 'yaml'],
    ];
    for (const argv of calls) expect((await ask(...argv)).stdout).to.not.match(/hunter2|aHVudGVyMg/);
  });
});
