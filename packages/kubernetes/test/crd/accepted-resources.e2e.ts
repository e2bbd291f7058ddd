import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { KINDS } from '@edge-gateway/core';
import { expect } from 'chai';
import { ROOT } from '../../../../test/docs/workspace.ts';
import { startKubernetes, type KubernetesApi } from '../../../../test/parts/kubernetes.ts';
import { isApiError } from '../../src/client/api-error.ts';
import { createClusterClient, type ClusterClient } from '../../src/client/cluster-client.ts';
import { repositoryResources, type RepositoryResource } from './repository-resources.ts';

const FOLDER = join(ROOT, 'deploy', 'crds');

const STATUS = { statuses: { 'gw-system': { state: 'Rejected', reason: 'no such upstream', reportedBy: 'gw' } } };

describe('the CRDs in a cluster', () => {
  let api: KubernetesApi;
  let client: ClusterClient;

  before(async function () {
    api = await startKubernetes(this);
    this.timeout(300_000);
    client = await createClusterClient({ kubeconfig: [api.kubeconfig] });
    await api.kubectl(['apply', '--server-side', '-f', FOLDER]);
    await api.kubectl(['wait', '--for=condition=Established', '--timeout=120s', 'crd', '-l', 'app=gw']);
    await untilServed();
  });

  after(async () => {
    await client?.close();
    await api?.close();
  });

  /** A new kind has no path for a moment, although it is established. */
  async function untilServed(): Promise<void> {
    for (const { plural, apiVersions } of [...KINDS.values()].filter(({ body }) => !body)) {
      const path = `/apis/${apiVersions[0]}/${plural}`;
      const isServed = (): Promise<boolean> => client.send({ path }).then(Boolean, () => false);
      while (!(await isServed())) await wait(50);
    }
  }

  /** Returns the message of the API server if it rejects a resource. */
  async function rejectionOf({
    object,
    plural,
  }: Pick<RepositoryResource, 'object' | 'plural'>): Promise<string | undefined> {
    const path = `/apis/${object.apiVersion}/namespaces/default/${plural}`;
    const query = { dryRun: 'All', fieldValidation: 'Strict' };
    try {
      await client.send({ method: 'POST', path, query, body: object });
      return undefined;
    } catch (error) {
      if (isApiError(error)) return error.message;
      throw error;
    }
  }

  it('accepts every valid resource of this repository, and rejects all others with the path of a field', async function () {
    this.timeout(300_000);
    const resources = repositoryResources();
    const wrong: string[] = [];
    for (const resource of resources) {
      const { origin, problems } = resource;
      const message = await rejectionOf(resource);
      if (problems.length === 0 && message !== undefined) wrong.push(`${origin} is rejected: ${message}`);
      if (problems.length > 0 && message === undefined) wrong.push(`${origin} is accepted, despite ${problems.join()}`);
      if (problems.length > 0 && message !== undefined) expect(message, origin).to.match(/\bspec\.\w+/);
    }
    expect(wrong).to.deep.equal([]);
    expect(resources.filter(({ problems }) => problems.length === 0)).to.have.length.above(1000);
    expect(resources.filter(({ problems }) => problems.length > 0)).to.have.length.above(30);
  });

  const upstream = (spec: object) => ({
    plural: 'upstreams',
    object: { apiVersion: 'gw.vendor.io/v1', kind: 'Upstream', metadata: { name: 'one' }, spec } as const,
  });

  it('names the fields of which only one can be set', async () => {
    const message = await rejectionOf(upstream({ loadBalancerConfig: { random: {}, maglev: {} } }));
    expect(message).to.contain('spec.loadBalancerConfig').and.to.contain('only one of');
  });

  it('rejects an invalid duration with the path of its field', async () => {
    const message = await rejectionOf(upstream({ connectionConfig: { connectTimeout: '5 seconds' } }));
    expect(message).to.contain('spec.connectionConfig.connectTimeout');
  });

  it('accepts enums by number, and null for an omitted field', async () => {
    expect(await rejectionOf(upstream({ protocolSelection: 1, static: { hosts: [] }, kube: null }))).to.equal(
      undefined,
    );
  });

  it('keeps the status apart from the spec', async () => {
    const path = '/apis/gw.vendor.io/v1/namespaces/default/upstreams';
    await client.send({ method: 'POST', path, body: { ...upstream({}).object, status: STATUS } });
    expect(await client.send({ path: `${path}/one` })).to.not.have.property('status');
    const contentType = 'application/merge-patch+json';
    await client.send({ method: 'PATCH', path: `${path}/one/status`, contentType, body: { status: STATUS } });
    expect(await client.send({ path: `${path}/one` })).to.have.deep.property('status', STATUS);
  });

  it('shows columns to kubectl users, by short names and by category', async () => {
    await api.kubectl(
      ['create', '-f', '-'],
      `
apiVersion: gateway.vendor.io/v1
kind: VirtualService
metadata: { name: shop, namespace: default }
spec: { virtualHost: { domains: [shop.example], routes: [] } }
---
apiVersion: ratelimit.vendor.io/v1alpha1
kind: RateLimitConfig
metadata: { name: limits, namespace: default }
spec: {}
`,
    );
    const table = await api.kubectl(['get', 'us,vs,rlc,gql']);
    expect(table).to.match(/NAME +SERVICE +HOST +STATE +AGE\nupstream.gw.vendor.io\/one +Rejected +\d+s/);
    expect(table).to.match(
      /NAME +DOMAINS +STATE +AGE\nvirtualservice.gateway.vendor.io\/shop +\["shop.example"\] +\d+s/,
    );
    expect(await api.kubectl(['get', 'upstream', 'one', '-o', 'wide'])).to.contain('no such upstream');
    const all = await api.kubectl(['get', 'edge-gateway', '-o', 'name']);
    expect(all.trim().split('\n')).to.have.length(3);
  });

  it('explains fields', async () => {
    const text = await api.kubectl(['explain', 'virtualservice.spec.virtualHost.routes.options.timeout']);
    expect(text.replaceAll(/\s+/g, ' ')).to.contain('Default: 15s.');
  });

  it('changes nothing if it is applied again', async () => {
    const crd = async () => JSON.parse(await api.kubectl(['get', 'crd', 'upstreams.gw.vendor.io', '-o', 'json']));
    const { metadata } = await crd();
    await api.apply(readFileSync(join(FOLDER, 'upstreams.gw.vendor.io.yaml'), 'utf8'));
    expect((await crd()).metadata.generation).to.equal(metadata.generation);
  });
});
