import {
  appendFileSync,
  chmodSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { acceptedFile } from '../../src/control/accepted/accepted-file.ts';
import { createControlPlane, type ControlPlane } from '../../src/control/control-plane.ts';
import { createLoggers } from '../../src/observe/logger.ts';
import { createMetrics } from '../../src/observe/metrics.ts';
import { memorySource, type MemorySource } from '../../src/source/memory.ts';
import type { ResourceCheck } from '../../src/validate/check.ts';
import { upstream } from './upstream.ts';
import { fakeTime, type FakeTime } from '../../../../test/parts/fake-time.ts';

type Resources = Readonly<Record<string, unknown>>;

const service = (name: string, to: string, extra: object = {}, domain = `${name}.example.com`) => ({
  apiVersion: 'gateway.vendor.io/v1',
  kind: 'VirtualService',
  metadata: { name },
  spec: {
    virtualHost: {
      domains: [domain],
      routes: [{ matchers: [{ prefix: '/' }], routeAction: { single: { upstream: { name: to } } } }],
      ...extra,
    },
  },
});
const option = (name: string, value: string) => ({
  apiVersion: 'gateway.vendor.io/v1',
  kind: 'VirtualHostOption',
  metadata: { name },
  spec: { options: { headerManipulation: { responseHeadersToAdd: [{ header: { key: 'x-a', value } }] } } },
});
const secret = (name: string, value: string) => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name },
  type: 'Opaque',
  data: { value: Buffer.from(value).toString('base64') },
});

const GOLDEN = join(import.meta.dirname, '../golden');
const inputs = readdirSync(GOLDEN).filter((file) => file.endsWith('.in.yaml'));

