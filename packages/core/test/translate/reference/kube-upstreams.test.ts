import { expect } from 'chai';
import type { ClusterService } from '../../../src/contract/cluster-services.ts';
import type { Endpoint } from '../../../src/contract/snapshot.ts';
import { createControlPlane } from '../../../src/control/control-plane.ts';
import { createStore } from '../../../src/control/store.ts';
import { memorySource } from '../../../src/source/memory.ts';
import { parseDocuments } from '../../../src/parse/parse.ts';
import { translate } from '../../../src/translate/translate.ts';
import { randomOf } from '../random.ts';

const endpoint = (address: string, metadata?: Record<string, string>): Endpoint =>
  Object.freeze({ address, port: 8080, weight: 1, ...(metadata && { metadata }) });

function clusterService(name: string, ports: Record<number, readonly Endpoint[]>, more = {}): ClusterService {
  const [namespace, service] = name.split('/') as [string, string];
  return Object.freeze({
    ref: { name: service, namespace },
    selector: { app: service },
    ports: Object.entries(ports).map(([port, endpoints]) => ({
      port: Number(port),
      upstream: { kube: { serviceName: service, serviceNamespace: namespace, servicePort: Number(port) } },
      endpoints,
    })),
    ...more,
  });
}

const KUBE_UPSTREAM = (name: string, service: string, port: number, more = {}) => ({
  apiVersion: 'gw.vendor.io/v1',
  kind: 'Upstream',
  metadata: { name },
  spec: { kube: { serviceName: service, serviceNamespace: 'apps', servicePort: port, ...more } },
});

const virtualService = (name: string, single: object) => ({
  apiVersion: 'gateway.vendor.io/v1',
  kind: 'VirtualService',
  metadata: { name },
  spec: {
    virtualHost: {
      domains: [`${name}.example.com`],
      routes: [{ matchers: [{ prefix: '/' }], routeAction: { single } }],
    },
  },
});

const kube = (name: string, port: number, namespace = 'apps') => ({ kube: { ref: { name, namespace }, port } });

/** Runs a control plane with a cluster whose Services the test changes. */
async function running(resources: readonly object[], services: readonly ClusterService[]) {
  let deliver!: (changes: [string, ClusterService | undefined][]) => void;
  const keyed = (all: readonly ClusterService[]): [string, ClusterService][] =>
    all.map((each) => [`${each.ref.namespace}/${each.ref.name}`, each]);
  const source = memorySource({ all: resources });
  const controlPlane = createControlPlane({
    source,
    services: {
      async start(onChange) {
        deliver = onChange;
        onChange(keyed(services));
      },
      async close() {},
    },
  });
  await controlPlane.start();
  return {
    controlPlane,
    source,
    set: (...changed: ClusterService[]) => deliver(keyed(changed)),
    remove: (key: string) => deliver([[key, undefined]]),
    upstream: (name: string) =>
      controlPlane.state!.snapshots.get('gateway-proxy')?.upstreams.find((each) => each.name === name),
    action: (name: string) =>
      controlPlane
        .state!.snapshots.get('gateway-proxy')!
        .listeners.flatMap(({ virtualHosts }) => virtualHosts)
        .find((host) => host.name === `gw-system.${name}`)!.routes[0]!.action,
    status: (key: string) => controlPlane.state!.statuses.get(key as never)!.statuses['gw-system']!,
  };
}

