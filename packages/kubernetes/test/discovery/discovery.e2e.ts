import {
  createControlPlane,
  createMetrics,
  memorySource,
  silentLoggers,
  type ClusterService,
  type ControlPlane,
} from '@edge-gateway/core';
import {
  createClusterClient,
  createClusterServices,
  createUpstreamDiscovery,
  type ClusterClient,
  type ReflectorTiming,
  type UpstreamDiscovery,
  type WatchedServices,
} from '@edge-gateway/kubernetes';
import { expect } from 'chai';
import { setTimeout as wait } from 'node:timers/promises';
import { startKubernetes, type KubernetesApi } from '../../../../test/parts/kubernetes.ts';
import { applyAnyCrds } from '../any-crds.ts';
import { serviceObject, sliceObject } from './objects.ts';

const QUICK: Partial<ReflectorTiming> = { backoff: { firstMs: 50, maxMs: 500, resetMs: 60_000 } };
const log = silentLoggers.get('config');

async function until(condition: () => boolean | Promise<boolean>, limitMs = 60_000): Promise<void> {
  for (const giveUp = performance.now() + limitMs; !(await condition()); await wait(20)) {
    if (performance.now() > giveUp) throw new Error(`still not so after ${limitMs} ms: ${condition}`);
  }
}

interface UpstreamObject {
  readonly metadata: {
    readonly name: string;
    readonly labels?: Record<string, string>;
    readonly resourceVersion: string;
  };
  readonly spec: Record<string, unknown> & { readonly kube?: Record<string, unknown> };
}

