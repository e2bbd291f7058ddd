import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { createControlPlane, severalSources, silentLoggers, type ControlPlane, type Route } from '@edge-gateway/core';
import {
  createClusterClient,
  createClusterServices,
  gatewayApiSource,
  kubernetesSource,
  type ClusterClient,
  type GatewayApiSource,
  type ReflectorTiming,
} from '@edge-gateway/kubernetes';
import { expect } from 'chai';
import { gatewayApiDefinitions } from '../../../../test/parts/gateway-api.ts';
import { startKubernetes, type KubernetesApi } from '../../../../test/parts/kubernetes.ts';
import { applyAnyCrds } from '../any-crds.ts';
import { serviceObject } from '../discovery/objects.ts';

const QUICK: Partial<ReflectorTiming> = { backoff: { firstMs: 50, maxMs: 500, resetMs: 60_000 } };
const log = silentLoggers.get('config');
const GROUP = 'gateway.networking.k8s.io/v1';

async function until(condition: () => boolean | Promise<boolean>, limitMs = 60_000): Promise<void> {
  for (const giveUp = performance.now() + limitMs; !(await condition()); await wait(50)) {
    if (performance.now() > giveUp) throw new Error(`still not so after ${limitMs} ms: ${condition}`);
  }
}

interface Shown {
  readonly status?: any;
}

