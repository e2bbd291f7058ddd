import { formatIssue, loadSource, silentLoggers, type WrittenResource } from '@edge-gateway/core';
import {
  createClusterClient,
  kubernetesSource,
  type ClusterClient,
  type KubernetesSource,
} from '@edge-gateway/kubernetes';
import { expect } from 'chai';
import { sourceContract } from '../../../core/test/source/source-contract.ts';
import { until } from '../../../../test/parts/until.ts';
import { startKubernetes, type KubernetesApi } from '../../../../test/parts/kubernetes.ts';
import { applyAnyCrds } from '../any-crds.ts';

const TIMING = { backoff: { firstMs: 50, maxMs: 500, resetMs: 60_000 } };
const log = silentLoggers.get('config');

describe('the source of a cluster', () => {
  let api: KubernetesApi;
  let client: ClusterClient;
  let source: KubernetesSource | undefined;
  let held: Map<string, readonly WrittenResource[]>;

  before(async function () {
    api = await startKubernetes(this, { controllers: true });
    client = await createClusterClient({ kubeconfig: [api.kubeconfig] });
    await applyAnyCrds(api);
    await api.kubectl(['create', 'namespace', 'shop']);
  });
  afterEach(async () => {
    await source?.close();
    source = undefined;
  });
  after(async () => {
    await client?.close();
    await api?.close();
  });

  sourceContract('kubernetesSource', async (texts) => {
    await api.kubectl(['delete', '-A', '--all', 'virtualservices.gateway.vendor.io,upstreams.gw.vendor.io']);
    for (const text of Object.values(texts)) await api.apply(inGateway(text));
    return {
      source: kubernetesSource({ client, log, timing: TIMING }),
      put: (_name, text) => api.apply(inGateway(text)),
      remove: async (name) => void (await api.kubectl(['delete', '-n', 'gw-system', `upstreams.gw.vendor.io/${name}`])),
      unit: (name) => `upstreams.gw.vendor.io gw-system/${name}`,
      dispose: async () => void (await api.kubectl(['delete', '-n', 'gw-system', 'upstreams.gw.vendor.io', '--all'])),
    };
  });

  async function start(own = client): Promise<void> {
    held = new Map();
    source = kubernetesSource({ client: own, log, timing: TIMING });
    await source.start((change) => {
      for (const [unit, written] of change) written.length > 0 ? held.set(unit, written) : held.delete(unit);
    });
  }

  const text = (unit: string): string => JSON.stringify(held.get(unit)?.[0]?.value);

  it('delivers Secrets only if a resource refers to them or selects them', async () => {
    await api.apply(secret('shop', 'used') + secret('shop', 'unused') + secret('shop', 'labelled', '{team: a}'));
    await start();
    expect([...held.keys()].filter((unit) => unit.startsWith('secrets '))).to.deep.equal([]);
    await api.apply(
      `apiVersion: enterprise.gw.vendor.io/v1\nkind: AuthConfig\nmetadata: {name: a, namespace: shop}\nspec: {configs: [{oauth2: {clientSecretRef: {name: used, namespace: shop}}}, {apiKeyAuth: {labelSelector: {team: a}}}]}\n`,
    );
    await until(() => held.has('authconfigs.enterprise.gw.vendor.io shop/a'));
    const units = () => [...held.keys()].filter((unit) => unit.startsWith('secrets ')).sort();
    expect(units()).to.deep.equal(['secrets shop/labelled', 'secrets shop/used']);
    // kubectl keeps a copy of the whole Secret in an annotation.
    expect(text('secrets shop/used')).not.to.contain('last-applied');
    await api.kubectl(['delete', '-n', 'shop', 'authconfigs.enterprise.gw.vendor.io/a']);
    await until(() => units().length === 0);
  });

  it('follows the content of a referenced Secret', async () => {
    await api.apply(secret('shop', 'used') + virtualService('vs', 'used'));
    await start();
    expect(text('secrets shop/used')).to.contain('dXNlZA==');
    await api.apply(secret('shop', 'used', '{}', 'bmV3'));
    await until(() => text('secrets shop/used').includes('bmV3'));
    await api.kubectl(['delete', '-n', 'shop', 'secret/used']);
    await until(() => !held.has('secrets shop/used'));
    await api.kubectl(['delete', '-n', 'shop', 'virtualservices.gateway.vendor.io/vs']);
  });

  it('delivers no change for a status', async () => {
    await api.apply(virtualService('vs', 'used'));
    await start();
    let changes = 0;
    await source!.close();
    source = kubernetesSource({ client, log, timing: TIMING });
    await source.start(() => (changes += 1));
    const patch = '{"status":{"statuses":{"gw-system":{"state":1}}}}';
    const target = ['virtualservices.gateway.vendor.io/vs', '-n', 'shop', '--type=merge'];
    await api.kubectl(['patch', ...target, '--subresource=status', '-p', patch]);
    await api.kubectl(['patch', ...target, '-p', '{"spec":{"displayName":"x"}}']);
    await until(() => changes >= 2);
    expect(changes).to.equal(2);
  });

  it('reads only the namespaces that Settings name, and others when they change', async () => {
    await api.kubectl(['create', 'namespace', 'other']);
    await api.apply(virtualService('vs', 'used') + virtualService('vs', 'used', 'other'));
    await api.apply(settings('{watchNamespaces: [shop]}'));
    await start();
    const units = () => [...held.keys()].filter((unit) => unit.startsWith('virtualservices')).sort();
    expect(units()).to.deep.equal(['virtualservices.gateway.vendor.io shop/vs']);
    await api.apply(settings('{watchNamespaces: [other]}'));
    await until(() => units().join() === 'virtualservices.gateway.vendor.io other/vs');
    // The same kind in its other group.
    await api.kubectl(['delete', '-n', 'gw-system', 'settings.settings.gw.vendor.io/default']);
    await until(() => units().length === 2);
    await api.apply(settings('{watchNamespaces: [other]}').replace('settings.gw', 'gw'));
    await until(() => units().join() === 'virtualservices.gateway.vendor.io other/vs');
    expect(held.has('settings.gw.vendor.io gw-system/default')).to.equal(true);
    await api.kubectl(['delete', '-n', 'gw-system', 'settings.gw.vendor.io/default']);
    await api.apply(settings('{watchNamespaceSelectors: [{matchLabels: {edge: "yes"}}]}'));
    await until(() => units().length === 0);
    await api.kubectl(['label', 'namespace', 'shop', 'edge=yes']);
    await until(() => units().join() === 'virtualservices.gateway.vendor.io shop/vs');
    await api.kubectl(['delete', '-n', 'gw-system', 'settings.settings.gw.vendor.io/default']);
    await until(() => units().length === 2);
  });

  it('forgets the resources of a deleted namespace', async () => {
    await start();
    expect(held.has('virtualservices.gateway.vendor.io other/vs')).to.equal(true);
    await api.kubectl(['delete', 'namespace', 'other']);
    await until(() => ![...held.keys()].some((unit) => unit.includes(' other/')));
  });

  it('reads referenced Secrets by name if their list is forbidden', async () => {
    await api.apply(secret('shop', 'used') + virtualService('vs', 'used') + ROLE_WITHOUT_SECRETS);
    const own = await createClusterClient({ kubeconfig: [api.kubeconfig], context: 'gateway' });
    await start(own);
    expect(text('secrets shop/used')).to.contain('dXNlZA==');
    await source!.close();
    source = undefined;
    await own.close();
  });

  it('reports problems at the object and its field', async () => {
    await api.apply(
      'apiVersion: gw.vendor.io/v1\nkind: Upstream\nmetadata: {name: broken, namespace: shop}\nspec: {static: {hosts: [{addr: a.example, port: "x"}]}}\n',
    );
    const { issues } = await loadSource(kubernetesSource({ client, log, timing: TIMING }));
    const lines = issues.map(formatIssue).filter((line) => line.includes('broken'));
    expect(lines).to.have.length(1);
    expect(lines[0]).to.match(/^upstreams\.gw\.vendor\.io shop\/broken: spec\.static\.hosts\[0\]\.port {2}/);
  });

  const inGateway = (yaml: string): string => yaml.replace('metadata:\n', 'metadata:\n  namespace: gw-system\n');
  const secret = (namespace: string, name: string, labels = '{}', value = 'dXNlZA=='): string =>
    `---\napiVersion: v1\nkind: Secret\nmetadata: {name: ${name}, namespace: ${namespace}, labels: ${labels}}\ndata: {v: ${value}}\n`;
  const virtualService = (name: string, secretName: string, namespace = 'shop'): string =>
    `---\napiVersion: gateway.vendor.io/v1\nkind: VirtualService\nmetadata: {name: ${name}, namespace: ${namespace}}\nspec: {sslConfig: {secretRef: {name: ${secretName}, namespace: ${namespace}}}, virtualHost: {domains: [${name}.example]}}\n`;
  const settings = (spec: string): string =>
    `apiVersion: settings.gw.vendor.io/v1\nkind: Settings\nmetadata: {name: default, namespace: gw-system}\nspec: ${spec}\n`;
});

const ROLE_WITHOUT_SECRETS = `---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: gateway}
rules:
- {apiGroups: ["*"], resources: ["*"], verbs: [get]}
- apiGroups: [gateway.vendor.io, gw.vendor.io, settings.gw.vendor.io, enterprise.gw.vendor.io, ratelimit.vendor.io, graphql.gw.vendor.io]
  resources: ["*"]
  verbs: [list, watch]
- {apiGroups: [""], resources: [configmaps, namespaces], verbs: [list, watch]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: gateway}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: gateway}
subjects: [{kind: Group, name: gateways, apiGroup: rbac.authorization.k8s.io}]
`;
