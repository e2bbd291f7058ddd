import { expect } from 'chai';
import { createControlPlane, type ControlPlane } from '../../src/control/control-plane.ts';
import { silentLoggers } from '../../src/observe/logger.ts';
import { memorySource, type MemorySource } from '../../src/source/memory.ts';

const settings = (spec: object) => ({
  apiVersion: 'gw.vendor.io/v1',
  kind: 'Settings',
  metadata: { name: 'default', namespace: 'gw-system' },
  spec,
});
const gateway = (name: string, proxy: string, port: number, metadata: object = {}) => ({
  apiVersion: 'gateway.vendor.io/v1',
  kind: 'Gateway',
  metadata: { name, ...metadata },
  spec: { bindPort: port, proxyNames: [proxy], httpGateway: {} },
});
const service = {
  apiVersion: 'gateway.vendor.io/v1',
  kind: 'VirtualService',
  metadata: { name: 'shop' },
  spec: {
    virtualHost: {
      domains: ['*'],
      routes: [{ matchers: [{ prefix: '/' }], directResponseAction: { status: 200 } }],
    },
  },
};

describe('Settings that change at run time', () => {
  let controlPlane: ControlPlane;
  let source: MemorySource;

  async function start(units: Record<string, unknown>): Promise<void> {
    source = memorySource(units);
    controlPlane = createControlPlane({ source, log: silentLoggers });
    await controlPlane.start();
  }
  const change = (spec: object): void => source.set('settings', settings(spec));
  afterEach(() => controlPlane.close());

  const ports = (proxy = 'gateway-proxy'): number[] =>
    (controlPlane.state!.snapshots.get(proxy)?.listeners ?? []).map(({ bindPort }) => bindPort);
  const served = () => [...controlPlane.state!.snapshots.values()][0]!.settings;

  it('stop and start the translation of Gateways', async () => {
    await start({ s: service, g: gateway('g', 'gateway-proxy', 8081) });
    expect(ports()).to.deep.equal([8081]);
    change({ gateway: { enableGatewayController: false } });
    expect(controlPlane.state!.snapshots.size).to.equal(0);
    expect(controlPlane.state!.proxies).to.deep.equal([]);
    change({ gateway: { enableGatewayController: true } });
    expect(ports()).to.deep.equal([8081]);
  });

  it('do not use the default gateways without the translation of Gateways', async () => {
    await start({ s: service, settings: settings({ gateway: { enableGatewayController: false } }) });
    expect(controlPlane.state!.snapshots.size).to.equal(0);
  });

  it('keep the Proxies of deleted Gateways, or remove them', async () => {
    await start({
      s: service,
      settings: settings({ gw: { disableProxyGarbageCollection: true } }),
      a: gateway('a', 'edge', 8081),
      b: gateway('b', 'gateway-proxy', 8082),
    });
    const { version } = controlPlane.state!.snapshots.get('edge')!;
    source.delete('a');
    expect(ports('edge')).to.deep.equal([8081]);
    source.set('s', { ...service, metadata: { name: 'other' } });
    expect(controlPlane.state!.snapshots.get('edge')!.version).to.equal(version);
    expect(controlPlane.state!.proxies.map(({ metadata }) => metadata.name)).to.have.members(['edge', 'gateway-proxy']);
    source.set('a', gateway('a', 'edge', 8083));
    expect(ports('edge')).to.deep.equal([8083]);
    source.delete('a');
    change({});
    expect([...controlPlane.state!.snapshots.keys()]).to.deep.equal(['gateway-proxy']);
  });

  it('open and close empty gateways', async () => {
    await start({ g: gateway('g', 'gateway-proxy', 8081) });
    expect(ports()).to.deep.equal([]);
    change({ gateway: { translateEmptyGateways: true } });
    expect(ports()).to.deep.equal([8081]);
    change({});
    expect(ports()).to.deep.equal([]);
  });

  it('read Gateways of all namespaces, or of the write namespace', async () => {
    await start({
      s: service,
      g: [gateway('g', 'gateway-proxy', 8081), gateway('h', 'gateway-proxy', 8082, { namespace: 'x' })],
    });
    expect(ports()).to.deep.equal([8081]);
    change({ gateway: { readGatewaysFromAllNamespaces: true } });
    expect(ports()).to.have.members([8081, 8082]);
    change({ discoveryNamespace: 'x' });
    expect(ports()).to.deep.equal([8082]);
  });

  it('change what the data plane does', async () => {
    await start({ s: service });
    expect(served()).to.deep.equal({ requireRbac: false });
    change({
      rbac: { requireRbac: true },
      consoleOptions: { apiExplorerEnabled: false },
      gw: { disableGrpcWeb: true },
    });
    expect(served()).to.deep.equal({ requireRbac: true, disableGrpcWeb: true, hidesApiExplorer: true });
    change({ consoleOptions: { apiExplorerEnabled: true } });
    expect(served()).to.deep.equal({ requireRbac: false });
  });

  it('compress the specs of Proxies', async () => {
    await start({ s: service });
    const spec = (): object => controlPlane.state!.proxies[0]!.spec as object;
    expect(spec()).to.have.property('listeners');
    change({ gateway: { compressedProxySpec: true } });
    expect(spec()).to.have.property('compressedSpec').and.not.to.have.property('listeners');
  });

  it('stay the last good ones while they are invalid', async () => {
    await start({ s: service, settings: settings({ rbac: { requireRbac: true } }) });
    change({ rbac: { requireRbac: 'no' }, gateway: { enableGatewayController: false } });
    expect(served()).to.deep.equal({ requireRbac: true });
    expect(ports()).to.deep.equal([8080]);
    const { state, reason } = controlPlane.state!.statuses.get('Settings/gw-system/default')!.statuses['gw-system']!;
    expect(state).to.equal('Rejected');
    expect(reason).to.contain('requireRbac');
    change({ gateway: {} });
    expect(served()).to.deep.equal({ requireRbac: false });
  });
});

describe('Settings for Kubernetes', () => {
  const spec = { kubernetesConfigSource: {}, discovery: { udsOptions: { watchLabels: { a: 'b' } } } };

  it('get a warning if the resources do not come from Kubernetes', async () => {
    const controlPlane = createControlPlane({ source: memorySource({ a: settings(spec) }), log: silentLoggers });
    await controlPlane.start();
    expect(controlPlane.state!.issues.map(({ code, message }) => `${code}: ${message}`)).to.have.members([
      'KUBERNETES_ONLY: kubernetesConfigSource has an effect only with Kubernetes',
      'KUBERNETES_ONLY: udsOptions has an effect only with Kubernetes',
    ]);
    await controlPlane.close();
  });

  it('have none otherwise', async () => {
    const source = { ...memorySource({ a: settings(spec) }), platform: 'kubernetes' } as const;
    const controlPlane = createControlPlane({ source, log: silentLoggers });
    await controlPlane.start();
    expect(controlPlane.state!.issues).to.deep.equal([]);
    await controlPlane.close();
  });
});
