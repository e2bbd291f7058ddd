import { once } from 'node:events';
import { globSync, readFileSync } from 'node:fs';
import { Agent, createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createClusterClient, type ClusterClient } from '@edge-gateway/kubernetes';
import { expect } from 'chai';
import { GatewayProcess, until, type ProcessLimits } from '../../apps/gateway/test/gateway-process.ts';
import { startControlPlane, startProxy } from '../../apps/gateway/test/planes/planes.ts';
import { ROOT } from '../docs/workspace.ts';
import { startKubernetes, type KubernetesApi } from '../parts/kubernetes.ts';
import { get, portOf } from './plane-services.ts';

/** What traffic met during a fault; every request is counted once. */
interface Counts {
  sent: number;
  answered: number;
  wrong: number;
  lost: number;
}

/** The rights that `docs/kubernetes.md` lists. */
export const RIGHTS = `---
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

/** Returns a VirtualService with its name as domain, which shows its version at `/version`. */
export const service = (name: string, version: string, namespace = 'shop', more = ''): string => `---
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

/** The name under which kubectl knows VirtualServices. */
export const VIRTUAL_SERVICES = 'virtualservices.gateway.vendor.io';

export const since = (start: number): string => `${((performance.now() - start) / 1000).toFixed(1)} s`;

/** Clock ticks of a second, in which `/proc` counts. */
const TICKS = 100;

/** What a process has used so far. */
export function usageOf({ child: { pid } }: GatewayProcess): { readonly cpuSeconds: number; readonly peakMiB: number } {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ');
  const peak = /^VmHWM:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))!;
  return { cpuSeconds: (Number(fields[11]) + Number(fields[12])) / TICKS, peakMiB: Math.round(Number(peak[1]) / 1024) };
}

const namespace = (name: string): string => `---\napiVersion: v1\nkind: Namespace\nmetadata: {name: ${name}}\n`;

/** A cluster with control planes, two proxies, and the virtual service `a`, under traffic. */
export class ClusterWorld {
  api!: KubernetesApi;
  client!: ClusterClient;
  readonly planes: GatewayProcess[] = [];
  readonly proxies: GatewayProcess[] = [];
  #backend!: Server;

  /** Starts it. `definitions` chooses files of `deploy/crds`; `kubeconfig` is that of the control plane. */
  async start(test: Mocha.Context, { definitions = () => true, kubeconfig }: WorldOptions = {}): Promise<void> {
    this.api = await startKubernetes(test, { controllers: true });
    const { api } = this;
    this.client = await createClusterClient({ kubeconfig: [api.kubeconfig] });
    this.#backend = createServer((req, res) => res.end(req.url)).listen(0, '127.0.0.1');
    await once(this.#backend, 'listening');
    const files = globSync('deploy/crds/*.yaml', { cwd: ROOT }).filter(definitions);
    await api.apply(files.map((file) => readFileSync(join(ROOT, file), 'utf8')).join('\n---\n'));
    await api.apply(['gw-system', 'shop', 'doomed'].map((name) => namespace(name)).join('') + RIGHTS);
    const { port } = this.#backend.address() as AddressInfo;
    await this.applyLater(
      `apiVersion: gw.vendor.io/v1\nkind: Upstream\nmetadata: {name: echo, namespace: gw-system}\nspec: {static: {hosts: [{addr: 127.0.0.1, port: ${port}}]}}\n`,
    );
    await this.applyLater(service('a', 'v1') + service('d', 'v1', 'doomed'));
    await this.startPlane({ kubeconfig: await kubeconfig?.(api) });
    const ports = this.planes.map(({ ready }) => ready.xdsPort);
    for (let i = 0; i < 2; i++) this.proxies.push(await startProxy(new GatewayProcess(), ports));
    await until(async () => (await this.versionOf('a')) === '200 v1', 'the first configuration');
  }

  async close(): Promise<void> {
    for (const each of [...this.proxies, ...this.planes]) await each.close();
    await this.client?.close();
    await this.api?.close();
    this.#backend?.closeAllConnections();
    this.#backend?.close();
  }

  /** Applies manifests of a new definition, which is served after some seconds. */
  async applyLater(manifests: string): Promise<void> {
    await until(
      () =>
        this.api.apply(manifests).then(
          () => true,
          () => false,
        ),
      'the definitions are served',
      60,
    );
  }

  /** Starts one more control plane. */
  async startPlane({
    kubeconfig,
    limits,
  }: { kubeconfig?: string | undefined; limits?: ProcessLimits } = {}): Promise<GatewayProcess> {
    const plane = new GatewayProcess(limits);
    this.planes.push(plane);
    const access = kubeconfig
      ? ['--kubeconfig', kubeconfig]
      : ['--kubeconfig', this.api.kubeconfig, '--context', 'gateway'];
    return startControlPlane(plane, '--kubernetes', ...access);
  }

  /** Returns the version that both proxies serve, or both if they differ. */
  async versionOf(host: string): Promise<string> {
    const seen = await Promise.all(
      this.proxies.map((proxy) => get(portOf(proxy), host, '/version').catch((error: Error) => error.message)),
    );
    return [...new Set(seen)].join(' and ');
  }

  async stateOf(kind: string, name: string, namespaceOf = 'shop'): Promise<string> {
    const args = ['get', '-n', namespaceOf, `${kind}/${name}`, '-o', 'jsonpath={.status.statuses.gw-system.state}'];
    return this.api.kubectl(args).catch(() => '');
  }

  /** Sends requests to both proxies until `fault` is over, prints how they fared, and fails if one is lost or wrong. */
  async underTraffic(title: string, fault: () => Promise<string | void>): Promise<void> {
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
    const flows = Promise.all(this.proxies.map(flow));
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
}

export interface WorldOptions {
  definitions?: (file: string) => boolean;
  /** Returns a kubeconfig instead of that of the API server. */
  kubeconfig?: (api: KubernetesApi) => Promise<string>;
}