describe('accepted versions of resources', () => {
  let dir: string;
  let path: string;
  let written: { level: number; msg: string; reason?: string }[];
  let time: FakeTime;
  const running: ControlPlane[] = [];
  beforeEach(() => {
    time = fakeTime();
    dir = mkdtempSync(join(tmpdir(), 'accepted-'));
    path = join(dir, 'state', 'resources.accepted');
    written = [];
  });
  afterEach(async () => {
    for (const each of running.splice(0)) await each.close();
    time.restore();
    rmSync(dir, { recursive: true });
  });

  /** A control plane on a source in memory, with the file. */
  async function start(resources: Resources, key?: Uint8Array): Promise<{ plane: ControlPlane; source: MemorySource }> {
    for (const each of running.splice(0)) await each.close();
    const log = createLoggers({ destination: { write: (text: string) => void written.push(JSON.parse(text)) } });
    const source = memorySource(resources);
    const accepted = acceptedFile({ path, key, log: log.get('config'), metrics: createMetrics() });
    const plane = createControlPlane({ source, log, accepted, certificateFiles: false });
    running.push(plane);
    await plane.start();
    return { plane, source };
  }

  /** What a control plane serves and reports. */
  const shown = ({ state }: ControlPlane) => ({
    snapshots: [...state!.snapshots],
    issues: state!.issues.map(({ message }) => message),
    statuses: [...state!.statuses].sort(([a], [b]) => (a < b ? -1 : 1)),
    secrets: [...state!.resources.values()].flatMap(({ kind, spec }) => (kind === 'Secret' ? [spec] : [])),
  });

  /** Applies changes one after the other, and returns what is served in the end, and after a start on the same resources. */
  async function restarted(steps: readonly Resources[], { key }: { key?: Uint8Array } = {}) {
    const [first = {}, ...changes] = steps;
    const { plane, source } = await start(first, key);
    const now = new Map(Object.entries(first));
    for (const change of changes) {
      for (const [unit, resource] of Object.entries(change)) {
        if (resource === null) source.delete(unit);
        else source.set(unit, resource);
        if (resource === null) now.delete(unit);
        else now.set(unit, resource);
      }
    }
    const before = shown(plane);
    await plane.close();
    const { plane: next } = await start(Object.fromEntries(now), key);
    return { before, after: shown(next), next };
  }

  const same = async (...steps: Resources[]) => {
    const { before, after, next } = await restarted(steps);
    expect(after).to.deep.equal(before);
    return next;
  };
  const routeOf = (plane: ControlPlane, i = 0) =>
    plane.state!.snapshots.get('gateway-proxy')!.listeners[0]!.virtualHosts[i]!.routes[0]!.action as any;

  it('are written after the start, which they do not delay', async () => {
    const { plane } = await start({ a: service('a', 'up'), up: upstream('up', 81) });
    expect(existsSync(path)).to.equal(false);
    await plane.close();
    expect(readFileSync(path, 'utf8')).to.include('VirtualService/gw-system/a');
  });

  it('serve a resource that is invalid at the start in its last good version', async () => {
    const plane = await same({ up: upstream('up', 81), s: service('s', 'up') }, { up: upstream('up', 'many') });
    expect(plane.state!.snapshots.get('gateway-proxy')!.upstreams[0]!.endpoints[0]!.port).to.equal(81);
    expect(plane.state!.issues).to.have.lengthOf.greaterThan(0);
  });

  it('include the newest valid version, not only the first', async () => {
    const plane = await same({ up: upstream('up', 81) }, { up: upstream('up', 82) }, { up: upstream('up', 'many') });
    expect(plane.state!.snapshots.get('gateway-proxy')?.upstreams[0]?.endpoints[0]!.port).to.equal(82);
  });

  it('serve the resources of a file that cannot be read at the start', async () => {
    await same({ all: [upstream('up'), service('s', 'up')] }, { all: 'kind: [' });
  });

  it('serve the resources of a file that was renamed, and cannot be read at the start', async () => {
    await same(
      { a: upstream('up') },
      { a: upstream('up', 'many') },
      { b: upstream('up', 'many'), a: null },
      { b: 'kind: [' },
    );
    const { before, after } = await restarted([{ a: upstream('up') }, { a: upstream('up', 'many') }]);
    expect(after).to.deep.equal(before);
    const { plane } = await start({ b: upstream('up', 'many') });
    expect(plane.state!.resources.size).to.equal(1);
    await plane.close();
    const { plane: next } = await start({ b: 'kind: [' });
    expect(next.state!.resources.size).to.equal(1);
  });

  it('keep the destination of a route whose reference broke', async () => {
    const plane = await same({ up: upstream('up'), s: service('s', 'up') }, { s: service('s', 'upp') });
    expect(routeOf(plane).destinations[0].upstream).to.equal('up_gw-system');
  });

  it('respond with 503 where a destination was deleted, and do not restore it', async () => {
    const plane = await same({ up: upstream('up'), s: service('s', 'up') }, { up: null });
    expect(routeOf(plane)).to.include({ type: 'replacement', status: 503 });
  });

  it('keep options whose resource was deleted', async () => {
    const refs = { optionsConfigRefs: { delegateOptions: [{ name: 'o' }] } };
    const plane = await same({ o: option('o', 'one'), up: upstream('up'), s: service('s', 'up', refs) }, { o: null });
    expect(JSON.stringify(plane.state!.snapshots.get('gateway-proxy'))).to.contain('"one"');
  });

  it('keep the virtual host of a virtual service that has a conflict', async () => {
    await same({ up: upstream('up'), a: service('a', 'up') }, { b: service('b', 'up', {}, 'a.example.com') });
    await same({ up: upstream('up'), a: service('a', 'up') }, { a2: service('a', 'up', {}, 'other.example.com') });
  });

  it('repeat several problems in the order in which they began', async () => {
    await same(
      { up: upstream('up', 81), a: service('a', 'up'), b: service('b', 'up') },
      { a: service('a', 'upp') },
      { up2: upstream('up2', 82), b: service('b', 'up2') },
      { a: service('a', 'uppp') },
      { b: service('b', 'up3') },
      { up: upstream('up', 83) },
      { up: upstream('up', 'none') },
      { up2: null },
    );
  });

  it('are forgotten when the resource is removed', async () => {
    const { after } = await restarted([
      { up: upstream('up'), s: service('s', 'up') },
      { s: null },
      { s: { ...service('s', 'up'), spec: 1 } },
    ]);
    expect(JSON.stringify(after.snapshots)).to.not.contain('s.example.com');
    const { plane } = await start({ other: upstream('other', 'none') });
    expect([...plane.state!.resources.keys()]).to.deep.equal([]);
  });

  it('are those of the last start without problems', async () => {
    await restarted([{ up: upstream('up', 81) }, { up: upstream('up', 82) }]);
    const { plane } = await start({ up: upstream('up', 'none') });
    expect((plane.state!.resources.get('Upstream/gw-system/up')!.spec as any).static.hosts[0].port).to.equal(82);
  });

  it('are validated again', async () => {
    await restarted([{ up: upstream('up', 81) }]);
    const text = readFileSync(path, 'utf8');
    expect(text).to.contain('"port":81');
    const log = createLoggers({ destination: { write: () => {} } });
    const source = memorySource({ up: upstream('up', 'none') });
    const check: ResourceCheck = { kind: 'Upstream', check: () => [{ code: 'STATUS', path: [], message: 'no more' }] };
    const accepted = acceptedFile({ path, log: log.get('config'), metrics: createMetrics() });
    const plane = createControlPlane({ source, log, accepted, checks: [check] });
    running.push(plane);
    await plane.start();
    expect(plane.state!.resources.has('Upstream/gw-system/up')).to.equal(false);
  });

  it('do not include Settings without their invalid fields', async () => {
    const settings = (spec: object) => ({
      apiVersion: 'gw.vendor.io/v1',
      kind: 'Settings',
      metadata: { name: 'default' },
      spec,
    });
    const { before, after } = await restarted([
      { s: settings({ devMode: true, gateway: { readGatewaysFromAllNamespaces: 'x' } }) },
    ]);
    expect(after.issues).to.deep.equal(before.issues);
    expect(readFileSync(path, 'utf8')).to.not.contain('devMode');
  });

  for (const file of inputs) {
    const then = file.replace('.in.', '.then.');
    const texts = [file, ...(existsSync(join(GOLDEN, then)) ? [then] : [])].map((name) =>
      readFileSync(join(GOLDEN, name), 'utf8'),
    );
    it(`restore what ${file.replace('.in.yaml', '')} serves`, async () => {
      const steps = [...texts.map((text) => ({ all: text })), { broken: 'kind: [' }];
      const { before, after } = await restarted(steps, { key: new Uint8Array(32) });
      expect(after).to.deep.equal(before);
      if (texts.length > 1) return;
      const plain = await restarted(steps);
      expect(plain.after).to.deep.equal(plain.before);
    });
  }

  describe('with secret values', () => {
    const KEY = new Uint8Array(32).fill(7);
    const VALUE = Buffer.from('a secret value').toString('base64');
    const steps = [{ s: secret('s', 'a secret value') }, { s: { ...secret('s', 'x'), data: { value: '?' } } }];

    it('are restored from encrypted records if there is a key', async () => {
      const { before, after } = await restarted(steps, { key: KEY });
      expect(before.secrets).to.have.lengthOf(1);
      expect(after).to.deep.equal(before);
      expect(readFileSync(path, 'utf8')).to.not.contain(VALUE);
    });

    it('are not saved without a key', async () => {
      const { after } = await restarted(steps);
      expect(after.secrets).to.deep.equal([]);
      expect(readFileSync(path, 'utf8')).to.contain('"omitted":[{"key":"Secret/gw-system/s"').and.not.contain(VALUE);
    });

    it('of other kinds are not saved in clear either', async () => {
      const header = { key: 'authorization', value: 'Bearer abcdef' };
      const options = { headerManipulation: { requestHeadersToAdd: [{ header }] } };
      await restarted([{ up: upstream('up'), s: service('s', 'up', { options }) }]);
      const omitted = '"omitted":[{"key":"VirtualService/gw-system/s"';
      expect(readFileSync(path, 'utf8')).to.contain(omitted).and.not.contain('abcdef');
    });
  });

  describe('in a file that is not usable', () => {
    const steps = [{ up: upstream('up', 81) }, { up: upstream('up', 'none') }];
    const reasons = () =>
      written.flatMap(({ msg, reason }) => (msg === 'file of accepted versions ignored' ? [reason] : []));

    async function restartedAfter(change: (text: string) => string, key?: Uint8Array) {
      const { plane, source } = await start(steps[0]!);
      source.set('up', steps[1]!.up);
      await plane.close();
      writeFileSync(path, change(readFileSync(path, 'utf8')));
      const { plane: next } = await start(steps[1]!, key);
      return next;
    }

    for (const [what, change, reason] of [
      ['is empty', () => '', 'is damaged, or not a file of accepted resources'],
      ['is something else', () => 'kind: Upstream\n', 'is damaged, or not a file of accepted resources'],
      ['was changed', (text: string) => text.replace('81', '82'), 'is damaged: the digest of line 2 does not match'],
      [
        'lacks a line',
        (text: string) => text.replace(/\n.*\n/, '\n') + 'x y\n',
        'is damaged: the digest of line 2 does not match',
      ],
      [
        'was written by a newer version',
        (text: string) => text.replace('resources 1', 'resources 2'),
        'was written by a newer version of the gateway (format 2, this version reads 1)',
      ],
    ] as const) {
      it(`start without it if it ${what}`, async () => {
        const plane = await restartedAfter(change);
        expect(reasons()).to.deep.equal([reason]);
        expect(plane.state!.resources.size).to.equal(0);
        await plane.close();
        expect(statSync(path).mode & 0o777).to.equal(0o600);
      });
    }

    it('start without it if it is not authenticated, or authenticated with another key', async () => {
      await restartedAfter((text) => text, new Uint8Array(32));
      expect(reasons()).to.deep.equal(['was written without a key, so that it cannot be authenticated']);
      const { plane: first } = await start(steps[0]!, new Uint8Array(32));
      await first.close();
      const { plane } = await start(steps[1]!, new Uint8Array(32).fill(1));
      expect(reasons()[1]).to.equal(
        'is damaged: the digest of line 2 does not match, or --snapshot-key-file is another key',
      );
      await plane.close();
      await start(steps[1]!);
      expect(reasons()[2]).to.equal('was written with a key: --snapshot-key-file is not set');
    });

    it('start without it if other users may have written it', async () => {
      const { plane } = await start(steps[0]!);
      await plane.close();
      expect(statSync(path).mode & 0o777).to.equal(0o600);
      chmodSync(path, 0o620);
      await start(steps[1]!);
      expect(reasons()).to.deep.equal([
        'can be written by other users (mode 0620): remove it, or set its mode to 0600',
      ]);
    });

    it('use it up to an interrupted write', async () => {
      const { plane } = await start(steps[0]!);
      await plane.close();
      appendFileSync(path, 'abc {"put":[');
      const { plane: next } = await start(steps[1]!);
      expect(next.state!.resources.size).to.equal(1);
      expect(written.map(({ msg }) => msg)).to.include('the last write of the accepted versions was interrupted');
    });
  });

  it('are saved again when the directory can be written', async () => {
    path = join(dir, 'file', 'resources.accepted');
    writeFileSync(join(dir, 'file'), '');
    const { plane, source } = await start({ up: upstream('up', 81) });
    await time.until(() => written.some(({ msg }) => msg.startsWith('failed to save')));
    source.set('up', upstream('up', 82));
    expect(plane.state!.revision).to.equal(2);
    rmSync(join(dir, 'file'));
    await time.until(() => existsSync(path));
    await plane.close();
    expect(written.filter(({ msg }) => msg.startsWith('failed to save'))).to.have.lengthOf(1);
    const { plane: next } = await start({ up: upstream('up', 'none') });
    expect((next.state!.resources.get('Upstream/gw-system/up')!.spec as any).static.hosts[0].port).to.equal(82);
  });

  it('include a state at the end of the file on which what is served depends', async () => {
    const { plane, source } = await start({ up: upstream('up'), s: service('s', 'up') });
    await time.until(() => existsSync(path));
    source.set('s', service('s', 'missing'));
    const before = shown(plane);
    await plane.close();
    expect(readFileSync(path, 'utf8')).to.include('{"keep":true}');
    const { plane: next } = await start({ up: upstream('up'), s: service('s', 'missing') });
    expect(shown(next)).to.deep.equal(before);
    expect(routeOf(next).destinations[0].upstream).to.equal('up_gw-system');
  });

  it('are written anew if another process has changed the file', async () => {
    const { plane, source } = await start({ up: upstream('up', 81) });
    await time.until(() => existsSync(path));
    appendFileSync(path, 'line\n'.repeat(2_000));
    source.set('up', upstream('up', 82));
    await plane.close();
    const { plane: next } = await start({ up: upstream('up', 'none') });
    expect((next.state!.resources.get('Upstream/gw-system/up')!.spec as any).static.hosts[0].port).to.equal(82);
    expect(written.map(({ msg }) => msg)).not.to.include('file of accepted versions ignored');
  });

  for (const [what, change] of [
    [
      'a symbolic link to another file',
      (target: string) => {
        renameSync(path, target);
        symlinkSync(target, path);
      },
    ],
    ['a second link to the file', (target: string) => linkSync(path, target)],
    ['a file that other users can write', () => chmodSync(path, 0o666)],
  ] as const) {
    it(`are written anew instead of appended to ${what}`, async () => {
      const { plane, source } = await start({ up: upstream('up', 81) });
      await time.until(() => existsSync(path));
      const target = join(dir, 'target');
      change(target);
      const before = existsSync(target) && readFileSync(target, 'utf8');
      source.set('up', upstream('up', 82));
      await plane.close();
      expect(existsSync(target) && readFileSync(target, 'utf8')).to.equal(before);
      const { mode, nlink } = lstatSync(path);
      expect([mode & 0o777, nlink, lstatSync(path).isFile()]).to.deep.equal([0o600, 1, true]);
      expect(readFileSync(path, 'utf8')).to.contain('82').and.not.contain('81');
    });
  }

  it('are removed if newer ones cannot be written', async () => {
    const { source } = await start({ up: upstream('up', 81) });
    await time.until(() => existsSync(path));
    // Prevents the file from being replaced, which it has to be after a foreign change.
    mkdirSync(`${path}.${process.pid}.tmp`);
    appendFileSync(path, 'line\n');
    source.set('up', upstream('up', 82));
    await time.until(() => !existsSync(path));
    await time.until(() => written.some(({ msg }) => msg.startsWith('failed to save')));
  });

  it('do not grow with the number of changes', async () => {
    const { plane, source } = await start({ a: upstream('a', 1), b: upstream('b', 1) });
    const padding = 'x'.repeat(100_000);
    for (let i = 1; i <= 60; i++) {
      source.set('a', { ...upstream('a', i), metadata: { name: 'a', annotations: { padding } } });
      const expected = `"port":${i}}`;
      await time.until(() => existsSync(path) && readFileSync(path, 'utf8').includes(expected));
    }
    expect(statSync(path).size).to.be.lessThan(2_500_000);
    source.set('a', upstream('a', 'none'));
    const before = shown(plane);
    await plane.close();
    const { plane: next } = await start({ a: upstream('a', 'none'), b: upstream('b', 1) });
    expect(shown(next)).to.deep.equal(before);
  });
});