describe('upstreams of Services', () => {
  it('have the endpoints of their port', async () => {
    const service = clusterService('apps/web', { 80: [endpoint('10.0.0.1')], 90: [endpoint('10.0.0.2')] });
    const plane = await running(
      [KUBE_UPSTREAM('web', 'web', 90), virtualService('a', { upstream: { name: 'web' } })],
      [service],
    );
    expect(plane.upstream('web_gw-system')!.endpoints).to.deep.equal([endpoint('10.0.0.2')]);
    expect(plane.status('Upstream/gw-system/web').state).to.equal('Accepted');
    await plane.controlPlane.close();
  });

  it('follow a change of the endpoints without building routes again', async () => {
    const resources = [KUBE_UPSTREAM('web', 'web', 80), virtualService('a', { upstream: { name: 'web' } })];
    const plane = await running(resources, [clusterService('apps/web', { 80: [endpoint('10.0.0.1')] })]);
    const before = plane.controlPlane.state!;
    plane.set(clusterService('apps/web', { 80: [endpoint('10.0.0.1'), endpoint('10.0.0.3')] }));
    const after = plane.controlPlane.state!;
    expect(plane.upstream('web_gw-system')!.endpoints.map(({ address }) => address)).to.deep.equal([
      '10.0.0.1',
      '10.0.0.3',
    ]);
    expect(after.revision).to.equal(before.revision + 1);
    const [old, next] = [before, after].map((state) => state.snapshots.get('gateway-proxy')!);
    expect(next!.listeners).to.equal(old!.listeners);
    expect(next!.version).not.to.equal(old!.version);
    await plane.controlPlane.close();
  });

  it('get a header for Linkerd while the Settings ask for it', async () => {
    const settings = (spec: object) => ({
      apiVersion: 'gw.vendor.io/v1',
      kind: 'Settings',
      metadata: { name: 'default', namespace: 'gw-system' },
      spec,
    });
    const own = { headerManipulation: { requestHeadersToAdd: [{ header: { key: 'x', value: 'y' } }] } };
    const plain = {
      apiVersion: 'gw.vendor.io/v1',
      kind: 'Upstream',
      metadata: { name: 'plain' },
      spec: { static: { hosts: [{ addr: '127.0.0.1', port: 80 }] } },
    };
    const mixed = virtualService('mixed', {});
    const multi = {
      destinations: [
        { weight: 1, destination: kube('web', 80), options: own },
        { weight: 1, destination: { upstream: { name: 'plain', namespace: 'gw-system' } } },
      ],
    };
    Object.assign(mixed.spec.virtualHost.routes[0]!, { routeAction: { multi } });
    const routes = [
      virtualService('a', { upstream: { name: 'web', namespace: 'gw-system' } }),
      virtualService('b', kube('web', 80)),
      virtualService('c', { upstream: { name: 'plain', namespace: 'gw-system' } }),
      mixed,
    ];
    const resources = [KUBE_UPSTREAM('web', 'web', 80), plain, ...routes];
    const plane = await running(resources, [clusterService('apps/web', { 80: [endpoint('10.0.0.1')] })]);
    interface Forward {
      readonly destinations: readonly { readonly options: Partial<typeof own> }[];
    }
    const headersOf = (name: string): unknown[] =>
      (plane.action(name) as unknown as Forward).destinations.map(({ options }) =>
        options.headerManipulation?.requestHeadersToAdd.map(({ header }) => `${header.key}: ${header.value}`),
      );
    const override = 'l5d-dst-override: web.apps.svc.cluster.local:80';
    expect(headersOf('a')).to.deep.equal([undefined]);
    plane.source.set('settings', settings({ linkerd: true }));
    expect(headersOf('a')).to.deep.equal([[override]]);
    expect(headersOf('b')).to.deep.equal([[override]]);
    expect(headersOf('c')).to.deep.equal([undefined]);
    expect(headersOf('mixed')).to.deep.equal([['x: y', override], undefined]);
    plane.source.set('settings', settings({}));
    expect(headersOf('a')).to.deep.equal([undefined]);
    expect(headersOf('mixed')).to.deep.equal([['x: y'], undefined]);
    await plane.controlPlane.close();
  });

  it('publish nothing when nothing changed', async () => {
    const service = clusterService('apps/web', { 80: [] });
    const plane = await running([KUBE_UPSTREAM('web', 'web', 80)], [service]);
    const before = plane.controlPlane.state;
    plane.set(service);
    plane.remove('apps/unknown');
    expect(plane.controlPlane.state).to.equal(before);
    await plane.controlPlane.close();
  });

  it('are not served without their Service or port: routes to them return the replacement, and the status says why', async () => {
    const resources = [
      KUBE_UPSTREAM('gone', 'gone', 80),
      KUBE_UPSTREAM('port', 'web', 81),
      virtualService('a', { upstream: { name: 'gone' } }),
      virtualService('b', { upstream: { name: 'port' } }),
    ];
    const plane = await running(resources, [clusterService('apps/web', { 80: [], 8080: [] })]);
    expect(plane.upstream('gone_gw-system')).to.equal(undefined);
    expect(plane.upstream('port_gw-system')).to.equal(undefined);
    expect(plane.status('Upstream/gw-system/gone').state).to.equal('Warning');
    expect(plane.status('Upstream/gw-system/gone').reason).to.contain('Service apps.gone not found');
    expect(plane.status('Upstream/gw-system/port').reason).to.contain(
      'Service apps.web has no TCP port 81 (its ports: 80, 8080)',
    );
    expect(plane.action('a')).to.have.property('type', 'replacement');
    expect(plane.status('VirtualService/gw-system/b').state).to.equal('Warning');
    plane.set(clusterService('apps/gone', { 80: [endpoint('10.0.0.9')] }));
    expect(plane.upstream('gone_gw-system')!.endpoints).to.have.length(1);
    expect(plane.action('a')).to.have.property('type', 'forward');
    expect(plane.status('VirtualService/gw-system/a').state).to.equal('Accepted');
    plane.remove('apps/gone');
    expect(plane.upstream('gone_gw-system')).to.equal(undefined);
    expect(plane.status('Upstream/gw-system/gone').state).to.equal('Warning');
    await plane.controlPlane.close();
  });

  it('have only the pods with the labels of their selector', async () => {
    const endpoints = [
      endpoint('10.0.0.1', { app: 'web', version: 'v1' }),
      endpoint('10.0.0.2', { app: 'web', version: 'v2' }),
      endpoint('10.0.0.3'),
    ];
    const resources = [
      KUBE_UPSTREAM('all', 'web', 80, { selector: { app: 'web' } }),
      KUBE_UPSTREAM('v2', 'web', 80, { selector: { app: 'web', version: 'v2' } }),
      KUBE_UPSTREAM('none', 'web', 80, { selector: { app: 'other' } }),
      virtualService('a', { upstream: { name: 'all' } }),
    ];
    const plane = await running(resources, [clusterService('apps/web', { 80: endpoints })]);
    const addresses = (name: string) => plane.upstream(`${name}_gw-system`)!.endpoints.map(({ address }) => address);
    expect(addresses('all')).to.deep.equal(['10.0.0.1', '10.0.0.2', '10.0.0.3']);
    expect(addresses('v2')).to.deep.equal(['10.0.0.2']);
    expect(addresses('none')).to.deep.equal([]);
    await plane.controlPlane.close();
  });

  it('of a control plane without a cluster have no endpoints, and a Warning', async () => {
    const resources = [
      KUBE_UPSTREAM('web', 'web', 80),
      virtualService('a', { upstream: { name: 'web' } }),
      virtualService('b', kube('web', 80)),
    ];
    const controlPlane = createControlPlane({ source: memorySource({ all: resources }) });
    await controlPlane.start();
    const { statuses, snapshots } = controlPlane.state!;
    expect(statuses.get('Upstream/gw-system/web')!.statuses['gw-system']!.reason).to.contain(
      'a control plane with --kubernetes',
    );
    expect(statuses.get('VirtualService/gw-system/a')!.statuses['gw-system']!.state).to.equal('Accepted');
    expect(statuses.get('VirtualService/gw-system/b')!.statuses['gw-system']!.state).to.equal('Warning');
    expect(snapshots.get('gateway-proxy')!.upstreams[0]!.endpoints).to.deep.equal([]);
    await controlPlane.close();
  });
});

