import {
  createControlPlane,
  memorySource,
  silentLoggers,
  type ControlPlane,
  type MemorySource,
} from '@edge-gateway/core';
import {
  createClusterClient,
  createProxyWriter,
  type ClusterClient,
  type ClusterRequest,
  type ProxyWriter,
} from '@edge-gateway/kubernetes';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { until } from '../../../../test/parts/until.ts';
import { startKubernetes, type KubernetesApi } from '../../../../test/parts/kubernetes.ts';

const CRDS = join(import.meta.dirname, '..', '..', '..', '..', 'deploy', 'crds');
const timing = { intervalMs: 100, retryMs: 100 };

const service = (name: string, body = 'hello', headers: object[] = []) => ({
  apiVersion: 'gateway.vendor.io/v1',
  kind: 'VirtualService',
  metadata: { name },
  spec: {
    virtualHost: {
      domains: [`${name}.example.com`],
      routes: [
        {
          matchers: [{ prefix: '/', headers }],
          directResponseAction: { status: 200, body },
        },
      ],
    },
  },
});
const settings = (gateway: object) => ({
  apiVersion: 'settings.gw.vendor.io/v1',
  kind: 'Settings',
  metadata: { name: 'default' },
  spec: { gateway },
});

describe('the writer of Proxies', () => {
  let api: KubernetesApi;
  let client: ClusterClient;
  let source: MemorySource;
  let controlPlane: ControlPlane;
  let writer: ProxyWriter;
  let leads: boolean;
  let wants: boolean;
  const requests: ClusterRequest[] = [];
  const warnings: string[] = [];
  const seen: (readonly [string, boolean])[] = [];
  const log = { ...silentLoggers.get('config'), warn: (_facts: object, text: string) => void warnings.push(text) };

  before(async function () {
    api = await startKubernetes(this);
    client = await createClusterClient({ kubeconfig: [api.kubeconfig] });
    await api.apply(readFileSync(join(CRDS, 'proxies.gw.vendor.io.yaml'), 'utf8'));
    for (const name of ['gw-system', 'other']) await api.kubectl(['create', 'namespace', name]);
    await api.kubectl(['wait', '--for=condition=Established', 'crd', '--all', '--timeout=60s']);
    await until(() =>
      api.kubectl(['get', 'proxies']).then(
        () => true,
        () => false,
      ),
    );
  });
  after(async () => {
    await client?.close();
    await api?.close();
  });
  beforeEach(async () => {
    source = memorySource({ web: service('web') });
    controlPlane = createControlPlane({
      source,
      log: silentLoggers,
      defaultGateways: { httpPort: 8080, httpsPort: 8443, proxyName: 'gateway-proxy' },
    });
    await controlPlane.start();
    leads = true;
    wants = true;
    for (const list of [requests, warnings, seen]) list.length = 0;
    start();
  });
  afterEach(async () => {
    await writer.close();
    await controlPlane.close();
    await api.kubectl(['delete', 'proxies', '--all', '--all-namespaces']);
  });

  function start(): void {
    writer = createProxyWriter({
      client: {
        stream: client.stream,
        send(request) {
          if (request.method) requests.push(request);
          return client.send(request);
        },
      },
      namespace: 'gw-system',
      log: log as never,
      isLeader: () => leads,
      onProxy: (unit, exists) => void seen.push([unit, exists]),
      timing,
    });
    controlPlane.subscribe(publish);
  }
  function publish(namespace: unknown = 'gw-system'): void {
    const { proxies } = controlPlane.state!;
    const at = typeof namespace === 'string' ? namespace : 'gw-system';
    writer.update(wants ? { namespace: at, proxies } : undefined);
  }
  async function stored(name = 'gateway-proxy', namespace = 'gw-system'): Promise<any> {
    const text = await api.kubectl([
      'get',
      'proxies',
      '-n',
      namespace,
      name,
      '-o',
      'json',
      '--ignore-not-found',
      '--show-managed-fields',
    ]);
    return text === '' ? undefined : JSON.parse(text);
  }
  const bodyOf = (proxy: any): string | undefined =>
    proxy?.spec.listeners?.[0].httpListener.virtualHosts[0]?.routes[0].directResponseAction.body;
  const writes = (): string[] => requests.map(({ method, path }) => `${method} ${path.split('/').slice(-3).join('/')}`);

  it('writes what proxies serve, once, under a manager of its own', async () => {
    await until(async () => bodyOf(await stored()) === 'hello');
    const proxy = await stored();
    expect(proxy.metadata.labels).to.deep.equal({ created_by: 'gw-gateway' });
    expect(proxy.metadata.managedFields.map(({ manager }: any) => manager)).to.deep.equal([
      'edge-gateway-gw-system-proxies',
    ]);
    expect(seen).to.deep.equal([['proxies.gw.vendor.io gw-system/gateway-proxy', true]]);
    publish();
    source.set('unrelated', { apiVersion: 'gw.vendor.io/v1', kind: 'Upstream', metadata: { name: 'x' }, spec: {} });
    writer.resume();
    source.set('web', service('web', 'changed'));
    await until(async () => bodyOf(await stored()) === 'changed');
    expect(writes()).to.deep.equal(['PATCH gw-system/proxies/gateway-proxy', 'PATCH gw-system/proxies/gateway-proxy']);
  });

  it('replaces what somebody else changed or deleted', async () => {
    await until(async () => bodyOf(await stored()) === 'hello');
    await api.kubectl([
      'patch',
      'proxies',
      '-n',
      'gw-system',
      'gateway-proxy',
      '--type=merge',
      '-p',
      '{"spec":{"listeners":[]}}',
    ]);
    await until(async () => bodyOf(await stored()) === 'hello');
    await api.kubectl(['delete', 'proxies', '-n', 'gw-system', 'gateway-proxy']);
    await until(async () => bodyOf(await stored()) === 'hello');
  });

  it('deletes what it wrote when its gateways are gone or the setting is withdrawn, and nothing else', async () => {
    await api.apply(
      'apiVersion: gw.vendor.io/v1\nkind: Proxy\nmetadata: {name: foreign, namespace: gw-system}\nspec: {}\n',
    );
    await until(async () => bodyOf(await stored()) === 'hello');
    source.delete('web');
    await until(async () => (await stored()) === undefined);
    source.set('web', service('web', 'again'));
    await until(async () => bodyOf(await stored()) === 'again');
    wants = false;
    publish();
    await until(async () => (await stored()) === undefined);
    expect(await stored('foreign')).to.not.equal(undefined);
  });

  it('deletes what a process before it left', async () => {
    await until(async () => bodyOf(await stored()) === 'hello');
    await writer.close();
    wants = false;
    start();
    await until(async () => (await stored()) === undefined);
  });

  it('follows the namespace of the Settings', async () => {
    await until(async () => bodyOf(await stored()) === 'hello');
    source.set('settings', { ...settings({}), spec: { discoveryNamespace: 'other' } });
    publish('other');
    await until(async () => bodyOf(await stored('gateway-proxy', 'other')) === 'hello');
    expect(await stored()).to.equal(undefined);
  });

  it('writes only as leader', async () => {
    await writer.close();
    leads = false;
    requests.length = 0;
    start();
    source.set('web', service('web', 'as follower'));
    await api.apply(
      'apiVersion: gw.vendor.io/v1\nkind: Proxy\nmetadata: {name: foreign, namespace: gw-system}\nspec: {}\n',
    );
    await until(() => seen.some(([unit]) => unit.endsWith('/foreign')));
    expect(requests).to.deep.equal([]);
    leads = true;
    writer.resume();
    await until(async () => bodyOf(await stored()) === 'as follower');
  });

  it('writes no secret value', async () => {
    source.set('web', service('web', 'secrets', [{ name: 'authorization', value: 'Bearer value-of-a-secret' }]));
    await until(async () => bodyOf(await stored()) === 'secrets');
    expect(JSON.stringify(requests) + JSON.stringify(await stored())).to.not.contain('value-of-a-secret');
  });

  it('reports a Proxy that is too large once, removes its older version, and writes a compressed one', async () => {
    await until(async () => bodyOf(await stored()) === 'hello');
    for (let i = 0; i < 300; i++) source.set(`big-${i}`, service(`big-${i}`, 'x'.repeat(4_000)));
    await until(async () => (await stored()) === undefined);
    source.set('web', service('web', 'still too large'));
    source.set('settings', settings({ compressedProxySpec: true }));
    await until(async () => typeof (await stored())?.spec.compressedSpec === 'string');
    expect(warnings.filter((text) => text.includes('too large'))).to.have.length(1);
  });
});
