import { expect } from 'chai';
import { createControlPlane, type ControlPlane } from '../../src/control/control-plane.ts';
import { watchedNamespaces } from '../../src/control/watched-namespaces.ts';
import { createLoggers } from '../../src/observe/logger.ts';
import type { SettingsSpec } from '../../src/schema/kind/settings.ts';
import { memorySource } from '../../src/source/memory.ts';

const selected = (spec: SettingsSpec, labels: Record<string, Record<string, string>> = {}): string[] => {
  const isWatched = watchedNamespaces(spec);
  return ['gw-system', 'infra', 'team-a', 'team-b'].filter((name) => isWatched?.(name, labels[name] ?? {}) ?? true);
};
const ALL = ['gw-system', 'infra', 'team-a', 'team-b'];
const LABELS = { infra: { tier: 'base' }, 'team-a': { tier: 'app', old: '' }, 'team-b': { tier: 'app' } };

describe('watchedNamespaces', () => {
  it('selects all namespaces by default, and for an empty name', () => {
    expect(watchedNamespaces({})).to.equal(undefined);
    expect(watchedNamespaces({ watchNamespaces: [], watchNamespaceSelectors: [] })).to.equal(undefined);
    expect(selected({ watchNamespaces: ['team-a', ''] })).to.deep.equal(ALL);
  });

  it('selects names and the write namespace', () => {
    expect(selected({ watchNamespaces: ['team-a'] })).to.deep.equal(['gw-system', 'team-a']);
    expect(selected({ watchNamespaces: ['team-a'], discoveryNamespace: 'infra' })).to.deep.equal(['infra', 'team-a']);
  });

  it('selects labels: of any selector, and all conditions of it', () => {
    const select = (...watchNamespaceSelectors: NonNullable<SettingsSpec['watchNamespaceSelectors']>): string[] =>
      selected({ watchNamespaceSelectors }, LABELS);
    expect(select({ matchLabels: { tier: 'app' } })).to.deep.equal(['gw-system', 'team-a', 'team-b']);
    const isNew = { key: 'old', operator: 'DoesNotExist' } as const;
    expect(select({ matchLabels: { tier: 'app' }, matchExpressions: [isNew] })).to.deep.equal(['gw-system', 'team-b']);
    expect(
      select({ matchExpressions: [{ key: 'old', operator: 'Exists' }] }, { matchLabels: { tier: 'base' } }),
    ).to.eql(['gw-system', 'infra', 'team-a']);
    expect(select({ matchExpressions: [{ key: 'tier', operator: 'NotIn', values: ['app'] }] })).to.deep.equal([
      'gw-system',
      'infra',
    ]);
    expect(select({})).to.deep.equal(ALL);
  });

  it('prefers names to labels', () => {
    const spec = { watchNamespaces: ['team-b'], watchNamespaceSelectors: [{ matchLabels: { tier: 'app' } }] };
    expect(selected(spec, LABELS)).to.deep.equal(['gw-system', 'team-b']);
  });
});

const settings = (spec: object) => ({
  apiVersion: 'gw.vendor.io/v1',
  kind: 'Settings',
  metadata: { name: 'default', namespace: 'gw-system' },
  spec,
});
const service = (namespace: string, spec: object = {}) => ({
  apiVersion: 'gateway.vendor.io/v1',
  kind: 'VirtualService',
  metadata: { name: 'shop', namespace },
  spec: {
    virtualHost: {
      domains: [`${namespace}.example.com`],
      routes: [{ matchers: [{ prefix: '/' }], directResponseAction: { status: 200 } }],
    },
    ...spec,
  },
});
const routing = (secret: string) => ({
  apiVersion: 'gw.vendor.io/v1',
  kind: 'Upstream',
  metadata: { name: 'a', namespace: 'gw-system' },
  spec: {
    static: { hosts: [{ addr: '127.0.0.1', port: 80 }] },
    sslConfig: { secretRef: { name: 'tls', namespace: secret } },
  },
});
const secret = (namespace: string) => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name: 'tls', namespace },
  type: 'Opaque',
  stringData: { 'ca.crt': 'x' },
});

