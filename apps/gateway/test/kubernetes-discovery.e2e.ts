import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { skip } from '../../../test/parts/skip.ts';
import { startKubernetes, type KubernetesApi } from '../../../test/parts/kubernetes.ts';
import { GATEWAYCTL } from '../../../test/parts/programs.ts';
import { GatewayProcess, until } from './gateway-process.ts';
import { startProxy } from './planes/planes.ts';

const run = promisify(execFile);
const ROOT = join(import.meta.dirname, '..', '..', '..');
/** The API server refuses loopback addresses in EndpointSlices. */
const HOST = Object.values(networkInterfaces())
  .flat()
  .find((each) => each && !each.internal && each.family === 'IPv4')?.address;

/** A backend that responds with its name, and with other bodies by path. */
async function backend(
  name: string,
  bodies: Readonly<Record<string, string>> = {},
): Promise<Server & { port: number }> {
  const server = createServer((req, res) => {
    const body = bodies[req.url ?? ''];
    if (body) res.setHeader('content-type', 'application/json');
    else if (req.url !== '/' && !req.url?.startsWith('/get')) res.statusCode = 404;
    res.end(body ?? name);
  });
  server.listen(0, HOST);
  await once(server, 'listening');
  return Object.assign(server, { port: (server.address() as AddressInfo).port });
}

