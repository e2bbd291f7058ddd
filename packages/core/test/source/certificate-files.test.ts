import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { createControlPlane, type ControlPlane } from '../../src/control/control-plane.ts';
import type { ControlPlaneState } from '../../src/control/state.ts';
import { createMetrics, type Metrics } from '../../src/observe/metrics.ts';
import { secretText } from '../../src/contract/snapshot.ts';
import { memorySource } from '../../src/source/memory.ts';
import { fakeTime, type FakeTime } from '../../../../test/parts/fake-time.ts';

const CERTIFICATES = new URL('../../../routing/test/upstream/certificates/', import.meta.url).pathname;
const pem = (name: string): string => readFileSync(join(CERTIFICATES, name), 'utf8');
const KEY = 'VirtualService/gw-system/a';

const service = (dir: string): string => `apiVersion: gateway.vendor.io/v1
kind: VirtualService
metadata: { name: a }
spec:
  sslConfig:
    sslFiles:
      tlsCert: ${join(dir, 'tls.crt')}
      tlsKey: ${join(dir, 'tls.key')}
  virtualHost:
    domains: ['*']
    routes: [{ matchers: [{ prefix: / }], directResponseAction: { status: 200 } }]
`;

function putPair(name: string, dir: string): void {
  for (const ending of ['crt', 'key']) writeFileSync(join(dir, `tls.${ending}`), pem(`${name}.${ending}`));
}

function servedPair(controlPlane: ControlPlane, dir: string): string | undefined {
  const files = { tlsCert: join(dir, 'tls.crt'), tlsKey: join(dir, 'tls.key') };
  const secret = controlPlane.secrets.files!(files);
  return ['server', 'client', 'expired'].find(
    (name) =>
      secretText(secret, 'tls.crt') === pem(`${name}.crt`) && secretText(secret, 'tls.key') === pem(`${name}.key`),
  );
}

const statusOf = (controlPlane: ControlPlane) => controlPlane.state!.statuses.get(KEY)!.statuses['gw-system']!;
const metricOf = (metrics: Metrics, path: string): number =>
  (metrics.list().find(({ name }) => name.path === `certificate_files.${path}`) as any).stat.value;

describe('certificate files of resources', () => {
  let dir: string;
  let metrics: Metrics;
  let controlPlane: ControlPlane;
  let time: FakeTime;
  beforeEach(() => {
    time = fakeTime();
    dir = mkdtempSync(join(tmpdir(), 'certificate-files-'));
    metrics = createMetrics();
  });
  afterEach(async () => {
    await controlPlane.close();
    time.restore();
    rmSync(dir, { recursive: true, force: true });
  });

  const put = (name: string, to = dir): void => putPair(name, to);
  async function start(from = dir) {
    const source = memorySource({ a: service(from) });
    controlPlane = createControlPlane({ source, metrics });
    const revisions: ControlPlaneState[] = [];
    await controlPlane.start();
    controlPlane.subscribe((state) => void revisions.push(state));
    return { source, revisions };
  }
  const served = (from = dir): string | undefined => servedPair(controlPlane, from);
  const status = () => statusOf(controlPlane);
  const metric = (path: string): number => metricOf(metrics, path);

  it('are read with the resource that names them, without a problem if valid', async () => {
    put('server');
    await start();
    expect(served()).to.equal('server');
    expect(status()).to.include({ state: 'Accepted' });
    expect(controlPlane.state!.revision).to.equal(1);
  });

  it('are reported if missing, with file, line and field of the resource', async () => {
    await start();
    expect(served()).to.equal(undefined);
    expect(status().state).to.equal('Rejected');
    expect(status().reason).to.include(`tls.crt cannot be read: no such file`);
    const [issue] = controlPlane.state!.issues;
    expect(issue!.path).to.deep.equal(['spec', 'sslConfig', 'sslFiles', 'tlsCert']);
    expect(issue!.origin).to.include({ file: 'memory:a', line: 7 });
    put('server');
    await time.until(() => served() === 'server');
    await time.until(() => status().state === 'Accepted');
  });

  it('are published again within 5 s when their content is replaced', async () => {
    put('server');
    const { revisions } = await start();
    const { snapshots } = controlPlane.state!;
    put('client');
    await time.until(() => served() === 'client', 5000);
    expect(revisions.at(-1)!.revision).to.equal(2);
    expect(controlPlane.state!.snapshots.get('gateway-proxy')!.version).to.equal(
      snapshots.get('gateway-proxy')!.version,
    );
    expect(metric('update_success')).to.equal(1);
  });

  it('follow links that are swapped, as in a mounted Secret', async () => {
    for (const [version, name] of [
      ['..1', 'server'],
      ['..2', 'client'],
    ] as const) {
      mkdirSync(join(dir, version));
      put(name, join(dir, version));
    }
    symlinkSync('..1', join(dir, '..data'));
    for (const file of ['tls.crt', 'tls.key']) symlinkSync(join('..data', file), join(dir, file));
    const { revisions } = await start();
    expect(served()).to.equal('server');
    symlinkSync('..2', join(dir, '..data_tmp'));
    renameSync(join(dir, '..data_tmp'), join(dir, '..data'));
    rmSync(join(dir, '..1'), { recursive: true });
    await time.until(() => served() === 'client');
    expect(revisions.some(({ issues }) => issues.length > 0)).to.equal(false);
  });

  it('follow a link in a folder above them', async () => {
    for (const name of ['server', 'client']) {
      mkdirSync(join(dir, name));
      put(name, join(dir, name));
    }
    symlinkSync('server', join(dir, 'current'));
    await start(join(dir, 'current'));
    expect(served(join(dir, 'current'))).to.equal('server');
    unlinkSync(join(dir, 'current'));
    symlinkSync('client', join(dir, 'current'));
    await time.until(() => served(join(dir, 'current')) === 'client');
  });

  it('stay available while the last good version of their resource is served', async () => {
    put('server');
    const { source } = await start();
    mkdirSync(join(dir, 'other'));
    put('client', join(dir, 'other'));
    const moved = service(join(dir, 'other'));
    const both = `${moved}---\n${moved.replace('name: a', 'name: b')}`;
    source.set('a', both);
    expect(status().state).to.equal('Rejected');
    expect(status().reason).to.contain('domain');
    source.set('unrelated', service(dir).replace('name: a', 'name: c').replaceAll(dir, '/nowhere'));
    expect(served()).to.equal('server');
  });

  it('are forgotten with the resource', async () => {
    put('server');
    const { source } = await start();
    source.delete('a');
    source.set('other', service(dir).replace('name: a', 'name: b').replaceAll(dir, '/nowhere'));
    expect(served()).to.equal(undefined);
  });
});

