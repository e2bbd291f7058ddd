import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { ROOT } from '../../../../test/docs/workspace.ts';
import { CHART, skipWithoutHelm } from '../../../../test/parts/helm.ts';
import { startKubernetes, type KubernetesApi } from '../../../../test/parts/kubernetes.ts';
import { call, type Outcome } from '../support/captured-io.ts';

const NAMESPACE = 'gw-system';

describe('gatewayctl install, upgrade and uninstall', () => {
  let api: KubernetesApi;
  let directory: string;

  before(async function () {
    await skipWithoutHelm(this);
    api = await startKubernetes(this, { controllers: true });
    directory = mkdtempSync(join(tmpdir(), 'gatewayctl-'));
  });

  after(async () => {
    await api?.close();
    if (directory) rmSync(directory, { recursive: true });
  });

  const ctl = (...argv: string[]): Promise<Outcome> => {
    const { PATH } = process.env;
    const home = {
      HOME: directory,
      HELM_CACHE_HOME: directory,
      HELM_CONFIG_HOME: directory,
      HELM_DATA_HOME: directory,
    };
    return call([...argv, '--kubeconfig', api.kubeconfig], { env: { PATH, ...home } });
  };
  const names = (...args: string[]): Promise<string> => api.kubectl(['get', '-n', NAMESPACE, '-o', 'name', ...args]);

  it('finds that a cluster has no CRDs', async () => {
    const { code, stderr } = await ctl('check-crds');
    expect(code).to.equal(1);
    expect(stderr).to.contain('14 CRDs are not up to date:').and.to.contain('* upstreams.gw.vendor.io missing');
  });

  it('installs CRDs and chart, with values', async function () {
    this.timeout(180_000);
    const values = join(directory, 'values.yaml');
    writeFileSync(values, 'redis: { enabled: false }\n');
    const { code, stdout, stderr } = await ctl('install', 'gateway', '--values', values, '--set', 'gw.logLevel=debug');
    expect(code, stderr).to.equal(0);
    expect(stdout).to.contain('The gateway was installed in the namespace gw-system');
    const deployments = await names('deployment');
    expect(deployments).to.contain('deployment.apps/gateway-proxy').and.to.not.contain('redis');
    expect(await api.kubectl(['get', '-n', NAMESPACE, 'deployment', 'gw', '-o', 'yaml'])).to.contain(
      '--log-level=debug',
    );
    expect(await names('gateways.gateway.vendor.io')).to.contain('gateway-proxy-ssl');
  });

  it('finds that the CRDs are up to date, and which of them are not', async () => {
    expect(await ctl('check-crds')).to.include({ code: 0, stdout: 'All CRDs are up to date\n' });
    expect(await ctl('check-crds', '--local-chart', CHART)).to.include({ code: 0 });
    const file = join(ROOT, 'deploy', 'crds', 'graphqlapis.graphql.gw.vendor.io.yaml');
    await api.apply(
      readFileSync(file, 'utf8').replaceAll('A GraphQL API that routes can serve.', 'An old description.'),
    );
    const { code, stdout, stderr } = await ctl('check-crds', '--show-yaml');
    expect(code).to.equal(1);
    expect(stderr).to.contain('* graphqlapis.graphql.gw.vendor.io differs').and.to.contain('beta');
    expect(stdout).to.contain('name: graphqlapis.graphql.gw.vendor.io');
  });

  it('upgrades CRDs and chart, and keeps the values', async function () {
    this.timeout(180_000);
    const { code, stderr } = await ctl('upgrade', 'gateway', '--set', 'gateway.persistProxySpec=true');
    expect(code, stderr).to.equal(0);
    expect((await ctl('check-crds')).code).to.equal(0);
    const settings = await api.kubectl(['get', '-n', NAMESPACE, 'settings', 'default', '-o', 'yaml']);
    expect(settings).to.contain('persistProxySpec: true');
    expect(await api.kubectl(['get', '-n', NAMESPACE, 'deployment', 'gw', '-o', 'yaml'])).to.contain(
      '--log-level=debug',
    );
    expect(await names('deployment')).to.not.contain('redis');
  });

  it('prints manifests and changes nothing in a dry run', async () => {
    const { code, stdout, stderr } = await ctl('install', 'gateway', '--dry-run', '--set', 'extAuth.enabled=true');
    expect(code, stderr).to.equal(0);
    expect(stdout).to.contain('name: extauth');
    expect(await names('deployment')).to.not.contain('extauth');
  });

  it('reports what the chart rejects', async () => {
    const { code, stderr } = await ctl('upgrade', 'gateway', '--set', 'gw.logLevel=loud');
    expect(code).to.equal(1);
    expect(stderr).to.contain('helm upgrade').and.to.contain('/gw/logLevel');
  });

  it('uninstalls, and keeps CRDs and resources unless asked', async function () {
    this.timeout(180_000);
    await ctl('create', 'upstream', 'static', 'kept', '--static-hosts', 'kept.example:80');
    expect(await ctl('uninstall', 'gateway')).to.include({ code: 0 });
    expect(await names('deployment')).to.equal('');
    expect(await names('upstreams')).to.contain('kept');
    expect((await ctl('check-crds')).code).to.equal(0);
  });

  it('installs into another namespace, beside the other objects of the cluster', async function () {
    this.timeout(180_000);
    const { code, stdout, stderr } = await ctl('install', 'gateway', '-n', 'edge');
    expect(code, stderr).to.equal(0);
    expect(stdout)
      .to.contain('The gateway was installed in the namespace edge')
      .and.match(/ -n edge\n$/);
    const get = (...args: string[]): Promise<string> => api.kubectl(['get', '-n', 'edge', ...args]);
    for (const component of ['gw', 'gateway-proxy'])
      expect(await get('deployment', component, '-o', 'yaml')).to.contain('--namespace=edge');
    expect(await get('settings', 'default', '-o', 'yaml')).to.contain('discoveryNamespace: edge');
    expect(await get('gateways.gateway.vendor.io', '-o', 'name')).to.contain('gateway-proxy-ssl');
    expect(await get('validatingwebhookconfigurations', '-o', 'name')).to.contain('validation-webhook-edge');
    expect(await names('deployment')).to.equal('');
    expect((await ctl('upgrade', 'gateway', '-n', 'edge', '--set', 'redis.enabled=false')).code).to.equal(0);
    expect(await get('deployment', '-o', 'name')).to.not.contain('redis');
    expect((await ctl('uninstall', 'gateway', '-n', 'edge', '--delete-namespace')).code).to.equal(0);
    await api.kubectl(['wait', '--for=delete', '--timeout=60s', 'namespace/edge']);
  });

  it('deletes the CRDs if asked', async function () {
    this.timeout(180_000);
    expect((await ctl('install', 'gateway')).code).to.equal(0);
    const { code, stdout } = await ctl('uninstall', 'gateway', '--delete-crds');
    expect(code).to.equal(0);
    expect(stdout).to.contain('The CRDs were deleted');
    await api.kubectl(['wait', '--for=delete', '--timeout=60s', 'crd/upstreams.gw.vendor.io']);
  });
});