describe('discovery of a cluster with control plane and proxy processes', () => {
  let api: KubernetesApi;
  const processes: GatewayProcess[] = [];
  const servers: Server[] = [];

  before(async function () {
    if (HOST === undefined) skip(this, 'this machine has no address besides loopback');
    api = await startKubernetes(this);
    const crds = join(ROOT, 'deploy', 'crds');
    for (const file of readdirSync(crds)) await api.apply(readFileSync(join(crds, file), 'utf8'));
    await api.kubectl(['create', 'namespace', 'gw-system']);
    await api.kubectl(['wait', '--for=condition=Established', 'crd', '--all', '--timeout=60s']);
  });
  afterEach(async () => {
    for (const each of processes.splice(0)) await each.close();
    for (const server of servers.splice(0)) {
      server.closeAllConnections();
      server.close();
    }
  });
  after(() => api?.close());

  async function serve(name: string, bodies?: Readonly<Record<string, string>>): Promise<number> {
    const server = await backend(name, bodies);
    servers.push(server);
    return server.port;
  }
  const apply = (...objects: object[]): Promise<void> =>
    api.apply(objects.map((object) => JSON.stringify(object)).join('\n---\n'));
  const service = (name: string, more: object = {}) => ({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name, namespace: 'default', ...more },
    spec: { ports: [{ name: 'http', port: 80, protocol: 'TCP' }] },
  });
  const slice = (name: string, of: string, port: number, conditions: object = { ready: true }) => ({
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { name, namespace: 'default', labels: { 'kubernetes.io/service-name': of } },
    addressType: 'IPv4',
    ports: [{ name: 'http', port, protocol: 'TCP' }],
    endpoints: [{ addresses: [HOST], conditions }],
  });
  const route = (name: string, single: object) => ({
    apiVersion: 'gateway.vendor.io/v1',
    kind: 'VirtualService',
    metadata: { name, namespace: 'gw-system' },
    spec: {
      virtualHost: {
        domains: [`${name}.example.com`],
        routes: [{ matchers: [{ prefix: '/' }], routeAction: { single } }],
      },
    },
  });
  const start = async (role: string, ...flags: string[]): Promise<GatewayProcess> => {
    const process = new GatewayProcess();
    processes.push(process);
    return process.startRole(role, '--kubernetes', '--kubeconfig', api.kubeconfig, '--stats-port', '0', ...flags);
  };
  const startPlanes = async (...flags: string[]) => {
    const ports = ['--xds-port', '0', '--dev-admin-port', '0', '--http-port', '0', '--https-port', '0'];
    const controlPlane = await start('control-plane', ...ports, ...flags);
    const proxy = new GatewayProcess();
    processes.push(proxy);
    await startProxy(proxy, [controlPlane.ready.xdsPort]);
    return { controlPlane, proxy };
  };
  const ask = async (proxy: GatewayProcess, host: string): Promise<string> => {
    const { stdout } = await run('curl', [
      '-s',
      '-H',
      `host: ${host}.example.com`,
      '-w',
      ' %{http_code}',
      `${proxy.url}/`,
    ]);
    return stdout;
  };

  it('serves kube destinations and discovered upstreams, and follows their endpoints within a second', async () => {
    const [one, two] = [await serve('one'), await serve('two')];
    const kube = { kube: { ref: { name: 'web', namespace: 'default' }, port: 80 } };
    const discovered = { upstream: { name: 'default-web-80', namespace: 'gw-system' } };
    await apply(service('web'), slice('web-1', 'web', one), route('kube', kube), route('discovered', discovered));
    const { controlPlane, proxy } = await startPlanes();
    await until(async () => (await ask(proxy, 'kube')) === 'one 200', 'the kube destination');
    await until(async () => (await ask(proxy, 'discovered')) === 'one 200', 'the discovered upstream');
    await apply(slice('web-1', 'web', two));
    const changed = performance.now();
    await until(async () => (await ask(proxy, 'kube')) === 'two 200', 'the new endpoint');
    const elapsed = performance.now() - changed;
    console.log(`      new endpoint served ${elapsed.toFixed(0)} ms after kubectl ended`);
    expect(elapsed).to.be.below(1_000);
    expect(await ask(proxy, 'discovered')).to.equal('two 200');
    await apply(slice('web-1', 'web', two, { ready: false, serving: false }));
    await until(async () => (await ask(proxy, 'kube')).endsWith(' 503'), 'the unready endpoint');
    await apply(slice('web-2', 'web', one));
    await until(async () => (await ask(proxy, 'kube')) === 'one 200', 'the endpoint of another slice');
    const { stdout } = await run(process.execPath, [
      ...GATEWAYCTL,
      'get',
      'upstream',
      'default-web-80',
      '--server',
      controlPlane.stats,
    ]);
    expect(stdout).to.match(/default-web-80\s*\|\s*Kubernetes\s*\|\s*Accepted\s*\|\s*svc name: {6}web/);
    expect(stdout).to.contain('svc namespace: default').and.contain('port:          80');
    await api.kubectl(['delete', 'service', 'web']);
    await until(async () => (await ask(proxy, 'kube')).endsWith(' 503'), 'the deleted Service');
    const left = () => api.kubectl(['get', 'upstreams', '-n', 'gw-system', '-o', 'name']);
    await until(async () => !(await left()).includes('default-web-80'), 'the deleted upstream');
    await api.kubectl(['delete', 'virtualservice', 'kube', 'discovered', '-n', 'gw-system']);
  });

  it('keeps endpoints while the control plane restarts and the API server is away', async () => {
    const port = await serve('steady');
    await apply(
      service('steady'),
      slice('steady-1', 'steady', port),
      route('steady', { kube: { ref: { name: 'steady', namespace: 'default' }, port: 80 } }),
    );
    const { controlPlane, proxy } = await startPlanes();
    await until(async () => (await ask(proxy, 'steady')) === 'steady 200', 'the route');
    await api.kill();
    expect(await ask(proxy, 'steady')).to.equal('steady 200');
    await api.start();
    await controlPlane.close();
    expect(await ask(proxy, 'steady')).to.equal('steady 200');
    await api.kubectl(['delete', 'virtualservice', 'steady', '-n', 'gw-system']);
  });

  it('runs in a process of its own, and creates GraphQLApis by the labels', async () => {
    const openapi = JSON.stringify({
      openapi: '3.0.0',
      info: { title: 'pets', version: '1' },
      paths: {
        '/get': {
          get: {
            operationId: 'getPet',
            responses: { 200: { description: 'ok', content: { 'application/json': { schema: { type: 'string' } } } } },
          },
        },
      },
    });
    const port = await serve('pets', { '/swagger.json': openapi });
    await apply(
      {
        apiVersion: 'v1',
        kind: 'Namespace',
        metadata: { name: 'default', labels: { 'discovery.vendor.io/function_discovery': 'enabled' } },
      },
      service('pets'),
      slice('pets-1', 'pets', port),
      service('silent', { labels: { 'discovery.vendor.io/function_discovery': 'disabled' } }),
      slice('silent-1', 'silent', port),
    );
    await startPlanes('--no-discovery');
    const names = (kind: string) => api.kubectl(['get', kind, '-n', 'gw-system', '-o', 'name']);
    expect(await names('upstreams')).not.to.contain('default-pets-80');
    await start('discovery');
    await until(async () => (await names('upstreams')).includes('default-pets-80'), 'the upstream');
    await until(async () => (await names('graphqlapis')).includes('default-pets-80'), 'the GraphQLApi');
    expect(await api.kubectl(['get', 'graphqlapi', 'default-pets-80', '-n', 'gw-system', '-o', 'yaml'])).to.contain(
      'getPet',
    );
    expect(await names('graphqlapis')).not.to.contain('default-silent-80');
    await apply(service('pets', { labels: { 'discovery.vendor.io/function_discovery': 'disabled' } }));
    await until(async () => !(await names('graphqlapis')).includes('default-pets-80'), 'the removed GraphQLApi');
  });
});
