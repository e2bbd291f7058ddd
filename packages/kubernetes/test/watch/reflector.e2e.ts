import { silentLoggers } from '@edge-gateway/core';
import {
  createClusterClient,
  createReflector,
  type ClusterClient,
  type Reflector,
  type ReflectorTiming,
} from '@edge-gateway/kubernetes';
import { expect } from 'chai';
import { until } from '../../../../test/parts/until.ts';
import { startKubernetes, type KubernetesApi } from '../../../../test/parts/kubernetes.ts';

const QUICK: Partial<ReflectorTiming> = { backoff: { firstMs: 50, maxMs: 500, resetMs: 60_000 } };

describe('a reflector of a real API server', () => {
  let api: KubernetesApi;
  let client: ClusterClient;
  const reflectors: Reflector[] = [];

  before(async function () {
    api = await startKubernetes(this);
    client = await createClusterClient({ kubeconfig: [api.kubeconfig] });
  });
  afterEach(() => Promise.all(reflectors.splice(0).map((reflector) => reflector.close())));
  after(async () => {
    await client?.close();
    await api?.close();
  });

  async function follow(plural: string, own: ClusterClient = client): Promise<Map<string, string | undefined>> {
    const held = new Map<string, string | undefined>();
    const reflector = createReflector<string | undefined>({
      client: own,
      type: { group: '', version: 'v1', plural },
      log: silentLoggers.get('config'),
      select: ({ data }) => (data as Record<string, string> | undefined)?.v ?? '',
      onChange({ changed, deleted }) {
        for (const [key, value] of changed) held.set(key, value);
        for (const key of deleted) held.delete(key);
      },
      timing: { ...QUICK, pageSize: 10 },
    });
    reflectors.push(reflector);
    await reflector.start();
    return held;
  }

  const configMap = (name: string, v: string): string =>
    `---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}, namespace: default}\ndata: {v: "${v}"}\n`;

  it('follows objects over several pages, changes and deletions', async () => {
    await api.apply(Array.from({ length: 25 }, (_, i) => configMap(`m${i}`, 'a')).join(''));
    const held = await follow('configmaps');
    expect([...held.keys()].filter((key) => key.startsWith('default/m'))).to.have.length(25);
    await api.apply(configMap('m3', 'b'));
    await until(() => held.get('default/m3') === 'b');
    await api.kubectl(['delete', 'configmap', 'm4']);
    await until(() => !held.has('default/m4'));
  });

  it('authenticates by client certificate', async () => {
    const own = await createClusterClient({ kubeconfig: [api.kubeconfig], context: 'certificate' });
    const held = await follow('namespaces', own);
    expect([...held.keys()]).to.include('default');
    await own.close();
  });

  it('waits until a role permits the list', async () => {
    const own = await createClusterClient({ kubeconfig: [api.kubeconfig], context: 'gateway' });
    const following = follow('namespaces', own);
    await until(() => reflectors.at(-1)?.problem?.apiStatus === 403);
    await api.kubectl(['create', 'clusterrole', 'reader', '--verb=list,watch', '--resource=namespaces']);
    await api.kubectl(['create', 'clusterrolebinding', 'reader', '--clusterrole=reader', '--group=gateways']);
    expect([...(await following).keys()]).to.include('default');
    await own.close();
  });

  it('catches up after the API server was killed and started again on its data', async () => {
    await api.apply(configMap('kept', 'a'));
    const held = await follow('configmaps');
    await api.kill();
    await until(() => reflectors[0]!.problem !== undefined);
    expect(held.get('default/kept')).to.equal('a');
    await api.start();
    await api.apply(configMap('kept', 'b'));
    await until(() => held.get('default/kept') === 'b' && reflectors[0]!.problem === undefined);
  });
});
