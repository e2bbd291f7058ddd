import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DEFAULT_NAMESPACE, setGatewayNamespace } from '@edge-gateway/core';
import { expect } from 'chai';
import { GatewayProcess, until } from '../apps/gateway/test/gateway-process.ts';
import { startProxy } from '../apps/gateway/test/planes/planes.ts';
import { call } from '../packages/cli/test/support/captured-io.ts';
import { ROOT } from './docs/workspace.ts';
import { goldenManifests, goldenPath } from './helm-goldens.ts';
import { startKubernetes, type KubernetesApi } from './parts/kubernetes.ts';
import { serviceAccountKubeconfig } from './parts/service-account.ts';

/** The flags of ports and files that only exist in a pod. */
const POD_FLAGS = /^--(?:xds-|admin-|validation-(?:port|address))/;

describe('the Helm chart in another namespace', () => {
  let api: KubernetesApi;
  const processes: GatewayProcess[] = [];

  before(async function () {
    api = await startKubernetes(this, { controllers: true });
    this.timeout(300_000);
    for (const name of ['edge', 'gw-system', 'shop']) await api.kubectl(['create', 'namespace', name]);
    await api.kubectl(['apply', '--server-side', '-f', join(ROOT, 'deploy', 'crds')]);
    await api.kubectl(['wait', '--for=condition=Established', '--timeout=120s', 'crd', '-l', 'app=gw']);
    for (const name of ['other-namespace', 'default'])
      await until(
        () =>
          api.apply(readFileSync(goldenPath(name, 'out'), 'utf8')).then(
            () => true,
            () => false,
          ),
        'the chart is applied',
        60,
      );
    await api.apply(RESOURCES);
  });
  after(async () => {
    // `gatewayctl` runs in this process, which then runs other tests.
    setGatewayNamespace(DEFAULT_NAMESPACE);
    for (const each of processes) await each.close();
    await api?.close();
  });

  /** Starts what a Deployment of the chart runs, with the rights of its service account. */
  async function start(component: string, namespace: string, golden: string): Promise<GatewayProcess> {
    const deployment = goldenManifests(golden).find(
      ({ kind, metadata }) => kind === 'Deployment' && metadata.name === component,
    )!;
    const [role, ...args] = deployment['spec'].template.spec.containers[0].args as string[];
    const process = new GatewayProcess();
    processes.push(process);
    const ports = ['--stats-port', '0'];
    if (role === 'control-plane')
      ports.push(...['xds', 'http', 'https', 'dev-admin', 'validation'].flatMap((name) => [`--${name}-port`, '0']));
    const own = args.filter((flag) => flag !== '--kubernetes' && !POD_FLAGS.test(flag));
    const kubeconfig = await serviceAccountKubeconfig(api, component, namespace);
    return process.startRole(role!, '--kubernetes', '--kubeconfig', kubeconfig, ...ports, ...own);
  }

  const read = async (...args: string[]): Promise<any> =>
    JSON.parse(await api.kubectl(['get', '-o', 'json', ...args]).catch(() => 'null'));
  const names = async (namespace: string, kind: string): Promise<string[]> =>
    (await read(kind, '-n', namespace)).items.map(({ metadata }: any) => metadata.name);
  const statusesOf = async (name: string): Promise<any> =>
    (await read('vs', '-n', 'shop', name))?.status?.statuses ?? {};

  const RESOURCES = `
apiVersion: v1
kind: Service
metadata: { name: web, namespace: shop }
spec: { ports: [{ port: 80 }] }
---
apiVersion: gateway.vendor.io/v1
kind: Gateway
metadata: { name: gateway-proxy, namespace: edge }
spec: { bindAddress: '::', bindPort: 0, httpGateway: {} }
---
apiVersion: gw.vendor.io/v1
kind: Upstream
metadata: { name: nowhere, namespace: edge }
spec: { static: { hosts: [{ addr: 127.0.0.1, port: 1 }] } }
---
apiVersion: gateway.vendor.io/v1
kind: VirtualService
metadata: { name: shop, namespace: shop }
spec:
  virtualHost:
    domains: ['*']
    routes:
      - matchers: [{ prefix: /missing }]
        routeAction: { single: { upstream: { name: missing, namespace: edge } } }
      - matchers: [{ prefix: / }]
        directResponseAction: { status: 200, body: hello }
`;

  it('has its Settings, statuses, leases, Upstreams, Proxies and certificates there, beside a gateway in gw-system', async function () {
    this.timeout(300_000);
    const plane = await start('gw', 'edge', 'other-namespace');
    const discovery = await start('discovery', 'edge', 'other-namespace');
    await until(() => read('upstream', '-n', 'edge', 'shop-web-80'), 'the Service has an Upstream', 60);
    await until(async () => (await statusesOf('shop')).edge, 'the status', 60);
    await until(async () => (await names('edge', 'proxies')).includes('gateway-proxy'), 'the Proxy', 60);
    const webhook = 'validatingwebhookconfiguration';
    const bundle = async (name: string): Promise<unknown> =>
      (await read(webhook, `gw-gateway-validation-webhook-${name}`)).webhooks[0].clientConfig.caBundle;
    await until(() => bundle('edge'), 'the API server trusts the webhook', 60);
    const { data } = await read('secret', '-n', 'edge', 'gateway-validation-certs');
    const [certificate] = Object.values(data as Record<string, string>).map((each) => Buffer.from(each, 'base64'));
    expect(certificate).to.not.equal(undefined);
    expect(await names('edge', 'lease')).to.have.members(['edge-gateway-control-plane', 'edge-gateway-discovery']);
    expect(await names('gw-system', 'lease')).to.deep.equal([]);
    expect(await names('gw-system', 'upstreams')).to.deep.equal([]);
    expect(await bundle('gw-system')).to.equal(undefined);

    const other = await start('gw', 'gw-system', 'default');
    await until(async () => (await statusesOf('shop'))['gw-system'], 'the status of the other gateway', 60);
    await until(() => read('upstream', '-n', 'gw-system', 'shop-web-80'), 'the Upstream of the other gateway', 60);
    expect(Object.keys(await statusesOf('shop'))).to.have.members(['edge', 'gw-system']);
    for (const { errors } of [plane, discovery, other]) expect(errors).to.not.match(/forbidden/i);
  });

  it('serves, and names of references without a namespace are those of its namespace', async function () {
    this.timeout(120_000);
    const [plane] = processes;
    const proxy = await startProxy(new GatewayProcess(), [plane!.ready.xdsPort], '--namespace', 'edge');
    processes.push(proxy);
    await until(() => proxy.ready.listeners.length > 0, 'the listener');
    const get = (path: string): Promise<Response> => fetch(`${proxy.url}${path}`);
    await until(async () => (await get('/').catch(() => undefined))?.status === 200, 'it serves', 60);
    await api.apply(
      `apiVersion: settings.gw.vendor.io/v1\nkind: Settings\nmetadata: {name: default, namespace: edge}\nspec: {gw: {invalidConfigPolicy: {replaceInvalidRoutes: true, invalidRouteResponseCode: 418}}, ratelimitServer: {ratelimitServerRef: {name: nowhere}}}\n`,
    );
    await until(async () => (await get('/missing')).status === 418, 'the Settings apply', 60);
    const settings = async () => (await read('settings', '-n', 'edge', 'default')).status?.statuses?.edge;
    await until(async () => (await settings())?.state === 'Accepted', 'the status of the Settings', 60);
  });

  it('is found by gatewayctl with -n or GATEWAYCTL_NAMESPACE', async function () {
    this.timeout(60_000);
    const ctl = (argv: string[], env: NodeJS.ProcessEnv = {}) =>
      call([...argv, '--kubeconfig', api.kubeconfig], { env });
    const excluded = ['-x', 'pods,deployments', '--read-only'];
    const { stderr } = await ctl(['check', '-n', 'edge', ...excluded]);
    expect(stderr).to.contain('missing');
    for (const found of [
      await ctl(['get', 'upstreams', '-n', 'edge']),
      await ctl(['get', 'upstreams'], { GATEWAYCTL_NAMESPACE: 'edge' }),
    ])
      expect(found.stdout).to.contain('nowhere');
    const { stdout } = await ctl(['version', '-o', 'yaml'], { GATEWAYCTL_NAMESPACE: 'edge' });
    expect(stdout).to.contain('namespace: edge');
    const route = ['add', 'route', '-p', '/new', '-u', 'nowhere', '-n', 'shop', '--name', 'shop'];
    const { code, stderr: problem } = await ctl(route, { GATEWAYCTL_NAMESPACE: 'edge' });
    expect(code, problem).to.equal(0);
    const added = await read('vs', '-n', 'shop', 'shop');
    expect(added.spec.virtualHost.routes[0].routeAction.single.upstream).to.deep.equal({
      name: 'nowhere',
      namespace: 'edge',
    });
  });
});
