import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { silentLoggers } from '@edge-gateway/core';
import type { ServiceSpec, UpstreamSpec } from '@edge-gateway/core/schema';
import { expect } from 'chai';
import { ROOT } from '../../../../test/docs/workspace.ts';
import { startKubernetes, type KubernetesApi } from '../../../../test/parts/kubernetes.ts';
import { createClusterClient, type ClusterClient } from '../../src/client/cluster-client.ts';
import { createDiscoveredFunctions, type DiscoveredFunctions } from '../../src/discovery/discovered-functions.ts';

const REF = { name: 'web', namespace: 'gw-system' };
const PATH = '/apis/gw.vendor.io/v1/namespaces/gw-system/upstreams/web';
const template = (path: string) => ({ body: {}, headers: { ':path': { text: path } } });
const rest = (...names: string[]): ServiceSpec => ({
  rest: { transformations: Object.fromEntries(names.map((name) => [name, template(`/${name}`)])) },
});
const UPSTREAM = {
  apiVersion: 'gw.vendor.io/v1',
  kind: 'Upstream',
  metadata: REF,
  spec: { kube: { serviceName: 'web', serviceNamespace: 'shop', servicePort: 80 } },
};

interface Written {
  readonly metadata: { readonly annotations?: Record<string, string>; readonly resourceVersion: string };
  readonly spec: UpstreamSpec;
}

describe('functions of upstreams with a real API server', () => {
  let api: KubernetesApi;
  let client: ClusterClient;
  let functions: DiscoveredFunctions;

  before(async function () {
    api = await startKubernetes(this);
    client = await createClusterClient({ kubeconfig: [api.kubeconfig] });
    await api.kubectl(['apply', '--server-side', '-f', join(ROOT, 'deploy/crds/upstreams.gw.vendor.io.yaml')]);
    await api.kubectl(['wait', '--for=condition=Established', '--timeout=60s', 'crd/upstreams.gw.vendor.io']);
    await api.kubectl(['create', 'namespace', 'gw-system']);
    while (!(await client.send({ path: '/apis/gw.vendor.io/v1/upstreams' }).then(Boolean, () => false))) await wait(50);
  });
  beforeEach(async () => {
    await api.apply(JSON.stringify(UPSTREAM));
    functions = createDiscoveredFunctions({ client, log: silentLoggers.get('config'), retryMs: 50 });
    functions.setLeading(true);
  });
  afterEach(async () => {
    await functions.close();
    await api.kubectl(['delete', 'upstream', 'web', '-n', 'gw-system', '--ignore-not-found']);
  });
  after(async () => {
    await client?.close();
    await api?.close();
  });

  const read = (): Promise<Written> => client.send<Written>({ path: PATH });
  async function until(isSo: (upstream: Written) => boolean): Promise<Written> {
    const giveUp = performance.now() + 30_000;
    for (;;) {
      const upstream = await read();
      if (isSo(upstream)) return upstream;
      if (performance.now() > giveUp) throw new Error(`still ${JSON.stringify(upstream)}`);
      await wait(20);
    }
  }
  const namesOf = ({ spec }: Written): string =>
    Object.keys(spec.kube?.serviceSpec?.rest?.transformations ?? {})
      .sort()
      .join();
  const patch = (serviceSpec: object): Promise<string> =>
    api.kubectl(['patch', 'upstream', 'web', '-n', 'gw-system', '--type=merge', '-p', specOf(serviceSpec)]);
  const specOf = (serviceSpec: object): string => JSON.stringify({ spec: { kube: { serviceSpec } } });

  it('follow the document, and leave nothing when they are removed', async () => {
    functions.set(REF, rest('find', 'add'));
    const { metadata, spec } = await until((upstream) => namesOf(upstream) === 'add,find');
    expect(metadata.annotations).to.deep.equal({ 'discovery.vendor.io/functions': 'rest' });
    expect(spec.kube!.serviceSpec).to.deep.equal(rest('find', 'add'));
    functions.set(REF, rest('add', 'remove'));
    await until((upstream) => namesOf(upstream) === 'add,remove');
    functions.set(REF, { grpcJsonTranscoder: { protoDescriptorBin: 'YQ==', services: ['shop.Shop'] } });
    const changed = await until(({ spec: { kube } }) => kube?.serviceSpec?.grpcJsonTranscoder !== undefined);
    expect(changed.spec.kube!.serviceSpec).to.not.have.property('rest');
    functions.delete(REF);
    const bare = await until((upstream) => upstream.metadata.annotations === undefined);
    expect(bare.spec).to.deep.equal(UPSTREAM.spec);
  });

  it('keep what users set, before and after them', async () => {
    await patch({ rest: { swaggerInfo: { url: '/api' }, transformations: { find: template('/mine') } } });
    functions.set(REF, rest('find', 'add'));
    const { spec } = await until((upstream) => namesOf(upstream) === 'add,find');
    expect(spec.kube!.serviceSpec!.rest).to.deep.equal({
      swaggerInfo: { url: '/api' },
      transformations: { find: template('/mine'), add: template('/add') },
    });
    await patch({ rest: { transformations: { add: { headers: { ':path': { text: '/changed' } } } } } });
    functions.set(REF, rest('find', 'add', 'more'));
    const after = await until((upstream) => namesOf(upstream).includes('more'));
    const { add } = after.spec.kube!.serviceSpec!.rest!.transformations!;
    expect(add).to.deep.equal(template('/changed'));
    functions.delete(REF);
    const { metadata } = await until((upstream) => !namesOf(upstream).includes('more'));
    expect(metadata.annotations).to.equal(undefined);
    expect((await read()).spec.kube!.serviceSpec!.rest!.transformations!['find']).to.deep.equal(template('/mine'));
  });

  it('are not written again if nothing has changed, nor to an Upstream that does not exist', async () => {
    functions.set(REF, rest('find'));
    const { metadata } = await until((upstream) => namesOf(upstream) === 'find');
    functions.set(REF, rest('find'));
    functions.set({ name: 'gone', namespace: 'gw-system' }, rest('find'));
    // Units are written in their order.
    await api.apply(JSON.stringify({ ...UPSTREAM, metadata: { ...REF, name: 'last' } }));
    functions.set({ name: 'last', namespace: 'gw-system' }, rest('find'));
    const last = async () => {
      const { items } = await client.send<{ items: Written[] }>({ path: PATH.replace(/\/web$/, '') });
      return items.filter((upstream) => namesOf(upstream) === 'find').length;
    };
    while ((await last()) < 2) await wait(20);
    expect((await read()).metadata.resourceVersion).to.equal(metadata.resourceVersion);
    const { items } = await client.send<{ items: unknown[] }>({ path: PATH.replace(/\/web$/, '') });
    expect(items).to.have.length(2);
    await api.kubectl(['delete', 'upstream', 'last', '-n', 'gw-system']);
  });
});
