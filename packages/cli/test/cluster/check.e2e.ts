import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { expect } from 'chai';
import { ROOT } from '../../../../test/docs/workspace.ts';
import { startKubernetes, type KubernetesApi } from '../../../../test/parts/kubernetes.ts';
import { call, type Outcome } from '../support/captured-io.ts';
import { CLIENT_VERSION } from '../../src/commands/version.ts';

const NAMESPACE = 'gw-system';

describe('gatewayctl on an installed gateway', () => {
  let api: KubernetesApi;
  let directory: string;

  before(async function () {
    api = await startKubernetes(this, { controllers: true });
    this.timeout(300_000);
    directory = mkdtempSync(join(tmpdir(), 'gatewayctl-'));
    await api.kubectl(['create', 'namespace', NAMESPACE]);
    await api.kubectl(['apply', '--server-side', '-f', join(ROOT, 'deploy', 'crds')]);
    await api.kubectl(['wait', '--for=condition=Established', '--timeout=120s', 'crd', '-l', 'app=gw']);
    const chart = readFileSync(join(ROOT, 'test', 'golden', 'helm', 'default.out.yaml'), 'utf8');
    // The path of a new kind is missing for a moment.
    for (let isApplied = false; !isApplied; await wait(100))
      isApplied = await api.apply(chart).then(
        () => true,
        () => false,
      );
    while ((await pods()).length < 3) await wait(100);
  });

  after(async () => {
    await api?.close();
    if (directory) rmSync(directory, { recursive: true });
  });

  const ctl = (...argv: string[]): Promise<Outcome> => call([...argv, '--kubeconfig', api.kubeconfig]);
  const pods = async (): Promise<string[]> => {
    const names = await api.kubectl(['get', 'pods', '-n', NAMESPACE, '-l', 'gw', '-o', 'name']);
    return names.split('\n').filter(Boolean);
  };
  const patch = (args: readonly string[], status: object): Promise<string> =>
    api.kubectl(['patch', ...args, '--subresource=status', '--type=merge', '-p', JSON.stringify({ status })]);

  async function setGatewayStates(state: string, more: object = {}): Promise<void> {
    for (const name of ['gateway-proxy', 'gateway-proxy-ssl'])
      await patch(['-n', NAMESPACE, 'gateways.gateway.vendor.io', name], {
        statuses: { [NAMESPACE]: { state, reportedBy: 'gw', ...more } },
      });
  }

  /** Runs one more pod of the proxy on a node. */
  async function runOnNode(name: string, address: string): Promise<void> {
    await api.apply(JSON.stringify({ apiVersion: 'v1', kind: 'Node', metadata: { name } }));
    await patch(['node', name], { addresses: [{ type: 'InternalIP', address }] });
    const selector = await api.kubectl([
      'get',
      '-n',
      NAMESPACE,
      'service',
      'gateway-proxy',
      '-o',
      'jsonpath={.spec.selector}',
    ]);
    const pod = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: `on-${name}`, namespace: NAMESPACE, labels: JSON.parse(selector) as object },
      spec: { nodeName: name, containers: [{ name: 'proxy', image: 'none' }] },
    };
    await api.apply(JSON.stringify(pod));
  }

  it('finds Deployments without pods that run, pods without a node, and resources without a status', async () => {
    const { code, stdout, stderr } = await ctl('check', '--read-only');
    expect(code).to.equal(1);
    expect(stdout)
      .to.match(/Checking Deployments\.\.\. 3 Errors!/)
      .and.to.match(/Checking Pods\.\.\. \d Errors!/);
    expect(stderr).to.contain('Deployment gw in namespace gw-system is not available');
    expect(stderr).to.match(/Pod gateway-proxy-\S+ in namespace gw-system is Pending/);
    expect(stderr).to.contain('Found gateway with no status: gw-system gateway-proxy');
  });

  it('reports the reason of a rejected resource', async () => {
    await setGatewayStates('Rejected', { reason: 'port 8080 is taken' });
    const { stderr } = await ctl('check', '--read-only', '-x', 'deployments,pods');
    expect(stderr).to.contain("Found rejected gateway by 'gw': gw-system gateway-proxy  (Reason: port 8080 is taken)");
  });

  it('finds no problems when everything runs and is accepted', async function () {
    this.timeout(120_000);
    await setGatewayStates('Accepted');
    const ready = ['PodScheduled', 'Initialized', 'ContainersReady', 'Ready'].map((type) => ({ type, status: 'True' }));
    for (const pod of await pods()) await patch(['-n', NAMESPACE, pod], { phase: 'Running', conditions: ready });
    const isAvailable = async (): Promise<boolean> => (await ctl('check', '--read-only')).code === 0;
    for (let isDone = false; !isDone; await wait(200)) isDone = await isAvailable();
    const { stdout } = await ctl('check', '--read-only');
    expect(stdout).to.contain('Checking Gateways... OK').and.to.contain('No problems detected.');
  });

  it('says that a selector applies to no pods', async () => {
    const { stdout } = await ctl('check', '--read-only', '-p', 'gw=nothing');
    expect(stdout).to.contain('Warning: The provided label selector (gw=nothing) applies to no pods');
  });

  it('says that there is no gateway in a namespace', async () => {
    const { code, stderr } = await ctl('check', '-n', 'default', '--read-only', '-x', 'gateways,proxies');
    expect(code).to.equal(1);
    expect(stderr)
      .to.contain('No Deployments with the label app=gw were found in the namespace default')
      .and.to.contain('use --server');
  });

  it('prints the address of a proxy: of its load balancer, of a node, of the cluster', async () => {
    const missing = await ctl('proxy', 'address');
    expect(missing).to.include({ code: 1, stderr: 'Error: load balancer ingress not found\n' });
    const service = ['-n', NAMESPACE, 'service', 'gateway-proxy'];
    await patch(service, { loadBalancer: { ingress: [{ ip: '203.0.113.7' }] } });
    expect((await ctl('proxy', 'address')).stdout).to.equal('203.0.113.7:80\n');
    expect((await ctl('proxy', 'url', '--port', 'https')).stdout).to.equal('https://203.0.113.7:443\n');
    const local = await ctl('proxy', 'address', '--local-cluster');
    expect(local.stderr).to.contain('no node runs a pod of the Service');
    await runOnNode('n1', '198.51.100.9');
    const nodePort = await api.kubectl(['get', ...service, '-o', 'jsonpath={.spec.ports[?(@.name=="http")].nodePort}']);
    expect((await ctl('proxy', 'address', '-l')).stdout).to.equal(`198.51.100.9:${nodePort}\n`);
    expect((await ctl('proxy', 'url', '-l')).stdout).to.equal(`http://198.51.100.9:${nodePort}\n`);
    await api.kubectl(['delete', '-n', NAMESPACE, 'pod', 'on-n1', '--force', '--grace-period=0']);
    await runOnNode('minikube', '198.51.100.10');
    expect((await ctl('proxy', 'address', '-l')).stderr).to.contain('minikube is not on the PATH');
    writeFileSync(join(directory, 'minikube'), '#!/bin/sh\necho "$2" | sed s/--profile=dev/192.0.2.4/\n', {
      mode: 0o755,
    });
    const { PATH } = process.env;
    process.env.PATH = `${directory}:${PATH}`;
    try {
      expect((await ctl('proxy', 'address', '-l', '-p', 'dev')).stdout).to.equal(`192.0.2.4:${nodePort}\n`);
    } finally {
      process.env.PATH = PATH;
    }
    const unknown = await ctl('proxy', 'address', '--port', 'tcp');
    expect(unknown.stderr).to.contain('named port tcp not found; the Service has: http, https');
    await api.kubectl(['patch', ...service, '--type=merge', '-p', '{"spec":{"type":"ClusterIP"}}']);
    const internal = await ctl('proxy', 'url');
    expect(internal.stdout).to.match(/^http:\/\/10\.96\.\d+\.\d+:80\n$/);
    expect(internal.stderr).to.contain('only reachable inside the cluster');
    expect((await ctl('proxy', 'url', '--name', 'other')).stderr).to.contain('no Service other');
  });

  it('prints the versions of client, gateway and cluster', async () => {
    const { stdout } = await ctl('version');
    const { client, server, kubernetesCluster } = JSON.parse(stdout);
    expect(client).to.have.property('version');
    expect(server[0]).to.deep.include({ type: 'Gateway', enterprise: false });
    expect(server[0].kubernetes).to.deep.include({ namespace: NAMESPACE });
    expect(server[0].kubernetes.containers).to.deep.include({
      Tag: CLIENT_VERSION,
      Name: 'edge-gateway',
      Registry: '',
      OssTag: '',
    });
    expect(kubernetesCluster.gitVersion).to.match(/^v1\./);
    expect((await ctl('version', '-o', 'table')).stdout).to.contain('Kubernetes version: v1.');
    expect((await ctl('version', '-o', 'table', '-n', 'default')).stdout).to.contain('Server: version undefined');
  });

  it('collects what a report needs, without secret values', async () => {
    const { code, stdout } = await ctl('debug', 'yaml', '-n', NAMESPACE);
    expect(code).to.equal(0);
    const kinds = [...stdout.matchAll(/^kind: (\w+)$/gm)].map(([, kind]) => kind);
    expect(kinds).to.include.members(['Deployment', 'Service', 'ServiceAccount', 'Role', 'Gateway', 'Settings']);
    expect(stdout).to.not.contain('managedFields').and.to.not.contain('Z2VuZXJhdGVk');
  });
});