describe('discovery with a real API server', () => {
  let api: KubernetesApi;
  let client: ClusterClient;
  const open: { close(): Promise<void> }[] = [];

  before(async function () {
    api = await startKubernetes(this);
    await applyAnyCrds(api);
    client = await createClusterClient({ kubeconfig: [api.kubeconfig] });
  });
  afterEach(async () => {
    for (const each of open.splice(0).toReversed()) await each.close();
  });
  after(async () => {
    await client?.close();
    await api?.close();
  });

  const apply = (...objects: object[]): Promise<void> =>
    api.apply(objects.map((object) => JSON.stringify(object)).join('\n---\n'));
  const upstreams = async (): Promise<Map<string, UpstreamObject>> => {
    const { items } = await client.send<{ items: UpstreamObject[] }>({
      path: '/apis/gw.vendor.io/v1/namespaces/gw-system/upstreams',
    });
    return new Map(items.map((item) => [item.metadata.name, item]));
  };

  /** Returns the number of upstreams without reading all of them. */
  const count = async (): Promise<number> => {
    interface List {
      readonly items: readonly unknown[];
      readonly metadata: { readonly remainingItemCount?: number };
    }
    const path = '/apis/gw.vendor.io/v1/namespaces/gw-system/upstreams';
    const { items, metadata } = await client.send<List>({ path, query: { limit: 1 } });
    return items.length + (metadata.remainingItemCount ?? 0);
  };

  async function followed(
    own: ClusterClient = client,
  ): Promise<{ services: WatchedServices; held: Map<string, ClusterService> }> {
    const services = createClusterServices({ client: own, log, timing: QUICK });
    open.push(services);
    const held = new Map<string, ClusterService>();
    await services.start((changes) => {
      for (const [key, service] of changes) {
        if (service) held.set(key, service);
        else held.delete(key);
      }
    });
    return { services, held };
  }

  async function discovering(settings = {}, own: ClusterClient = client): Promise<UpstreamDiscovery> {
    const { services } = await followed(own);
    const discovery = createUpstreamDiscovery({ client: own, services, log, metrics: createMetrics(), timing: QUICK });
    open.push(discovery);
    discovery.setSettings(settings);
    discovery.setLeading(true);
    return discovery;
  }

  describe('of endpoints', () => {
    const addressesOf = (held: Map<string, ClusterService>, key: string): string =>
      (held.get(key)?.ports[0]?.endpoints ?? []).map(({ address }) => address).join();

    it('delivers Services with the endpoints of their slices, and follows them', async () => {
      const slice = (name: string, address: string, conditions = {}) =>
        sliceObject(`default/${name}`, 'web', { endpoints: [{ addresses: [address], conditions, zone: 'eu-1a' }] });
      await apply(serviceObject('default/web'), slice('web-1', '10.1.0.1'));
      const { held } = await followed();
      expect(addressesOf(held, 'default/web')).to.equal('10.1.0.1');
      expect(held.get('default/web')!.ports[0]!.endpoints[0]!.locality).to.deep.equal({ zone: 'eu-1a' });
      await apply(slice('web-2', '10.1.0.2'));
      await until(() => addressesOf(held, 'default/web') === '10.1.0.1,10.1.0.2');
      await apply(slice('web-1', '10.1.0.1', { ready: false, serving: true, terminating: true }));
      await until(() => addressesOf(held, 'default/web') === '10.1.0.2');
      await api.kubectl(['delete', 'endpointslice', 'web-2']);
      await until(() => addressesOf(held, 'default/web') === '10.1.0.1');
      await api.kubectl(['delete', 'service', 'web']);
      await until(() => !held.has('default/web'));
    });

    it('reaches the snapshot of a control plane within a second of a change', async () => {
      const slice = (address: string) => sliceObject('default/api-1', 'api', { endpoints: [{ addresses: [address] }] });
      await apply(serviceObject('default/api'), slice('10.1.0.1'));
      const services = createClusterServices({ client, log, timing: QUICK });
      const route = {
        matchers: [{ prefix: '/' }],
        routeAction: { single: { kube: { ref: { name: 'api', namespace: 'default' }, port: 80 } } },
      };
      const source = memorySource({
        all: {
          apiVersion: 'gateway.vendor.io/v1',
          kind: 'VirtualService',
          metadata: { name: 'a' },
          spec: { virtualHost: { domains: ['*'], routes: [route] } },
        },
      });
      const plane: ControlPlane = createControlPlane({ source, services, log: silentLoggers });
      open.push(plane);
      await plane.start();
      const addresses = (): string =>
        (plane.state!.snapshots.get('gateway-proxy')!.upstreams[0]?.endpoints ?? [])
          .map(({ address }) => address)
          .join();
      expect(addresses()).to.equal('10.1.0.1');
      let worst = 0;
      for (let i = 2; i < 12; i++) {
        const changed = Promise.withResolvers<number>();
        const unsubscribe = plane.subscribe(() => addresses() === `10.1.0.${i}` && changed.resolve(performance.now()));
        await client.send({
          method: 'PATCH',
          path: '/apis/discovery.k8s.io/v1/namespaces/default/endpointslices/api-1',
          contentType: 'application/merge-patch+json',
          body: { endpoints: [{ addresses: [`10.1.0.${i}`] }] },
        });
        const written = performance.now();
        worst = Math.max(worst, (await changed.promise) - written);
        unsubscribe();
      }
      console.log(`      slowest of 10 changes: ${worst.toFixed(0)} ms`);
      expect(worst).to.be.below(1_000);
    });

    it('follows the namespaces that the Settings choose', async () => {
      await api.kubectl(['create', 'namespace', 'chosen']);
      await apply(serviceObject('chosen/a'), serviceObject('default/b'));
      const { held } = await followed();
      expect([...held.keys()]).to.include.members(['chosen/a', 'default/b']);
      const settings = {
        apiVersion: 'settings.gw.vendor.io/v1',
        kind: 'Settings',
        metadata: { name: 'default', namespace: 'gw-system' },
      };
      await apply({ ...settings, spec: { watchNamespaces: ['chosen'] } });
      await until(() => !held.has('default/b'));
      expect([...held.keys()]).to.deep.equal(['chosen/a']);
      await api.kubectl(['delete', 'settings.settings.gw.vendor.io', 'default', '-n', 'gw-system']);
      await until(() => held.has('default/b'));
    });

    it('starts without the labels of pods if the role does not permit to list them', async () => {
      const rules = [
        '--verb=list,watch',
        '--resource=services,endpointslices.discovery.k8s.io,settings.settings.gw.vendor.io,settings.gw.vendor.io',
      ];
      await api.kubectl(['create', 'clusterrole', 'endpoints', ...rules]);
      await api.kubectl(['create', 'clusterrolebinding', 'endpoints', '--clusterrole=endpoints', '--group=gateways']);
      const own = await createClusterClient({ kubeconfig: [api.kubeconfig], context: 'gateway' });
      open.push(own);
      const { services, held } = await followed(own);
      expect([...held.keys()]).to.include('default/b');
      expect(services.problems().get('pods')?.apiStatus).to.equal(403);
    });
  });

  describe('of upstreams', () => {
    it('creates, updates and removes the Upstreams of Services', async () => {
      await discovering();
      await apply(serviceObject('default/shop', { labels: { team: 'a' } }));
      await until(async () => (await upstreams()).has('default-shop-80'));
      const shop = (await upstreams()).get('default-shop-80')!;
      expect(shop.metadata.labels).to.deep.equal({ discovered_by: 'kubernetesplugin' });
      expect(shop.spec).to.deep.equal({
        discoveryMetadata: { labels: { team: 'a' } },
        kube: { serviceName: 'shop', serviceNamespace: 'default', servicePort: 80, selector: { app: 'shop' } },
      });
      await apply(
        serviceObject('default/shop', { labels: { team: 'b' }, annotations: { 'gw.vendor.io/h2_service': 'true' } }),
      );
      await until(async () => (await upstreams()).get('default-shop-80')?.spec['useHttp2'] === true);
      expect((await upstreams()).get('default-shop-80')!.spec['discoveryMetadata']).to.deep.equal({
        labels: { team: 'b' },
      });
      await api.kubectl(['delete', 'service', 'shop']);
      await until(async () => !(await upstreams()).has('default-shop-80'));
    });

    it('keeps what users set, and their own upstreams', async () => {
      const own = {
        apiVersion: 'gw.vendor.io/v1',
        kind: 'Upstream',
        metadata: { name: 'default-mine-80', namespace: 'gw-system' },
        spec: { static: { hosts: [{ addr: 'example.com', port: 80 }] } },
      };
      await apply(own);
      const discovery = await discovering();
      await apply(serviceObject('default/mine'), serviceObject('default/kept'));
      await until(async () => (await upstreams()).has('default-kept-80'));
      await api.kubectl([
        'patch',
        'upstream',
        'default-kept-80',
        '-n',
        'gw-system',
        '--type=merge',
        '-p',
        '{"spec":{"useHttp2":false,"kube":{"serviceSpec":{"rest":{}}}}}',
      ]);
      await apply(
        serviceObject('default/kept', { labels: { new: 'label' }, annotations: { 'gw.vendor.io/h2_service': 'true' } }),
      );
      await until(async () => (await upstreams()).get('default-kept-80')?.spec['discoveryMetadata'] !== undefined);
      const { spec } = (await upstreams()).get('default-kept-80')!;
      expect(spec['useHttp2']).to.equal(false);
      expect(spec.kube).to.have.property('serviceSpec');
      expect((await upstreams()).get('default-mine-80')!.spec).to.have.property('static');
      expect(discovery.problems().map(({ upstream }) => upstream)).to.include('default-mine-80');
      await api.kubectl(['delete', 'service', 'mine']);
      await api.kubectl(['delete', 'service', 'kept']);
      await until(async () => !(await upstreams()).has('default-kept-80'));
      expect((await upstreams()).has('default-mine-80')).to.equal(true);
    });

    it('writes nothing after a restart, and removes what went away meanwhile', async () => {
      await apply(serviceObject('default/stay'), serviceObject('default/leave'));
      await discovering();
      await until(
        async () => (await upstreams()).has('default-leave-80') && (await upstreams()).has('default-stay-80'),
      );
      const before = (await upstreams()).get('default-stay-80')!.metadata.resourceVersion;
      for (const each of open.splice(0).toReversed()) await each.close();
      await api.kubectl(['delete', 'service', 'leave']);
      await discovering();
      await until(async () => !(await upstreams()).has('default-leave-80'));
      expect((await upstreams()).get('default-stay-80')!.metadata.resourceVersion).to.equal(before);
    });

    it('writes only while it leads', async () => {
      const discovery = await discovering();
      discovery.setLeading(false);
      await apply(serviceObject('default/later'));
      const { held } = await followed();
      await until(() => held.has('default/later'));
      expect((await upstreams()).has('default-later-80')).to.equal(false);
      discovery.setLeading(true);
      await until(async () => (await upstreams()).has('default-later-80'));
    });

    it('continues after the API server was killed', async () => {
      await discovering();
      await api.kill();
      await api.start();
      await apply(serviceObject('default/after'));
      // A server that has just started may not serve custom resources yet.
      const found = () => upstreams().catch(() => new Map<string, UpstreamObject>());
      await until(async () => (await found()).has('default-after-80'));
    });

    it('creates upstreams for 5,000 Services that appear at once, within the rate', async function () {
      this.timeout(600_000);
      const own = await createClusterClient({ kubeconfig: [api.kubeconfig] }, { limit: { qps: 200, burst: 400 } });
      open.push(own);
      await discovering({}, own);
      await api.kubectl(['create', 'namespace', 'many']);
      const others = await count();
      const began = performance.now();
      let next = 0;
      const create = async (): Promise<void> => {
        while (next < 5_000) {
          const body = serviceObject(`many/s${next++}`, { spec: { clusterIP: 'None' } });
          await client.send({ method: 'POST', path: '/api/v1/namespaces/many/services', body });
        }
      };
      await Promise.all(Array.from({ length: 16 }, create));
      const created = performance.now();
      await until(async () => (await count()) >= others + 5_000, 500_000);
      const all = await upstreams();
      expect([...all.keys()].filter((name) => name.startsWith('many-s'))).to.have.length(5_000);
      console.log(
        `      5,000 Services created in ${((created - began) / 1000).toFixed(1)} s, their upstreams ${((performance.now() - created) / 1000).toFixed(1)} s later (200 requests/s)`,
      );
    });
  });
});