describe('certificate files of resources, replaced by invalid content', () => {
  const bad: Record<string, readonly [spoil: (dir: string) => void, message: string]> = {
    'a key of another certificate': [
      (dir) => writeFileSync(join(dir, 'tls.key'), pem('client.key')),
      'does not belong to',
    ],
    'a certificate cut in the middle': [
      (dir) => writeFileSync(join(dir, 'tls.crt'), pem('server.crt').slice(0, 300)),
      'does not contain a readable PEM certificate',
    ],
    'an empty key': [(dir) => writeFileSync(join(dir, 'tls.key'), ''), 'does not contain a readable private key'],
    'a deleted file': [(dir) => unlinkSync(join(dir, 'tls.crt')), 'cannot be read: no such file'],
    'a directory': [
      (dir) => {
        unlinkSync(join(dir, 'tls.key'));
        mkdirSync(join(dir, 'tls.key'));
      },
      'cannot be read: it is a directory',
    ],
    'a link to itself': [
      (dir) => {
        unlinkSync(join(dir, 'tls.crt'));
        symlinkSync('tls.crt', join(dir, 'tls.crt'));
      },
      'too many symbolic links',
    ],
    'a file of 2 MB': [(dir) => writeFileSync(join(dir, 'tls.crt'), 'x'.repeat(2_000_000)), 'it is larger than'],
  };

  let time: FakeTime;
  beforeEach(() => void (time = fakeTime()));
  afterEach(() => time.restore());

  async function keepsContent(spoil: (dir: string) => void, message: string): Promise<void> {
    const dir = mkdtempSync(join(tmpdir(), 'certificate-files-'));
    const metrics = createMetrics();
    const controlPlane = createControlPlane({ source: memorySource({ a: service(dir) }), metrics });
    const status = () => statusOf(controlPlane);
    try {
      putPair('server', dir);
      await controlPlane.start();
      spoil(dir);
      await time.until(() => status().state === 'Warning');
      expect(status().reason).to.include(message).and.to.include('the previous content stays in use');
      expect(status().reason).not.to.include('PRIVATE KEY');
      expect(servedPair(controlPlane, dir)).to.equal('server');
      expect([metricOf(metrics, 'update_rejected'), metricOf(metrics, 'unusable')]).to.deep.equal([1, 1]);
      for (const file of ['tls.crt', 'tls.key']) rmSync(join(dir, file), { recursive: true, force: true });
      putPair('client', dir);
      await time.until(() => servedPair(controlPlane, dir) === 'client' && status().state === 'Accepted');
      await time.until(() => metricOf(metrics, 'unusable') === 0);
    } finally {
      await controlPlane.close();
      rmSync(dir, { recursive: true, force: true });
    }
  }

  for (const [name, [spoil, message]] of Object.entries(bad))
    it(`keep their previous content, with a warning until repaired: ${name}`, () => keepsContent(spoil, message));
});
