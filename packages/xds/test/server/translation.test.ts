import { createControlPlane, memorySource, silentLoggers } from '@edge-gateway/core';
import { expect } from 'chai';
import { createEnvoyTranslation } from '../../src/envoy/envoy-translation.ts';
import type { ProxyState } from '../../src/resources/encode-state.ts';
import { ENVOY_TYPE } from '../../src/resources/envoy-types.ts';
import { NODE_TRANSLATION, ProxyResources } from '../../src/server/translation.ts';

const HOSTS = 600;

const resource = (kind: string, name: string, spec: object) => ({
  apiVersion: kind === 'Upstream' ? 'gw.vendor.io/v1' : 'gateway.vendor.io/v1',
  kind,
  metadata: { name, namespace: 'gw-system' },
  spec,
});
const host = (i: number, domain = `host-${i}.test`): object =>
  resource('VirtualService', `service-${i}`, {
    virtualHost: { domains: [domain], routes: [{ routeAction: { single: { upstream: { name: `upstream-${i}` } } } }] },
  });

/** Returns the states of a proxy before and after a change of one host. */
async function statesOf(count: number): Promise<readonly [ProxyState, ProxyState]> {
  const source = memorySource();
  const controlPlane = createControlPlane({ source, log: silentLoggers });
  await controlPlane.start();
  const stateNow = async (): Promise<ProxyState> => {
    await controlPlane.settled();
    return { snapshot: controlPlane.state!.snapshots.get('gateway-proxy')!, unserved: [], secrets: new Map() };
  };
  source.set('all', [
    resource('Gateway', 'gateway', { bindAddress: '127.0.0.1', bindPort: 8080, httpGateway: {} }),
    ...Array.from({ length: count }, (_, i) =>
      resource('Upstream', `upstream-${i}`, { static: { hosts: [{ addr: '10.0.0.1', port: 80 }] } }),
    ),
  ]);
  const hosts = Array.from({ length: count }, (_, i) => host(i));
  source.set('hosts', hosts);
  const first = await stateNow();
  source.set('hosts', [host(0, 'changed.test'), ...hosts.slice(1)]);
  const second = await stateNow();
  await controlPlane.close();
  return [first, second];
}

describe('the resources of a proxy', () => {
  const translation = createEnvoyTranslation({});

  it('are encoded in turns when an Envoy first asks for thousands of them', async () => {
    const [first, second] = await statesOf(HOSTS);
    const prepared = Promise.withResolvers<void>();
    const resources = new ProxyResources(prepared.resolve);
    resources.update(first);
    let turns = 0;
    const count = (): void => {
      turns++;
      turn = setImmediate(count);
    };
    let turn = setImmediate(count);
    expect(resources.of(translation)).to.equal(undefined);
    // A change meanwhile.
    resources.update(second);
    await prepared.promise;
    clearImmediate(turn);
    expect(turns).to.be.above(2);
    const set = resources.of(translation)!;
    expect(set.version).to.equal(second.snapshot.version);
    expect(set.types.get(ENVOY_TYPE.cluster)!.byName.size).to.equal(HOSTS);
    const fresh = translation.create().encode(second);
    for (const [type, { byName }] of fresh.types)
      for (const [name, { version }] of byName)
        expect(set.types.get(type)!.byName.get(name)!.version, name).to.equal(version);
  });

  it('are those of the newest state, and those of Node proxies are there at once', async () => {
    const [state] = await statesOf(3);
    const prepared = Promise.withResolvers<void>();
    const resources = new ProxyResources(prepared.resolve);
    expect(resources.of(translation)).to.equal(undefined);
    resources.update(state);
    expect(resources.of(NODE_TRANSLATION)).to.not.equal(undefined);
    // A few may be encoded within the first turn.
    if (!resources.of(translation)) await prepared.promise;
    expect(resources.of(translation)!.types.get(ENVOY_TYPE.cluster)!.byName.size).to.equal(3);
  });
});
