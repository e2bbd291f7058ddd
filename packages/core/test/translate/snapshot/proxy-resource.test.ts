import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect } from 'chai';
import { createControlPlane, inflateSpec, memorySource, silentLoggers, type Resource } from '../../../src/index.ts';

const SETTINGS = (compressedProxySpec: boolean): object => ({
  apiVersion: 'settings.gw.vendor.io/v1',
  kind: 'Settings',
  metadata: { name: 'default' },
  spec: { gateway: { compressedProxySpec } },
});
const SHOP = {
  apiVersion: 'gateway.vendor.io/v1',
  kind: 'VirtualService',
  metadata: { name: 'shop' },
  spec: {
    virtualHost: {
      domains: ['*'],
      options: {
        headerManipulation: { requestHeadersToAdd: [{ header: { key: 'x-api-key', value: 'hidden-value' } }] },
      },
      routes: [{ matchers: [{ prefix: '/' }], directResponseAction: { status: 200 } }],
    },
  },
};

async function proxyOf(resources: readonly object[]): Promise<Resource> {
  const source = memorySource({ resources });
  const controlPlane = createControlPlane({ source, log: silentLoggers });
  await controlPlane.start();
  const [proxy] = controlPlane.state!.proxies;
  await controlPlane.close();
  return proxy!;
}

describe('the Proxy resource', () => {
  it('shows its listeners, unless the Settings ask for the compressed form', async () => {
    const plain = (await proxyOf([SHOP])).spec as { listeners: { name: string }[] };
    expect(plain.listeners.map(({ name }) => name)).to.deep.equal(['listener-::-8080']);
    expect(await proxyOf([SHOP, SETTINGS(false)])).to.have.nested.property('spec.listeners');
    const { spec } = await proxyOf([SHOP, SETTINGS(true)]);
    expect(spec).to.have.all.keys('compressedSpec');
    const { listeners } = inflateSpec((spec as { compressedSpec: string }).compressedSpec);
    expect((listeners as { name: string }[]).map(({ name }) => name)).to.deep.equal(['listener-::-8080']);
  });

  it('does not keep earlier states of the control plane', async () => {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    const source = memorySource({ resources: [SHOP] });
    const controlPlane = createControlPlane({ source, log: silentLoggers });
    await controlPlane.start();
    const listOf = (): WeakRef<object> => new WeakRef(controlPlane.state!.snapshots.get('gateway-proxy')!.listeners);
    const earlier = [listOf()];
    for (const status of [201, 202, 203]) {
      const routes = [{ matchers: [{ prefix: '/' }], directResponseAction: { status } }];
      source.set('resources', [{ ...SHOP, spec: { virtualHost: { domains: ['*'], routes } } }]);
      earlier.push(listOf());
      // A reference is kept until the end of the turn that made it.
      await new Promise((resolve) => setImmediate(resolve));
    }
    collect();
    expect(earlier.map((each) => each.deref() !== undefined)).to.deep.equal([false, false, false, true]);
    await controlPlane.close();
  });

  it('contains no credential that could not be hidden later', async () => {
    const { spec } = await proxyOf([SHOP, SETTINGS(true)]);
    const text = JSON.stringify(inflateSpec((spec as { compressedSpec: string }).compressedSpec));
    expect(text).to.include('x-api-key').and.not.to.include('hidden-value');
  });

  it('changes its form with the Settings', async () => {
    const source = memorySource({ resources: [SHOP] });
    const controlPlane = createControlPlane({ source, log: silentLoggers });
    await controlPlane.start();
    const forms = (): string[] => controlPlane.state!.proxies.flatMap(({ spec }) => Object.keys(spec as object));
    expect(forms()).to.deep.equal(['listeners']);
    for (const [isCompressed, form] of [
      [true, 'compressedSpec'],
      [false, 'listeners'],
    ] as const) {
      source.set('resources', [SHOP, SETTINGS(isCompressed)]);
      await new Promise<void>((resolve) => {
        const stop = controlPlane.subscribe(() => forms()[0] === form && (resolve(), setImmediate(() => stop())));
      });
      expect(forms()).to.deep.equal([form]);
    }
    await controlPlane.close();
  });
});