describe('a control plane whose Settings watch namespaces', () => {
  let controlPlane: ControlPlane;
  const written: Record<string, unknown>[] = [];
  const log = createLoggers({ destination: { write: (line: string) => void written.push(JSON.parse(line)) } });
  const source = memorySource({
    settings: [settings({ watchNamespaces: ['team-a'] })],
    a: [service('team-a')],
    b: [service('team-b'), { ...service('team-b'), metadata: { name: 'broken', namespace: 'team-b' }, spec: { x: 1 } }],
    own: [routing('team-b'), secret('team-b')],
  });

  before(async () => {
    controlPlane = createControlPlane({ source, log });
    await controlPlane.start();
  });
  after(() => controlPlane.close());

  const hosts = (): string[] =>
    [...controlPlane.state!.snapshots.values()].flatMap(({ listeners }) =>
      listeners.flatMap(({ virtualHosts }) => virtualHosts.map(({ name }) => name)),
    );
  const team = (): boolean => [...controlPlane.state!.resources.keys()].some((key) => key.includes('/team-b/'));
  const lastLine = () => written.findLast(({ msg }) => msg === 'configuration applied');

  it('serves and reports only theirs and those of the write namespace', () => {
    const { state } = controlPlane;
    expect(hosts()).to.deep.equal(['team-a.shop']);
    expect([...state!.resources.keys()].sort()).to.deep.equal([
      'Settings/gw-system/default',
      'Upstream/gw-system/a',
      'VirtualService/team-a/shop',
    ]);
    expect([...state!.statuses.keys()].some((key) => key.includes('team-b'))).to.equal(false);
    expect(state!.issues.filter(({ namespace }) => namespace === 'team-b')).to.deep.equal([]);
    expect(lastLine()).to.include({ unwatched: 3, resources: 3 });
  });

  it('does not use their secrets', () => {
    expect(controlPlane.secrets.get({ name: 'tls', namespace: 'team-b' })).to.equal(undefined);
    const { reason } = controlPlane.state!.statuses.get('Upstream/gw-system/a')!.statuses['gw-system']!;
    expect(reason).to.contain('team-b.tls');
  });

  it('follows a change of the Settings', () => {
    source.set('settings', [settings({})]);
    expect(hosts()).to.deep.equal(['team-a.shop', 'team-b.shop']);
    expect(controlPlane.state!.issues.map(({ name, severity }) => `${severity} ${name}`)).to.include('error broken');
    expect(lastLine()).not.to.have.property('unwatched');
    source.set('settings', [settings({ watchNamespaces: ['team-b'] })]);
    expect(hosts()).to.deep.equal(['team-b.shop']);
    expect(controlPlane.secrets.get({ name: 'tls', namespace: 'team-b' })).not.to.equal(undefined);
    source.set('settings', [settings({ watchNamespaces: ['team-a'] })]);
    expect(hosts()).to.deep.equal(['team-a.shop']);
  });

  it('follows changes in namespaces that are not watched, for later', () => {
    const { state } = controlPlane;
    source.set('b', [service('team-b', { displayName: 'later' })]);
    expect(controlPlane.state).to.equal(state);
    source.set('settings', [settings({ watchNamespaces: ['team-b', 'team-a'] })]);
    expect(controlPlane.state!.resources.get('VirtualService/team-b/shop')!.spec).to.include({ displayName: 'later' });
    expect([...controlPlane.state!.resources.keys()]).not.to.include('VirtualService/team-b/broken');
    source.set('settings', [settings({ watchNamespaces: ['team-a'] })]);
  });

  it('keeps the selection of the last good Settings', () => {
    source.set('settings', [settings({ watchNamespaces: ['*'] })]);
    expect(hosts()).to.deep.equal(['team-a.shop']);
    const issue = controlPlane.state!.issues.find(({ kind }) => kind === 'Settings');
    expect(issue).to.include({ message: '"*" is not the name of a namespace', code: 'INVALID_SETTINGS' });
    expect(issue!.hint).to.contain('leave watchNamespaces out');
    expect(team()).to.equal(false);
  });

  it('leaves the choice to a source that makes it', async () => {
    const choosing = memorySource({ settings: [settings({ watchNamespaces: ['team-b'] })], a: [service('team-a')] });
    const other = createControlPlane({ source: { ...choosing, platform: 'kubernetes' }, log });
    await other.start();
    expect([...other.state!.resources.keys()]).to.include('VirtualService/team-a/shop');
    await other.close();
  });

  for (const spec of [
    { watchNamespaces: ['Team_A'] },
    { watchNamespaceSelectors: [{ matchExpressions: [{ key: 'tier', operator: 'Like', values: ['app'] }] }] },
    { watchNamespaceSelectors: [{ matchExpressions: [{ key: 'tier' }] }] },
    { watchNamespaceSelectors: [{ matchExpressions: [{ key: 'tier', operator: 'Exists', values: ['app'] }] }] },
  ]) {
    it(`reads only the write namespace without good Settings: ${JSON.stringify(spec)}`, async () => {
      const other = createControlPlane({
        source: memorySource({ settings: [settings(spec)], a: [service('team-a')], own: [service('gw-system')] }),
        log,
      });
      await other.start();
      expect([...other.state!.resources.keys()]).to.include('VirtualService/gw-system/shop');
      expect([...other.state!.resources.keys()]).not.to.include('VirtualService/team-a/shop');
      expect(other.state!.issues.some(({ kind, severity }) => kind === 'Settings' && severity === 'error')).to.equal(
        true,
      );
      await other.close();
    });
  }
});
