import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { GatewayProcess, until } from '../apps/gateway/test/gateway-process.ts';
import { ROOT } from './docs/workspace.ts';
import { goldenPath } from './helm-goldens.ts';
import { gatewayApiDefinitions } from './parts/gateway-api.ts';
import { startKubernetes, type KubernetesApi } from './parts/kubernetes.ts';
import { serviceAccountKubeconfig } from './parts/service-account.ts';

const NAMESPACE = 'gw-system';

describe('the roles of the Helm chart', () => {
  let api: KubernetesApi;
  let process: GatewayProcess | undefined;

  before(async function () {
    api = await startKubernetes(this, { controllers: true });
    this.timeout(300_000);
    for (const name of [NAMESPACE, 'shop', 'billing']) await api.kubectl(['create', 'namespace', name]);
    await api.kubectl(['apply', '--server-side', '-f', join(ROOT, 'deploy', 'crds')]);
    await api.kubectl(['wait', '--for=condition=Established', '--timeout=120s', 'crd', '-l', 'app=gw']);
  });

  afterEach(async () => {
    await process?.close();
    process = undefined;
  });
  after(() => api?.close());

  const isApplied = (manifests: string): Promise<boolean> =>
    api.apply(manifests).then(
      () => true,
      () => false,
    );

  const start = async (role: string, component: string, ...flags: string[]): Promise<GatewayProcess> => {
    process = new GatewayProcess();
    const ports = ['--stats-port', '0', ...flags];
    return process.startRole(
      role,
      '--kubernetes',
      '--kubeconfig',
      await serviceAccountKubeconfig(api, component, NAMESPACE),
      ...ports,
    );
  };

  const read = async (...args: string[]): Promise<any> =>
    JSON.parse(await api.kubectl(['get', '-o', 'json', ...args]).catch(() => 'null'));

  const RESOURCES = `
apiVersion: v1
kind: Service
metadata: { name: web, namespace: shop }
spec: { ports: [{ port: 80 }] }
---
apiVersion: gateway.vendor.io/v1
kind: VirtualService
metadata: { name: shop, namespace: shop }
spec:
  virtualHost:
    domains: [shop.example]
    routes: [{ matchers: [{ prefix: / }], directResponseAction: { status: 200 } }]
`;

  const GATEWAY_API = `---
apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: { name: edge-gateway }
spec: { controllerName: gateway.vendor.io/edge-gateway }
---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: { name: public, namespace: shop }
spec: { gatewayClassName: edge-gateway, listeners: [{ name: http, port: 8080, protocol: HTTP }] }
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: { name: web, namespace: shop }
spec: { parentRefs: [{ name: public }], rules: [{ backendRefs: [{ name: web, port: 80 }] }] }
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: { name: outside, namespace: default }
spec: { parentRefs: [{ name: public, namespace: shop }], rules: [{ backendRefs: [{ name: web, port: 80 }] }] }
`;

  // The first one: those of the other charts permit more.
  it('of single namespaces let the control plane serve them, and their part of the Gateway API', async function () {
    this.timeout(300_000);
    await api.apply((await gatewayApiDefinitions(this)).join('\n---\n'));
    await until(() => isApplied(readFileSync(goldenPath('namespaced', 'out'), 'utf8')), 'the chart is applied', 60);
    await until(() => isApplied(RESOURCES + GATEWAY_API), 'the resources are applied', 60);
    const ports = ['--xds-port', '0', '--http-port', '0', '--https-port', '0', '--dev-admin-port', '0'];
    const running = await start('control-plane', 'gw', ...ports);
    const conditionOf = (conditions: any[] | undefined, type: string): string | undefined =>
      conditions?.find((one) => one.type === type)?.status;
    await until(
      async () => conditionOf((await read('gatewayclass', 'edge-gateway'))?.status?.conditions, 'Accepted') === 'True',
      'the class is accepted',
      60,
    );
    const route = async (): Promise<any> => (await read('httproute', '-n', 'shop', 'web'))?.status?.parents?.[0];
    await until(async () => conditionOf((await route())?.conditions, 'Accepted') === 'True', 'the route', 60);
    await until(async () => conditionOf((await route())?.conditions, 'ResolvedRefs') === 'True', 'its Service', 60);
    const gateway = await read('gateways.gateway.networking.k8s.io', '-n', 'shop', 'public');
    expect(gateway.status.listeners[0].attachedRoutes).to.equal(1);
    await until(
      async () => (await read('vs', '-n', 'shop', 'shop'))?.status?.statuses?.[NAMESPACE]?.state === 'Accepted',
      'the virtual service has a status',
      60,
    );
    // Labels of namespaces are not readable; only Gateways that select namespaces by them need those.
    const forbidden = running.errors.split('\n').filter((line) => /forbidden/i.test(line) && !/namespaces/.test(line));
    expect(forbidden).to.deep.equal([]);
    expect((await read('httproute', '-n', 'default', 'outside')).status?.parents ?? []).to.deep.equal([]);
  });

  it('let the control plane read everything, write statuses, and discover Services', async function () {
    this.timeout(180_000);
    const chart = readFileSync(goldenPath('default', 'out'), 'utf8');
    await until(() => isApplied(chart), 'the chart is applied', 60);
    await api.apply(RESOURCES);
    const ports = ['--xds-port', '0', '--http-port', '0', '--https-port', '0', '--dev-admin-port', '0'];
    const running = await start('control-plane', 'gw', ...ports);
    const stateOf = async (): Promise<string | undefined> =>
      (await read('vs', '-n', 'shop', 'shop'))?.status?.statuses?.[NAMESPACE]?.state;
    await until(async () => (await stateOf()) === 'Accepted', 'the virtual service has a status', 60);
    await until(() => read('upstream', '-n', NAMESPACE, 'shop-web-80'), 'the Service has an upstream', 60);
    expect(running.errors).to.not.match(/forbidden/i);
  });

  it('let discovery in a Deployment of its own write Upstreams', async function () {
    this.timeout(180_000);
    await until(() => isApplied(readFileSync(goldenPath('discovery', 'out'), 'utf8')), 'the chart is applied', 60);
    await api.apply(RESOURCES.replaceAll('name: web', 'name: api'));
    const running = await start('discovery', 'discovery');
    await until(() => read('upstream', '-n', NAMESPACE, 'shop-api-80'), 'the Service has an upstream', 60);
    expect(running.errors).to.not.match(/forbidden/i);
  });

  it('let the auth server and the rate limit server read the resources', async function () {
    this.timeout(180_000);
    await until(() => isApplied(readFileSync(goldenPath('servers', 'out'), 'utf8')), 'the chart is applied', 60);
    for (const role of ['extauth', 'rate-limit']) {
      const running = await start(
        role,
        role,
        '--grpc-port',
        '0',
        ...(role === 'rate-limit' ? ['--http-port', '0'] : []),
      );
      expect(running.ready.grpcPort, role).to.be.above(0);
      expect(running.errors, role).to.not.match(/forbidden/i);
      await running.close();
    }
  });
});
