import { once } from 'node:events';
import { globSync, readFileSync } from 'node:fs';
import { Agent, createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createClusterClient, type ClusterClient } from '@edge-gateway/kubernetes';
import { expect } from 'chai';
import { GatewayProcess, until } from '../../apps/gateway/test/gateway-process.ts';
import { startControlPlane, startProxy } from '../../apps/gateway/test/planes/planes.ts';
import { ROOT } from '../docs/workspace.ts';
import { startKubernetes, type KubernetesApi } from '../parts/kubernetes.ts';

/** What traffic met during a fault; every request is counted once. */
interface Counts {
  sent: number;
  answered: number;
  wrong: number;
  lost: number;
}

/** The rights that `docs/kubernetes.md` lists. */
const RIGHTS = `---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: edge-gateway}
rules:
- apiGroups: [gateway.vendor.io, gw.vendor.io, settings.gw.vendor.io, enterprise.gw.vendor.io, ratelimit.vendor.io, graphql.gw.vendor.io]
  resources: ["*"]
  verbs: [get, list, watch, create, update, patch, delete]
- {apiGroups: [""], resources: [secrets, configmaps, services, namespaces, pods, nodes], verbs: [get, list, watch]}
- {apiGroups: [discovery.k8s.io], resources: [endpointslices], verbs: [get, list, watch]}
- {apiGroups: [coordination.k8s.io], resources: [leases], verbs: [get, create, update, patch]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: edge-gateway}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: edge-gateway}
subjects: [{kind: Group, name: gateways, apiGroup: rbac.authorization.k8s.io}]
`;

const service = (name: string, version: string, namespace = 'shop', more = ''): string => `---
apiVersion: gateway.vendor.io/v1
kind: VirtualService
metadata: { name: ${name}, namespace: ${namespace} }
spec:
  virtualHost:
    domains: ['${name}']
    routes:
      - matchers: [{ exact: /version }]
        directResponseAction: { status: 200, body: '${version}' }
      - matchers: [{ prefix: / }]
        routeAction: { single: { upstream: { name: echo, namespace: gw-system } } }
${more}`;

