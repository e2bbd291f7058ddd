import { existsSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { stringify } from 'yaml';
import { GOLDENS, goldenNames, goldenNamespace, goldenPath, manifestsIn, type Manifest } from './helm-goldens.ts';
import { CHART, skipWithoutHelm, type Helm } from './parts/helm.ts';
import { startKubernetes, type KubernetesApi } from './parts/kubernetes.ts';
import { ROOT } from './docs/workspace.ts';

const update = process.env['UPDATE_GOLDEN'] === '1';
const NAMESPACE = 'gw-system';

/** Kinds of the Prometheus operator, which a cluster without it does not have. */
const FOREIGN: ReadonlySet<string> = new Set(['PodMonitor', 'PrometheusRule']);

/** Replaces generated secrets. */
function withoutSecrets(object: Manifest): Manifest {
  if (object.kind !== 'Secret' || !object['data']) return object;
  const data = Object.fromEntries(Object.keys(object['data'] as object).map((key) => [key, 'Z2VuZXJhdGVk']));
  const { annotations, ...metadata } = object.metadata as { annotations?: object; name: string };
  const known = annotations && Object.fromEntries(Object.keys(annotations).map((key) => [key, 'generated']));
  return { ...object, metadata: { ...metadata, ...(known && { annotations: known }) }, data };
}

const print = (objects: readonly Manifest[]): string =>
  objects
    .map((object) => `---\n${stringify(object, { version: '1.1', lineWidth: 0, aliasDuplicateObjects: false })}`)
    .join('');

describe('the Helm chart in a cluster', () => {
  let helm: Helm;
  let api: KubernetesApi;

  before(async function () {
    helm = await skipWithoutHelm(this);
    api = await startKubernetes(this, { controllers: true });
    this.timeout(120_000);
    for (const name of [NAMESPACE, 'shop', 'billing', 'edge']) await api.kubectl(['create', 'namespace', name]);
    await api.kubectl(['apply', '--server-side', '-f', join(ROOT, 'deploy', 'crds')]);
    await api.kubectl(['wait', '--for=condition=Established', '--timeout=120s', 'crd', '-l', 'app=gw']);
  });
  after(() => api?.close());

  const render = (...more: readonly string[]): Promise<string> =>
    helm('template', 'gw', CHART, '--namespace', NAMESPACE, '--kube-version', '1.36', ...more);
  const renderGolden = (name: string): Promise<string> =>
    render('--values', goldenPath(name, 'values'), '--namespace', goldenNamespace(name));

  it('has no findings of lint', async function () {
    this.timeout(60_000);
    for (const name of goldenNames)
      await helm(
        'lint',
        CHART,
        '--namespace',
        NAMESPACE,
        '--strict',
        '--quiet',
        '--values',
        goldenPath(name, 'values'),
      );
  });

  it('has an expected output for each set of values, and no other', () => {
    const expected = new Set(goldenNames.flatMap((name) => [`${name}.out.yaml`, `${name}.values.yaml`]));
    const orphans = readdirSync(GOLDENS).filter((file) => !expected.has(file));
    if (update) for (const file of orphans) rmSync(join(GOLDENS, file));
    else expect(orphans).to.deep.equal([]);
    expect(goldenNames).to.have.length.of.at.least(12);
  });

  for (const name of goldenNames) {
    it(`renders ${name} as expected`, async function () {
      this.timeout(60_000);
      const rendered = await renderGolden(name);
      const text = print(manifestsIn(rendered).map(withoutSecrets));
      if (update) writeFileSync(goldenPath(name, 'out'), text);
      expect(existsSync(goldenPath(name, 'out')), 'run with UPDATE_GOLDEN=1').to.equal(true);
      expect(text).to.equal(readFileSync(goldenPath(name, 'out'), 'utf8'));
    });

    it(`renders ${name} as the API server accepts it`, async function () {
      this.timeout(120_000);
      const objects = manifestsIn(await renderGolden(name));
      const own = objects.filter(({ kind }) => !FOREIGN.has(kind));
      const args = ['apply', '--server-side', '--dry-run=server', '--validate=strict', '-f', '-'];
      const printed = await api.kubectl(args, print(own));
      expect(printed.trim().split('\n')).to.have.length(own.length);
    });
  }

  const refusals: Readonly<Record<string, [set: string, message: RegExp]>> = {
    'an unknown value': ['gateways.enabled=true', /additional properties 'gateways' not allowed/],
    'an unknown log level': ['gw.logLevel=loud', /\/gw\/logLevel.*must be one of/s],
    'an invalid replacement status': ['settings.invalidRouteResponseCode=42', /invalidRouteResponseCode/],
    'namespaced roles for all namespaces': ['global.rbac.namespaced=true', /needs settings.watchNamespaces/],
    'an autoscaler of a DaemonSet': [
      'gatewayProxies.gatewayProxy.kind.daemonSet.enabled=true,gatewayProxies.gatewayProxy.horizontalPodAutoscaler.maxReplicas=3',
      /cannot scale a daemonSet/,
    ],
    'an autoscaler without a maximum': [
      'gatewayProxies.gatewayProxy.horizontalPodAutoscaler.minReplicas=3',
      /maxReplicas of gateway-proxy is missing/,
    ],
  };
  for (const [what, [set, message]] of Object.entries(refusals)) {
    it(`rejects ${what}`, async () => {
      const failure = await render('--set', set).then(
        () => undefined,
        (error: Error) => error.message,
      );
      expect(failure).to.match(message);
    });
  }

  it('keeps secrets, resources and CRDs in an upgrade, and CRDs and resources after an uninstall', async function () {
    this.timeout(300_000);
    const cluster = ['--kubeconfig', api.kubeconfig, '--namespace', NAMESPACE];
    const secrets = async () => {
      const { items } = JSON.parse(
        await api.kubectl(['get', 'secret', '-n', NAMESPACE, '-l', 'app=gw', '-o', 'json']),
      ) as {
        items: { metadata: { name: string }; data: object }[];
      };
      return Object.fromEntries(items.map(({ metadata, data }) => [metadata.name, data]));
    };
    await helm('install', 'gw', CHART, ...cluster);
    await api.apply(`
apiVersion: gateway.vendor.io/v1
kind: VirtualService
metadata: { name: shop, namespace: ${NAMESPACE} }
spec: { virtualHost: { domains: [shop.example], routes: [] } }
`);
    const before = await secrets();
    expect(Object.keys(before)).to.have.members(['admin-token', 'gateway-validation-certs', 'redis', 'xds-tls']);
    const { metadata: crd } = JSON.parse(
      await api.kubectl(['get', 'crd', 'upstreams.gw.vendor.io', '-o', 'json']),
    ) as any;

    await helm(
      'upgrade',
      'gw',
      CHART,
      ...cluster,
      '--set',
      'gw.logLevel=debug,gatewayProxies.extra.kind.deployment.replicas=2',
    );
    expect(await secrets()).to.deep.equal(before);
    const get = (...args: string[]): Promise<string> => api.kubectl(['get', '-n', NAMESPACE, '-o', 'name', ...args]);
    expect(await get('vs')).to.contain('shop');
    expect(await get('deployment')).to.contain('deployment.apps/extra');
    expect(await get('gateways.gateway.vendor.io')).to.contain('extra-ssl');

    await helm('upgrade', 'gw', CHART, ...cluster, '--reset-values');
    expect(await get('deployment')).to.not.contain('extra');

    await helm('uninstall', 'gw', ...cluster);
    expect(await get('vs')).to.contain('shop');
    const { metadata: kept } = JSON.parse(
      await api.kubectl(['get', 'crd', 'upstreams.gw.vendor.io', '-o', 'json']),
    ) as any;
    expect(kept.uid).to.equal(crd.uid);
  });
});
