import { linkSync, mkdirSync, mkdtempSync, realpathSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { createControlPlane, loadDirectory, type ControlPlane } from '../../src/control/control-plane.ts';
import type { ControlPlaneState } from '../../src/control/state.ts';
import { silentLoggers } from '../../src/observe/logger.ts';
import type { Kind } from '../../src/resource/resource.ts';
import { directorySource } from '../../src/source/directory.ts';
import { memorySource } from '../../src/source/memory.ts';
import { until } from '../../../../test/parts/until.ts';

const upstream = (port: number): string => `static: {hosts: [{addr: 127.0.0.1, port: ${port}}]}\n`;
const service = (to: string): string => `apiVersion: gateway.vendor.io/v1
kind: VirtualService
metadata: {name: shop}
spec:
  virtualHost:
    domains: ['*']
    routes:
    - matchers: [{prefix: /}]
      routeAction: {single: {upstream: {name: ${to}, namespace: gw-system}}}
`;
const secret = (value: string): string => `type: Opaque\nstringData: {key: ${value}}\n`;

describe('the directories that Settings name', () => {
  let root: string;
  let controlPlane: ControlPlane | undefined;
  let states: ControlPlaneState[];

  beforeEach(() => {
    root = realpathSync(mkdtempSync(join(tmpdir(), 'settings-')));
    states = [];
    mkdirSync(join(root, 'own'));
  });
  afterEach(async () => {
    await controlPlane?.close();
    controlPlane = undefined;
    rmSync(root, { recursive: true, force: true });
  });

  function write(path: string, text: string): void {
    const file = join(root, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(`${file}.tmp`, text);
    renameSync(`${file}.tmp`, file);
  }
  const settings = (spec: object): void =>
    write(
      'own/settings.yaml',
      `apiVersion: settings.gw.vendor.io/v1\nkind: Settings\nmetadata: {name: default, namespace: gw-system}\nspec: ${JSON.stringify(spec)}\n`,
    );
  async function start(kinds?: ReadonlySet<Kind>): Promise<ControlPlane> {
    const base = join(root, 'own');
    controlPlane = createControlPlane({
      source: directorySource(base, { kinds, log: silentLoggers.get('config') }),
      directories: { base },
      log: silentLoggers,
    });
    controlPlane.subscribe((state) => void states.push(state));
    await controlPlane.start();
    return controlPlane;
  }
  const keys = (): string[] =>
    [...controlPlane!.state!.resources.keys()].filter((key) => !key.startsWith('Settings/')).sort();
  const problems = (state = controlPlane!.state!): string[] => state.issues.map(({ message }) => message);

  it('are read only for the kinds of the source', async () => {
    settings({
      directoryConfigSource: { directory: '../config' },
      directorySecretSource: { directory: join(root, 'missing') },
    });
    write('own/shop.yaml', service('a'));
    write('config/upstreams/gw-system/a.yaml', upstream(80));
    write('config/virtualservices/gw-system/b.yaml', 'virtualHost: {domains: [b.example]}\n');
    await start(new Set<Kind>(['Settings', 'VirtualService']));
    expect(keys()).to.deep.equal(['VirtualService/gw-system/b', 'VirtualService/gw-system/shop']);
    expect(problems()).to.deep.equal([]);
  });

  it('are read before the first state', async () => {
    settings({
      directoryConfigSource: { directory: '../config' },
      directorySecretSource: { directory: join(root, 'hidden') },
      directoryArtifactSource: { directory: '../artifacts' },
    });
    write('own/shop.yaml', service('a'));
    write('config/upstreams/gw-system/a.yaml', upstream(80));
    write('hidden/secrets/gw-system/s.yaml', secret('one'));
    write('artifacts/artifacts/gw-system/m.yaml', 'data: {key: value}\n');
    const { state, secrets } = await start();
    expect(keys()).to.deep.equal([
      'ConfigMap/gw-system/m',
      'Secret/gw-system/s',
      'Upstream/gw-system/a',
      'VirtualService/gw-system/shop',
    ]);
    expect(problems()).to.deep.equal([]);
    expect(states).to.have.length(1);
    expect(state!.statuses.get('VirtualService/gw-system/shop')!.statuses['gw-system']!.state).to.equal('Accepted');
    expect(secrets.get({ name: 's', namespace: 'gw-system' })!.data).to.deep.equal({ key: 'b25l' });
  });

  it('are followed, and removed with the field', async () => {
    settings({ directoryConfigSource: { directory: '../config' } });
    write('config/upstreams/gw-system/a.yaml', upstream(80));
    await start();
    write('config/upstreams/gw-system/b.yaml', upstream(81));
    await until(() => keys().length === 2);
    settings({});
    await until(() => keys().length === 0);
    write('config/upstreams/gw-system/c.yaml', upstream(82));
    settings({ directoryConfigSource: { directory: '../config' } });
    await until(() => keys().length === 3);
  });

  it('replace each other in one step', async () => {
    settings({ directoryConfigSource: { directory: '../blue' } });
    write('own/shop.yaml', service('a'));
    write('blue/upstreams/gw-system/a.yaml', upstream(80));
    write('green/upstreams/gw-system/a.yaml', upstream(81));
    await start();
    settings({ directoryConfigSource: { directory: '../green' } });
    const portOf = ({ resources }: ControlPlaneState): unknown =>
      (resources.get('Upstream/gw-system/a')!.spec as { static: { hosts: { port: number }[] } }).static.hosts[0]!.port;
    await until(() => portOf(controlPlane!.state!) === 81);
    for (const state of states) {
      expect(problems(state)).to.deep.equal([]);
      const { upstreams } = [...state.snapshots.values()][0]!;
      expect(upstreams.map(({ name }) => name)).to.deep.equal(['a_gw-system']);
    }
  });

  it('may be one directory for all, or contain each other', async () => {
    settings({
      directoryConfigSource: { directory: '../data/config' },
      secretOptions: { sources: [{ directory: { directory: '../data' } }, { directory: { directory: '../data' } }] },
      directorySecretSource: { directory: '../unused' },
      directoryArtifactSource: { directory: '../data' },
    });
    write('data/config/upstreams/gw-system/a.yaml', upstream(80));
    write('data/secrets/gw-system/s.yaml', secret('one'));
    write('data/artifacts/gw-system/m.yaml', 'data: {key: value}\n');
    write('unused/secrets/gw-system/t.yaml', secret('two'));
    await start();
    expect(keys()).to.deep.equal(['ConfigMap/gw-system/m', 'Secret/gw-system/s', 'Upstream/gw-system/a']);
    expect(problems()).to.deep.equal([]);
  });

  it('are read once if they are below the directory of the gateway, which has the same layout', async () => {
    settings({ directoryConfigSource: { directory: '.' }, directorySecretSource: { directory: 'more' } });
    write('own/upstreams/gw-system/a.yaml', upstream(80));
    write('own/more/secrets/gw-system/s.yaml', secret('one'));
    await start();
    expect(keys()).to.deep.equal(['Secret/gw-system/s', 'Upstream/gw-system/a']);
    expect(problems()).to.deep.equal([]);
  });

  it('must not contain the directory of the gateway', async () => {
    settings({ directoryConfigSource: { directory: '..' } });
    write('other/upstreams/gw-system/a.yaml', upstream(80));
    await start();
    expect(keys()).to.deep.equal([]);
    expect(problems()).to.have.length(1);
    expect(problems()[0]).to.contain(`${root} contains ${root}/own, the directory of the gateway`);
    expect(controlPlane!.state!.issues[0]).to.deep.include({ path: ['spec', 'directoryConfigSource', 'directory'] });
  });

  it('contain only the kinds of their field', async () => {
    settings({
      directoryConfigSource: { directory: '../config' },
      directorySecretSource: { directory: '../secrets' },
    });
    write('config/settings/gw-system/default.yaml', 'devMode: true\n');
    write('secrets/upstreams/gw-system/a.yaml', upstream(80));
    write('secrets/broken.yaml', 'kind: Settings\nmetadata: {name: default, namespace: gw-system}\nspec: [\n');
    await start();
    expect(keys()).to.deep.equal([]);
    expect(problems().filter((message) => message.includes('is not read'))).to.have.members([
      'Settings is not read from the directory in directoryConfigSource.directory',
      'Upstream is not read from the directory in directorySecretSource.directory',
    ]);
    const own = controlPlane!.state!.statuses.get('Settings/gw-system/default')!.statuses['gw-system']!;
    expect(own.state).to.equal('Accepted');
  });

  it('are reported while they are missing, and read when they exist', async () => {
    settings({ directoryConfigSource: { directory: '../later' } });
    await start();
    const reported = (): string | undefined =>
      controlPlane!.state!.statuses.get('Settings/gw-system/default')!.statuses['gw-system']!.reason;
    expect(reported()).to.contain(`directory not found: ${root}/later`);
    write('later/upstreams/gw-system/a.yaml', upstream(80));
    await until(() => keys().length === 1);
    expect(reported()).to.equal(undefined);
    expect(problems()).to.deep.equal([]);
  });

  it('stay those of the last good Settings', async () => {
    settings({ directoryConfigSource: { directory: '../config' } });
    write('config/upstreams/gw-system/a.yaml', upstream(80));
    await start();
    settings({ directoryConfigSource: { directory: '' } });
    await until(() => problems().length === 1);
    expect(problems()).to.deep.equal(['the directory is empty']);
    expect(keys()).to.deep.equal(['Upstream/gw-system/a']);
    settings({ directoryConfigSource: {} });
    await until(() => problems().includes('directory is missing'));
    settings({ directoryConfigSource: { directory: '../config' }, consulKvSource: {} });
    await until(() => problems().some((message) => message.includes('consulKvSource')));
    expect(keys()).to.deep.equal(['Upstream/gw-system/a']);
  });

  it('are listed again after refreshRate, for changes that are not reported', async () => {
    settings({ directoryConfigSource: { directory: '../config' }, refreshRate: '1s' });
    write('config/upstreams/gw-system/a.yaml', upstream(80));
    await start();
    // Changes through another name of the file are not reported for the folder.
    mkdirSync(join(root, 'elsewhere'));
    linkSync(join(root, 'config/upstreams/gw-system/a.yaml'), join(root, 'elsewhere/a.yaml'));
    writeFileSync(join(root, 'elsewhere/a.yaml'), upstream(8123));
    await until(() =>
      JSON.stringify(controlPlane!.state!.resources.get('Upstream/gw-system/a')!.spec).includes('8123'),
    );
  });

  it('are not read for resources that do not come from a directory', async () => {
    controlPlane = createControlPlane({
      source: memorySource({
        settings: {
          apiVersion: 'gw.vendor.io/v1',
          kind: 'Settings',
          metadata: { name: 'default', namespace: 'gw-system' },
          spec: { directorySecretSource: { directory: '/etc' } },
        },
      }),
      log: silentLoggers,
    });
    await controlPlane.start();
    expect(problems()).to.deep.equal([
      'the directory is not read here: only gateways read the directories of Settings',
    ]);
  });

  it('are read beside resources of another source, also below the base', async () => {
    write('own/secrets/gw-system/s.yaml', secret('one'));
    const source = memorySource({
      settings: {
        apiVersion: 'gw.vendor.io/v1',
        kind: 'Settings',
        metadata: { name: 'default', namespace: 'gw-system' },
        spec: { directorySecretSource: { directory: '.' } },
      },
    });
    const directories = { base: join(root, 'own'), isRead: false };
    controlPlane = createControlPlane({ source, directories, log: silentLoggers });
    await controlPlane.start();
    expect(keys()).to.deep.equal(['Secret/gw-system/s']);
  });

  it('are read by checks of a directory', async () => {
    settings({ directoryConfigSource: { directory: '../config' } });
    write('config/upstreams/gw-system/a.yaml', upstream(80));
    write('own/shop.yaml', service('a'));
    const { issues, resources } = await loadDirectory(join(root, 'own'));
    expect(issues).to.deep.equal([]);
    expect([...resources.keys()]).to.include('Upstream/gw-system/a');
  });
});

describe('refreshRate of the Settings', () => {
  for (const [rate, message] of [
    ['0s', 'refreshRate 0s is below the minimum of 1s'],
    ['999ms', 'refreshRate 999ms is below the minimum of 1s'],
  ] as const) {
    it(`rejects ${rate}`, async () => {
      const controlPlane = createControlPlane({
        source: memorySource({
          settings: {
            apiVersion: 'gw.vendor.io/v1',
            kind: 'Settings',
            metadata: { name: 'default', namespace: 'gw-system' },
            spec: { refreshRate: rate },
          },
        }),
        log: silentLoggers,
      });
      await controlPlane.start();
      expect(controlPlane.state!.issues.map((issue) => issue.message)).to.deep.equal([message]);
      await controlPlane.close();
    });
  }
});