describe('kube destinations', () => {
  it('refer to an upstream that is served only while a route refers to it', async () => {
    const services = [
      clusterService('apps/web', { 80: [endpoint('10.0.0.1')] }),
      clusterService('apps/other', { 80: [] }),
    ];
    const plane = await running([virtualService('a', kube('web', 80))], services);
    const names = () => plane.controlPlane.state!.snapshots.get('gateway-proxy')!.upstreams.map(({ name }) => name);
    expect(names()).to.deep.equal(['kube-svc:apps-web-80_apps']);
    expect(plane.upstream('kube-svc:apps-web-80_apps')!.endpoints).to.deep.equal([endpoint('10.0.0.1')]);
    expect(plane.action('a')).to.have.nested.property('destinations[0].upstream', 'kube-svc:apps-web-80_apps');
    expect(plane.controlPlane.state!.resources.has('Upstream/apps/kube-svc:apps-web-80')).to.equal(false);
    plane.source.set('all', [virtualService('a', kube('other', 80))]);
    expect(names()).to.deep.equal(['kube-svc:apps-other-80_apps']);
    await plane.controlPlane.close();
  });

  it('warn about a missing Service or port until it appears', async () => {
    const plane = await running(
      [virtualService('a', kube('web', 81)), virtualService('b', kube('late', 80))],
      [clusterService('apps/web', { 80: [] })],
    );
    const reason = (name: string) => plane.status(`VirtualService/gw-system/${name}`).reason;
    expect(plane.status('VirtualService/gw-system/a').state).to.equal('Warning');
    expect(reason('a')).to.contain(
      '{ apps.kube-svc:apps-web-81 } not found: Service apps.web has no TCP port 81 (its ports: 80)',
    );
    expect(reason('b')).to.contain('Service apps.late not found');
    plane.set(clusterService('apps/late', { 90: [] }));
    expect(reason('b')).to.contain('Service apps.late has no TCP port 80 (its ports: 90)');
    plane.set(clusterService('apps/late', { 80: [] }), clusterService('apps/web', { 80: [], 81: [] }));
    expect(plane.status('VirtualService/gw-system/a').state).to.equal('Accepted');
    expect(plane.status('VirtualService/gw-system/b').state).to.equal('Accepted');
    plane.remove('apps/late');
    expect(reason('b')).to.contain('Service apps.late not found');
    expect(JSON.stringify(plane.action('b'))).to.contain('503');
    await plane.controlPlane.close();
  });

  it('receive copies of requests', async () => {
    const route = virtualService('a', kube('web', 80));
    const shadowing = { upstream: { name: 'kube-svc:apps-copy-80', namespace: 'apps' }, percentage: 100 };
    const [written] = route.spec.virtualHost.routes;
    const copied = {
      ...route,
      spec: { virtualHost: { domains: ['*'], routes: [{ ...written, options: { shadowing } }] } },
    };
    const services = [clusterService('apps/web', { 80: [] }), clusterService('apps/copy', { 80: [] })];
    const plane = await running([copied], services);
    expect(plane.upstream('kube-svc:apps-copy-80_apps')).not.to.equal(undefined);
    await plane.controlPlane.close();
  });

  it('name the fault of a port that discovery cannot use', async () => {
    const service = clusterService(
      'apps/web',
      {},
      { ports: [{ port: 80, fault: 'annotation x is not valid', endpoints: [] }] },
    );
    const plane = await running([virtualService('a', kube('web', 80))], [service]);
    expect(plane.status('VirtualService/gw-system/a').reason).to.contain('annotation x is not valid');
    expect(plane.action('a')).to.have.property('type', 'replacement');
    await plane.controlPlane.close();
  });

  it('in an upstream group are errors of the group when missing', async () => {
    const group = {
      apiVersion: 'gw.vendor.io/v1',
      kind: 'UpstreamGroup',
      metadata: { name: 'group' },
      spec: {
        destinations: [
          { destination: kube('web', 80), weight: 1 },
          { destination: kube('gone', 80), weight: 1 },
        ],
      },
    };
    const route = virtualService('a', {});
    const resources = [
      group,
      {
        ...route,
        spec: {
          virtualHost: {
            domains: ['*'],
            routes: [{ matchers: [{ prefix: '/' }], routeAction: { upstreamGroup: { name: 'group' } } }],
          },
        },
      },
    ];
    const plane = await running(resources, [clusterService('apps/web', { 80: [] })]);
    const { state, reason } = plane.status('UpstreamGroup/gw-system/group');
    expect(state).to.equal('Rejected');
    expect(reason).to.contain('apps.kube-svc:apps-gone-80').and.not.contain('web');
    expect(plane.upstream('kube-svc:apps-web-80_apps')).not.to.equal(undefined);
    await plane.controlPlane.close();
  });

  it('of TCP hosts are served', async () => {
    const gateway = {
      apiVersion: 'gateway.vendor.io/v1',
      kind: 'Gateway',
      metadata: { name: 'tcp' },
      spec: {
        bindAddress: '::',
        bindPort: 9100,
        tcpGateway: { tcpHosts: [{ name: 'db', destination: { single: kube('db', 5432) } }] },
      },
    };
    const plane = await running([gateway], [clusterService('apps/db', { 5432: [endpoint('10.0.0.5')] })]);
    expect(plane.upstream('kube-svc:apps-db-5432_apps')!.endpoints).to.have.length(1);
    expect(plane.status('Gateway/gw-system/tcp').state).to.equal('Accepted');
    plane.remove('apps/db');
    expect(plane.status('Gateway/gw-system/tcp').state).to.equal('Warning');
    await plane.controlPlane.close();
  });
});

