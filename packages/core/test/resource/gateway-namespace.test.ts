import {
  createControlPlane,
  DEFAULT_NAMESPACE,
  gatewayNamespace,
  memorySource,
  setGatewayNamespace,
  settingsKey,
  signingKeySecret,
  silentLoggers,
} from '@edge-gateway/core';
import { expect } from 'chai';

const resource = (kind: string, namespace: string | undefined, name: string, spec: object) => ({
  apiVersion: { Settings: 'gw.vendor.io/v1', Upstream: 'gw.vendor.io/v1' }[kind] ?? 'gateway.vendor.io/v1',
  kind,
  metadata: { name, ...(namespace !== undefined && { namespace }) },
  spec,
});

describe('the namespace of the gateway', () => {
  afterEach(() => setGatewayNamespace(DEFAULT_NAMESPACE));

  it('is gw-system by default', () => {
    expect(gatewayNamespace()).to.equal('gw-system');
    expect(settingsKey()).to.equal('Settings/gw-system/default');
  });

  it('has the Settings, Gateways and statuses, and resources and references that name no namespace', async () => {
    setGatewayNamespace('edge');
    const source = memorySource();
    const controlPlane = createControlPlane({ source, log: silentLoggers });
    await controlPlane.start();
    const replaced = { replaceInvalidRoutes: true, invalidRouteResponseCode: 418 };
    const route = { routeAction: { single: { upstream: { name: 'missing' } } } };
    source.set('all', [
      resource('Settings', 'edge', 'default', { gw: { invalidConfigPolicy: replaced } }),
      resource('Settings', 'gw-system', 'default', { gw: { invalidConfigPolicy: { replaceInvalidRoutes: false } } }),
      resource('Gateway', 'edge', 'read', { bindAddress: '127.0.0.1', bindPort: 8080, httpGateway: {} }),
      resource('Gateway', 'gw-system', 'ignored', { bindAddress: '127.0.0.1', bindPort: 8081, httpGateway: {} }),
      resource('VirtualService', undefined, 'shop', { virtualHost: { domains: ['*'], routes: [route] } }),
    ]);
    const { snapshots, statuses, resources } = controlPlane.state!;
    const { listeners } = snapshots.get('gateway-proxy')!;
    expect(listeners.map(({ gateway }) => gateway)).to.deep.equal([{ name: 'read', namespace: 'edge' }]);
    expect(JSON.stringify(listeners)).to.contain('418');
    expect(resources.has('VirtualService/edge/shop')).to.equal(true);
    expect(Object.keys(statuses.get('VirtualService/edge/shop')!.statuses)).to.deep.equal(['edge']);
    expect(signingKeySecret()).to.deep.equal({ name: 'extauth-signing-key', namespace: 'edge' });
    await controlPlane.close();
  });

  it('can be another one for control planes that are created later', async () => {
    for (const namespace of ['edge', 'gw-system', 'edge']) {
      setGatewayNamespace(namespace);
      const source = memorySource();
      const controlPlane = createControlPlane({ source, log: silentLoggers });
      await controlPlane.start();
      for (const port of [80, 81])
        source.set('all', [
          {
            apiVersion: 'v1',
            kind: 'Secret',
            metadata: { name: 'own', namespace: 'a' },
            stringData: { port: `${port}` },
          },
          resource('RouteTable', 'a', 'own', { routes: [{ directResponseAction: { status: 200 } }] }),
          resource('Upstream', 'a', 'up', { static: { hosts: [{ addr: '10.0.0.1', port }] } }),
        ]);
      const status = { state: 'Accepted', reportedBy: 'gw' };
      const { statuses, resources } = controlPlane.state!;
      for (const key of ['RouteTable/a/own', 'Upstream/a/up'] as const)
        expect(statuses.get(key)!.statuses, key).to.deep.equal({ [namespace]: status });
      expect(JSON.stringify(resources.get('Upstream/a/up')!.spec)).to.contain('81');
      await controlPlane.close();
    }
  });
});