describe('the Gateway API of a real API server', function () {
  this.timeout(300_000);
  let api: KubernetesApi;
  let client: ClusterClient;
  let crds: string[];
  const open: { close(): Promise<void> }[] = [];

  before(async function () {
    crds = await gatewayApiDefinitions(this);
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
  const read = async (kind: string, name: string): Promise<Shown> =>
    JSON.parse(await api.kubectl(['get', kind, name, '-n', 'default', '-o', 'json'])) as Shown;
  const conditions = (list: any[] = []): string[] =>
    list.map(({ type, status, reason }) => `${type} ${status} ${reason}`);

  async function start(): Promise<{ plane: ControlPlane; source: GatewayApiSource }> {
    const services = createClusterServices({ client, log, timing: QUICK });
    const source = gatewayApiSource({ client, services, log, timing: QUICK });
    source.setLeading(true);
    const plane = createControlPlane({ source, services, log: silentLoggers });
    open.push(plane);
    await plane.start();
    return { plane, source };
  }

  it('is not needed to start', async () => {
    const { plane } = await start();
    expect(plane.state!.resources.size).to.equal(0);
  });

  describe('once it is installed', () => {
    const CLASS = {
      apiVersion: GROUP,
      kind: 'GatewayClass',
      metadata: { name: 'edge-gateway' },
      spec: { controllerName: 'gateway.vendor.io/edge-gateway' },
    };
    const GATEWAY = {
      apiVersion: GROUP,
      kind: 'Gateway',
      metadata: { name: 'gw', namespace: 'default' },
      spec: { gatewayClassName: 'edge-gateway', listeners: [{ name: 'http', port: 8080, protocol: 'HTTP' }] },
    };
    const ROUTE = {
      apiVersion: GROUP,
      kind: 'HTTPRoute',
      metadata: { name: 'r', namespace: 'default' },
      spec: {
        parentRefs: [{ name: 'gw' }],
        hostnames: ['a.example.com'],
        rules: [{ backendRefs: [{ name: 'web', port: 80 }] }],
      },
    };

    before(async () => {
      for (const crd of crds) await api.apply(crd);
      await api.kubectl(['wait', '--for=condition=Established', 'crd', '--all', '--timeout=60s']);
    });

    it('serves routes, writes statuses once, and follows changes', async () => {
      const proxy = serviceObject('default/gw-proxy', {
        labels: { 'gateway.networking.k8s.io/gateway-name': 'gw' },
        spec: { externalIPs: ['198.51.100.7'] },
      });
      await apply(CLASS, GATEWAY, ROUTE, serviceObject('default/web'), proxy);
      const { plane } = await start();
      const hosts = () =>
        (plane.state!.snapshots.get('default.gw')?.listeners ?? []).flatMap(({ virtualHosts }) =>
          virtualHosts.flatMap(({ domains }) => domains),
        );
      // The first state is complete: proxies would lose their listeners when a control plane restarts.
      expect(hosts()).to.deep.equal(['a.example.com']);
      await until(async () => (await read('httproute', 'r')).status?.parents?.length === 1);
      const route = await read('httproute', 'r');
      expect(conditions(route.status.parents[0].conditions)).to.deep.equal([
        'Accepted True Accepted',
        'ResolvedRefs True ResolvedRefs',
      ]);
      await until(async () =>
        conditions((await read('gateway', 'gw')).status?.conditions).includes('Programmed True Programmed'),
      );
      const { status } = await read('gateway', 'gw');
      expect(status.addresses).to.deep.equal([{ type: 'IPAddress', value: '198.51.100.7' }]);
      expect(status.listeners[0].attachedRoutes).to.equal(1);
      await until(async () =>
        conditions((await read('gatewayclass', 'edge-gateway')).status?.conditions).includes('Accepted True Accepted'),
      );
      await apply({
        ...ROUTE,
        spec: { ...ROUTE.spec, hostnames: ['b.example.com'], rules: [{ backendRefs: [{ name: 'gone', port: 80 }] }] },
      });
      await until(() => hosts().join() === 'b.example.com');
      await until(
        async () =>
          conditions((await read('httproute', 'r')).status.parents[0].conditions)[1] ===
          'ResolvedRefs False BackendNotFound',
      );
      const before = (await read('gateway', 'gw')) as any;
      await api.kubectl(['delete', 'httproute', 'r', '-n', 'default']);
      await until(async () => (await read('gateway', 'gw')).status.listeners[0].attachedRoutes === 0);
      const after = (await read('gateway', 'gw')) as any;
      expect(after.status.conditions).to.deep.equal(before.status.conditions);
      await wait(1_000);
      expect(((await read('gateway', 'gw')) as any).metadata.resourceVersion).to.equal(after.metadata.resourceVersion);
    });

    it('keeps the entries of other controllers, and removes its own when a route leaves', async () => {
      await apply(CLASS, GATEWAY, ROUTE, serviceObject('default/web'));
      const other = {
        parentRef: { group: 'gateway.networking.k8s.io', kind: 'Gateway', name: 'other' },
        controllerName: 'example.com/other',
        conditions: [
          {
            type: 'Accepted',
            status: 'True',
            reason: 'Accepted',
            message: '',
            lastTransitionTime: '2026-01-01T00:00:00Z',
          },
        ],
      };
      await api.kubectl([
        'patch',
        'httproute',
        'r',
        '-n',
        'default',
        '--subresource=status',
        '--type=merge',
        '-p',
        JSON.stringify({ status: { parents: [other] } }),
      ]);
      await start();
      const names = async () =>
        ((await read('httproute', 'r')).status.parents as any[]).map(({ controllerName }) => controllerName).join();
      await until(async () => (await names()) === 'example.com/other,gateway.vendor.io/edge-gateway');
      await apply({ ...ROUTE, spec: { ...ROUTE.spec, parentRefs: [{ name: 'other' }] } });
      await until(async () => (await names()) === 'example.com/other');
    });

    it('reads only the Secrets that a listener names', async () => {
      const tls = { name: 'tls', port: 8443, protocol: 'HTTPS', tls: { certificateRefs: [{ name: 'cert' }] } };
      await apply({ ...GATEWAY, spec: { ...GATEWAY.spec, listeners: [tls] } });
      const { plane } = await start();
      const reason = async () =>
        conditions((await read('gateway', 'gw')).status?.listeners?.[0]?.conditions).find((text) =>
          text.startsWith('ResolvedRefs'),
        );
      await until(async () => (await reason()) === 'ResolvedRefs False InvalidCertificateRef');
      const key = join(api.directory, 'apiserver.key');
      await api.kubectl([
        'create',
        'secret',
        'tls',
        'cert',
        '-n',
        'default',
        `--cert=${join(api.directory, 'apiserver.crt')}`,
        `--key=${key}`,
      ]);
      await until(async () => (await reason()) === 'ResolvedRefs True ResolvedRefs');
      await until(() =>
        [...plane.state!.resources.keys()].some((each) =>
          each.startsWith('Secret/gw-system/gateway-api.default.gw.certificate'),
        ),
      );
    });

    it('never serves a route without the RouteOption that it refers to', async () => {
      const option = {
        apiVersion: 'gateway.vendor.io/v1',
        kind: 'RouteOption',
        metadata: { name: 'policy', namespace: 'default' },
        spec: { options: { timeout: '7s' } },
      };
      const extensionRef = { group: 'gateway.vendor.io', kind: 'RouteOption', name: 'policy' };
      const rules = [{ filters: [{ type: 'ExtensionRef', extensionRef }], backendRefs: [{ name: 'web', port: 80 }] }];
      await api.kubectl(['delete', 'httproute', 'r', '-n', 'default']);
      await apply(CLASS, GATEWAY, serviceObject('default/web'), option);
      const services = createClusterServices({ client, log, timing: QUICK });
      const own = gatewayApiSource({ client, services, log, timing: QUICK });
      own.setLeading(true);
      const source = severalSources([kubernetesSource({ client, log, timing: QUICK }), own]);
      const plane = createControlPlane({ source, services, log: silentLoggers });
      open.push(plane);
      await plane.start();
      const routes = (): Route[] =>
        (plane.state!.snapshots.get('default.gw')?.listeners ?? []).flatMap(({ virtualHosts }) =>
          virtualHosts.flatMap((host) => host.routes),
        );
      /** Of each state in which the route existed. */
      const seen: string[] = [];
      plane.subscribe(() => {
        for (const { action, options } of routes())
          seen.push('status' in action ? String(action.status) : `${action.type} ${options.timeout}`);
      });
      const isNow = (text: string): Promise<void> => until(() => seen.at(-1) === text);
      await apply({ ...ROUTE, spec: { ...ROUTE.spec, rules } });
      await isNow('forward 7s');
      for (let i = 0; i < 3; i++) {
        await api.kubectl(['delete', 'routeoption', 'policy', '-n', 'default']);
        await isNow('500');
        await apply(option);
        await isNow('forward 7s');
      }
      await api.kubectl(['delete', 'routeoption', 'policy', '-n', 'default']);
      await until(
        async () =>
          conditions((await read('httproute', 'r')).status.parents[0].conditions)[1] ===
          'ResolvedRefs False BackendNotFound',
      );
      expect(new Set(seen)).to.deep.equal(new Set(['forward 7s', '500']));
    });
  });
});