describe('changes of Services', () => {
  it('give the same translation with and without a memo', () => {
    const store = createStore();
    const resources = [
      KUBE_UPSTREAM('u0', 's0', 80),
      KUBE_UPSTREAM('u1', 's1', 81),
      virtualService('a', kube('s0', 80)),
      virtualService('b', kube('s2', 80)),
      virtualService('c', { upstream: { name: 'u1' } }),
      virtualService('d', { upstream: { name: 'kube-svc:apps-s1-80', namespace: 'apps' } }),
    ];
    store.apply(
      new Map([['all', parseDocuments(resources.map((each) => JSON.stringify(each)).join('\n---\n'), 'all')]]),
    );
    const random = randomOf(7);
    let memo: Parameters<typeof translate>[1];
    for (let round = 0; round < 200; round++) {
      const name = `s${Math.floor(random() * 4)}`;
      const ports = Object.fromEntries(
        [80, 81].filter(() => random() < 0.7).map((port) => [port, [endpoint(`10.0.0.${Math.floor(random() * 3)}`)]]),
      );
      store.applyServices([[`apps/${name}`, random() < 0.3 ? undefined : clusterService(`apps/${name}`, ports)]]);
      const { stored, services } = store.state;
      const now = translate({ stored, services }, memo);
      const fresh = translate({ stored, services });
      ({ memo } = now);
      const served = (from: typeof now) => from.snapshots.get('gateway-proxy')!.upstreams;
      expect(served(now), `round ${round}`).to.deep.equal(served(fresh));
      for (const [key, status] of fresh.statuses) {
        const state = ({ statuses }: typeof status) => statuses['gw-system']!.state;
        if (key.startsWith('Upstream/')) expect(now.statuses.get(key), `round ${round} ${key}`).to.deep.equal(status);
        else expect(state(now.statuses.get(key)!), `round ${round} ${key}`).to.equal(state(status));
      }
    }
  });
});