describe('faults of a cluster', () => {
  let api: KubernetesApi;
  let client: ClusterClient;
  let backend: Server;
  let planes: GatewayProcess[] = [];
  let proxies: GatewayProcess[] = [];

  before(async function () {
    api = await startKubernetes(this, { controllers: true });
    client = await createClusterClient({ kubeconfig: [api.kubeconfig] });
    backend = createServer((req, res) => res.end(req.url)).listen(0, '127.0.0.1');
    await once(backend, 'listening');
    const crds = globSync('deploy/crds/*.yaml', { cwd: ROOT }).filter((file) => !file.includes('graphqlapis'));
    await api.apply(crds.map((file) => readFileSync(join(ROOT, file), 'utf8')).join('\n---\n'));
    await api.apply(['gw-system', 'shop', 'doomed'].map((name) => namespace(name)).join('') + RIGHTS);
    const { port } = backend.address() as AddressInfo;
    await applyLater(
      `apiVersion: gw.vendor.io/v1\nkind: Upstream\nmetadata: {name: echo, namespace: gw-system}\nspec: {static: {hosts: [{addr: 127.0.0.1, port: ${port}}]}}\n`,
    );
    await applyLater(service('a', 'v1') + service('d', 'v1', 'doomed'));
    planes = [await startPlane()];
    const ports = planes.map(({ ready }) => ready.xdsPort);
    for (let i = 0; i < 2; i++) proxies.push(await startProxy(new GatewayProcess(), ports));
    await until(async () => (await versionOf('a')) === '200 v1', 'the first configuration');
  });
  after(async () => {
    for (const each of [...proxies, ...planes]) await each.close();
    await client?.close();
    await api?.close();
    backend?.closeAllConnections();
    backend?.close();
  });

  const namespace = (name: string): string => `---\napiVersion: v1\nkind: Namespace\nmetadata: {name: ${name}}\n`;

  /** A new definition is served after some seconds. */
  async function applyLater(manifests: string): Promise<void> {
    await until(
      () =>
        api.apply(manifests).then(
          () => true,
          () => false,
        ),
      'the definitions are served',
      60,
    );
  }

  async function startPlane(...flags: string[]): Promise<GatewayProcess> {
    const access = ['--kubernetes', '--kubeconfig', api.kubeconfig, '--context', 'gateway'];
    return startControlPlane(new GatewayProcess(), ...access, ...flags);
  }

  function get(port: number, host: string, path: string, agent?: Agent): Promise<string> {
    return new Promise((resolve, reject) => {
      const req = request({ host: '127.0.0.1', port, path, headers: { host }, ...(agent && { agent }) }, (res) => {
        let body = '';
        res.on('data', (chunk) => (body += chunk));
        res.on('end', () => resolve(`${res.statusCode} ${body}`));
        res.on('error', reject);
      });
      req.setTimeout(20_000, () => req.destroy(new Error('no response')));
      req.on('error', reject).end();
    });
  }

  const portOf = (proxy: GatewayProcess): number => Number(new URL(proxy.url).port);
  /** The version that both proxies serve, or both if they differ. */
  async function versionOf(host: string): Promise<string> {
    const seen = await Promise.all(
      proxies.map((proxy) => get(portOf(proxy), host, '/version').catch((error: Error) => error.message)),
    );
    return [...new Set(seen)].join(' and ');
  }

  async function stateOf(kind: string, name: string, namespaceOf = 'shop'): Promise<string> {
    const args = ['get', '-n', namespaceOf, `${kind}/${name}`, '-o', 'jsonpath={.status.statuses.gw-system.state}'];
    return api.kubectl(args).catch(() => '');
  }

  const VIRTUAL_SERVICES = 'virtualservices.gateway.vendor.io';

  /** Sends requests to both proxies until `fault` is over, prints how they fared, and fails if one is lost or wrong. */
  async function underTraffic(title: string, fault: () => Promise<string | void>): Promise<void> {
    const counts: Counts = { sent: 0, answered: 0, wrong: 0, lost: 0 };
    const errors = new Set<string>();
    const agent = new Agent({ keepAlive: true, maxSockets: 8 });
    const stop = new AbortController();
    const flow = async (proxy: GatewayProcess): Promise<void> => {
      for (let n = 0; !stop.signal.aborted; n++) {
        counts.sent++;
        const got = await get(portOf(proxy), 'a', `/${n}`, agent).catch(
          (error: Error) => void errors.add(error.message),
        );
        if (got === undefined) counts.lost++;
        else if (got === `200 /${n}`) counts.answered++;
        else counts.wrong++;
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
    };
    const flows = Promise.all(proxies.map(flow));
    let note: string | void = undefined;
    try {
      note = await fault();
    } finally {
      stop.abort();
      await flows;
      agent.destroy();
      const { sent, answered, wrong, lost } = counts;
      console.log(
        `      ${title}: sent ${sent}, answered ${answered}, wrong ${wrong}, lost ${lost}${note ? `; ${note}` : ''}`,
      );
    }
    expect([...errors]).to.deep.equal([]);
    expect(counts).to.include({ wrong: 0, lost: 0, answered: counts.sent });
  }

  const since = (start: number): string => `${((performance.now() - start) / 1000).toFixed(1)} s`;

  it('serves, and writes statuses, although a definition is missing, and reads it when it is there', async () => {
    await until(async () => (await stateOf(VIRTUAL_SERVICES, 'a')) === 'Accepted', 'the status');
    expect(planes[0]!.errors).to.contain('graphqlapis.graphql.gw.vendor.io');
    await underTraffic('definition missing', async () => {
      await api.apply(readFileSync(join(ROOT, 'deploy/crds/graphqlapis.graphql.gw.vendor.io.yaml'), 'utf8'));
      await applyLater(
        `apiVersion: graphql.gw.vendor.io/v1beta1\nkind: GraphQLApi\nmetadata: {name: g, namespace: shop}\nspec: {executableSchema: {schemaDefinition: 'type Query { a: String }', executor: {local: {resolutions: {}}}}}\n`,
      );
      await until(async () => (await stateOf('graphqlapis.graphql.gw.vendor.io', 'g')) !== '', 'its status', 60);
    });
  });

  it('serves while the API server is killed, and catches up when it is back', async () => {
    await underTraffic('API server killed', async () => {
      await api.kill();
      await until(() => planes[0]!.errors.includes('failed to watch resources'), 'the loss');
      expect(await versionOf('a')).to.equal('200 v1');
      await api.start();
      await api.apply(service('a', 'v2'));
      const start = performance.now();
      await until(async () => (await versionOf('a')) === '200 v2', 'the change', 60);
      const served = since(start);
      await api.apply(service('broken', 'v1').replace('prefix: /', 'regex: "("'));
      await until(async () => (await stateOf(VIRTUAL_SERVICES, 'broken')) === 'Rejected', 'the status', 60);
      await api.kubectl(['delete', '-n', 'shop', `${VIRTUAL_SERVICES}/broken`]);
      return `change served after ${served}, status after ${since(start)}`;
    });
  });

  it('serves while the API server hangs, and catches up afterwards', async () => {
    await underTraffic('API server hangs for 15 s', async () => {
      const losses = () => planes[0]!.errors.split('leadership lost').length;
      const before = losses();
      api.freeze();
      await until(() => losses() > before, 'leadership is given up');
      expect(await versionOf('a')).to.equal('200 v2');
      api.thaw();
      const start = performance.now();
      await api.apply(service('a', 'v3'));
      await until(async () => (await versionOf('a')) === '200 v3', 'the change', 60);
      return `change served ${since(start)} after it continued`;
    });
  });

  it('serves while its rights are withdrawn, and continues when it has them again', async () => {
    await underTraffic('rights withdrawn', async () => {
      await api.kubectl(['delete', 'clusterrolebinding', 'edge-gateway']);
      // Open watches end with the connections of a restarted server.
      await api.kill();
      await api.start();
      await until(() => planes[0]!.errors.includes('forbidden'), 'the rejection', 60);
      expect(await versionOf('a')).to.equal('200 v3');
      await api.apply(RIGHTS + service('a', 'v4'));
      const start = performance.now();
      await until(async () => (await versionOf('a')) === '200 v4', 'the change', 90);
      return `change served ${since(start)} after they were back`;
    });
  });

  it('serves everything else when a namespace is deleted with everything in it', async () => {
    expect(await versionOf('d')).to.equal('200 v1');
    await underTraffic('namespace deleted', async () => {
      await api.kubectl(['delete', 'namespace', 'doomed', '--wait=false']);
      const start = performance.now();
      await until(async () => (await versionOf('d')).startsWith('404'), 'its routes are gone', 60);
      return `its routes gone after ${since(start)}`;
    });
  });

  it('serves an object larger than 1 MiB', async () => {
    const routes = Array.from(
      { length: 1100 },
      (_, i) =>
        `      - matchers: [{ exact: /big-${i} }]\n        directResponseAction: { status: 200, body: '${'x'.repeat(1000)}' }\n`,
    );
    await underTraffic('object of more than 1 MiB', async () => {
      const manifest = service('big', 'v1', 'shop', routes.join(''));
      expect(manifest.length).to.be.greaterThan(1.1 * 2 ** 20);
      await api.apply(manifest);
      const start = performance.now();
      await until(async () => (await versionOf('big')) === '200 v1', 'it is served', 60);
      const served = since(start);
      await api.kubectl(['delete', '-n', 'shop', `${VIRTUAL_SERVICES}/big`]);
      return `served after ${served}`;
    });
  });

  it('serves while 2,000 upstreams appear at once, and writes all their statuses', async () => {
    await underTraffic('2,000 upstreams at once', async () => {
      const path = '/apis/gw.vendor.io/v1/namespaces/shop/upstreams';
      const numbers = Array.from({ length: 2_000 }, (_, i) => i).values();
      const spec = { static: { hosts: [{ addr: '127.0.0.1', port: 1 }] } };
      const start = performance.now();
      await Promise.all(
        Array.from({ length: 16 }, async () => {
          for (const i of numbers) {
            const metadata = { name: `u${i}` };
            await client.send({
              method: 'POST',
              path,
              body: { apiVersion: 'gw.vendor.io/v1', kind: 'Upstream', metadata, spec },
            });
          }
        }),
      );
      const created = since(start);
      await until(
        async () => {
          const { items } = await client.send<{ items: { status?: unknown }[] }>({ path });
          return items.filter(({ status }) => status).length >= 2_000;
        },
        'the statuses',
        120,
      );
      const reported = since(start);
      await client.send({ method: 'DELETE', path, timeoutMs: 120_000 });
      return `created in ${created}, all statuses after ${reported}`;
    });
  });

  it('hands the statuses over when the leading control plane is killed', async () => {
    const [first] = planes;
    const second = await startPlane('--xds-port', '0');
    planes.push(second);
    await underTraffic('leader killed', async () => {
      expect(second.errors).not.to.contain('leadership acquired');
      first!.child.kill('SIGKILL');
      await first!.ended();
      const start = performance.now();
      await api.apply(service('late', 'v1'));
      await until(async () => (await stateOf(VIRTUAL_SERVICES, 'late')) === 'Accepted', 'the status', 60);
      return `status by the other after ${since(start)}`;
    });
  });

  it('shows no Secret in its log', async () => {
    const value = 'dmVyeS1zZWNyZXQtdmFsdWU=';
    await api.apply(
      `apiVersion: v1\nkind: Secret\nmetadata: {name: bad, namespace: shop}\ntype: kubernetes.io/tls\ndata: {tls.crt: ${value}, tls.key: ${value}}\n`,
    );
    await api.apply(
      service('tls', 'v1').replace(
        '  virtualHost:',
        '  sslConfig: {secretRef: {name: bad, namespace: shop}}\n  virtualHost:',
      ),
    );
    await until(async () => (await stateOf(VIRTUAL_SERVICES, 'tls')) !== '', 'its status', 60);
    for (const plane of planes) {
      expect(plane.errors + plane.output).not.to.match(/dmVyeS1zZWNyZXQtdmFsdWU|very-secret-value|gateway-token/);
    }
  });
});