describe('resources from the Gateway API', () => {
  const labels = { created_by: 'gw-kube-gateway-api', part: 'a' };
  const generated = virtualService('generated', kube('web', 80));
  const gateway = {
    apiVersion: 'gateway.vendor.io/v1',
    kind: 'Gateway',
    metadata: { name: 'generated', labels },
    spec: {
      bindAddress: '::',
      bindPort: 9000,
      proxyNames: ['apps-gw'],
      httpGateway: { virtualServiceSelector: labels },
    },
  };
  const hostsOf = (plane: Awaited<ReturnType<typeof running>>, proxy: string): string[] =>
    (plane.controlPlane.state!.snapshots.get(proxy)?.listeners ?? []).flatMap(({ virtualHosts }) =>
      virtualHosts.map(({ name }) => name),
    );

  it('are served beside the default gateways, and only by their own Gateway', async () => {
    const own = { ...generated, metadata: { name: 'generated', labels } };
    const settings = {
      apiVersion: 'gw.vendor.io/v1',
      kind: 'Settings',
      metadata: { name: 'default' },
      spec: { discoveryNamespace: 'elsewhere' },
    };
    const resources = [gateway, own, virtualService('written', kube('web', 80)), settings];
    const plane = await running(resources, [clusterService('apps/web', { 80: [] })]);
    expect(hostsOf(plane, 'apps-gw')).to.deep.equal(['gw-system.generated']);
    expect(hostsOf(plane, 'gateway-proxy')).to.deep.equal(['gw-system.written']);
    const proxy = plane.controlPlane.state!.proxies.find(({ metadata }) => metadata.name === 'apps-gw');
    expect(proxy!.metadata.labels).to.deep.equal({ created_by: 'gw-kube-gateway-api' });
    await plane.controlPlane.close();
  });
});
