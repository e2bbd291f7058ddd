import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { ROOT } from '../../../../test/docs/workspace.ts';
import { startKubernetes, type KubernetesApi } from '../../../../test/parts/kubernetes.ts';
import { call, type Outcome } from '../support/captured-io.ts';

const NAMESPACE = 'gw-system';

describe('gatewayctl on the resources of a cluster', () => {
  let api: KubernetesApi;
  let directory: string;

  before(async function () {
    api = await startKubernetes(this);
    this.timeout(300_000);
    directory = mkdtempSync(join(tmpdir(), 'gatewayctl-'));
    await api.kubectl(['create', 'namespace', NAMESPACE]);
    await api.kubectl(['apply', '--server-side', '-f', join(ROOT, 'deploy', 'crds')]);
    await api.kubectl(['wait', '--for=condition=Established', '--timeout=120s', 'crd', '-l', 'app=gw']);
    // The path of a new kind is missing for a moment.
    for (let isServed = false; !isServed;)
      isServed = (await ctl('create', 'upstream', 'static', 'first', '--static-hosts', 'first.example:80')).code === 0;
  });

  after(async () => {
    await api?.close();
    if (directory) rmSync(directory, { recursive: true });
  });

  const ctl = (...argv: string[]): Promise<Outcome> => call([...argv, '--kubeconfig', api.kubeconfig]);
  const object = async (...args: string[]): Promise<any> =>
    JSON.parse(await api.kubectl(['get', '-n', NAMESPACE, '-o', 'json', ...args]));

  it('creates resources, which kubectl shows', async () => {
    const created = await ctl('create', 'upstream', 'static', 'cart', '--static-hosts', 'cart.example:8080');
    expect(created).to.include({ code: 0, stderr: 'Upstream gw-system/cart: created\n' });
    expect(created.stdout).to.contain('cart.example:8080');
    expect((await object('upstream', 'cart')).spec).to.deep.equal({
      static: { hosts: [{ addr: 'cart.example', port: 8080 }] },
    });
  });

  it('rejects a resource that exists', async () => {
    const again = await ctl('create', 'upstream', 'static', 'first', '--static-hosts', 'other.example:80');
    expect(again.code).to.equal(1);
    expect(again.stderr).to.contain('Upstream gw-system/first already exists');
  });

  it('creates all resources of a file, or none', async () => {
    const file = join(directory, 'resources.yaml');
    const upstream = (name: string): string =>
      `apiVersion: gw.vendor.io/v1\nkind: Upstream\nmetadata: { name: ${name}, namespace: ${NAMESPACE} }\nspec: { static: { hosts: [{ addr: a.example, port: 80 }] } }\n`;
    writeFileSync(file, `${upstream('one')}---\n${upstream('two')}`);
    expect(await ctl('create', '-f', file)).to.include({ code: 0 });
    expect((await object('upstreams')).items.map((each: any) => each.metadata.name)).to.include.members(['one', 'two']);
    writeFileSync(file, `${upstream('three')}---\n${upstream('two')}`);
    expect(await ctl('create', '-f', file)).to.include({ code: 1 });
    expect((await object('upstreams')).items.map((each: any) => each.metadata.name)).to.not.include('three');
  });

  it('adds routes to the virtual service for all domains, and removes them', async () => {
    const added = await ctl('add', 'route', '-p', '/cart', '-u', 'cart');
    expect(added.code, added.stderr).to.equal(0);
    expect(added.stdout).to.contain('/cart -> gw-system.cart (upstream)');
    await ctl('add', 'route', '-p', '/first', '-u', 'first');
    const routes = async () => (await object('virtualservice', 'default')).spec.virtualHost.routes;
    expect((await routes()).map((route: any) => route.matchers[0].prefix)).to.deep.equal(['/first', '/cart']);
    expect(await ctl('remove', 'route', '--name', 'default', '-x', '0')).to.include({ code: 0 });
    expect(await routes()).to.have.length(1);
  });

  it('writes nothing in a dry run', async () => {
    const { metadata } = await object('virtualservice', 'default');
    const printed = await ctl('add', 'route', '-p', '/dry', '-u', 'cart', '--dry-run');
    expect(printed.stdout).to.contain('prefix: /dry');
    expect((await object('virtualservice', 'default')).metadata.resourceVersion).to.equal(metadata.resourceVersion);
  });

  it('keeps labels, annotations and owners of a changed resource', async () => {
    await api.kubectl(['label', '-n', NAMESPACE, 'upstream', 'cart', 'team=shop']);
    await api.kubectl(['annotate', '-n', NAMESPACE, 'upstream', 'cart', 'example.com/note=kept']);
    const edited = await ctl(
      'edit',
      'upstream',
      '--name',
      'cart',
      '--ssl-sni',
      'cart.example',
      '--ssl-secret-name',
      'ca',
    );
    expect(edited.code, edited.stderr).to.equal(0);
    const { metadata, spec } = await object('upstream', 'cart');
    expect(spec.sslConfig).to.deep.include({ sni: 'cart.example' });
    expect(metadata).to.deep.include({ labels: { team: 'shop' }, annotations: { 'example.com/note': 'kept' } });
  });

  it('shows resources with the status of the control plane', async () => {
    const status = { statuses: { [NAMESPACE]: { state: 'Rejected', reason: 'no hosts', reportedBy: 'gw' } } };
    const patch = JSON.stringify({ status });
    await api.kubectl([
      'patch',
      '-n',
      NAMESPACE,
      'upstream',
      'one',
      '--subresource=status',
      '--type=merge',
      '-p',
      patch,
    ]);
    const shown = await ctl('get', 'upstreams');
    expect(shown.stdout).to.match(/\| one +\| Static +\| Rejected/);
    expect(shown.stdout).to.match(/\| first +\| Static +\| Pending/);
    expect((await ctl('get', 'upstream', 'one', '-o', 'yaml')).stdout).to.not.contain('managedFields');
  });

  it('names a namespace that the cluster does not have', async () => {
    const { code, stderr } = await ctl('get', 'upstreams', '-n', 'nowhere');
    expect(code).to.equal(1);
    expect(stderr).to.contain('the cluster has no namespace nowhere; name that of the gateway with -n');
  });

  it('deletes a resource, but not one that a route refers to', async () => {
    for (const name of ['used', 'unused'])
      await ctl('create', 'upstream', 'static', name, '--static-hosts', 'used.example:80');
    await ctl('add', 'route', '-p', '/used', '-u', 'used');
    const refused = await ctl('delete', 'upstream', 'used');
    expect(refused.code).to.equal(1);
    expect(refused.stderr).to.contain('the change was not written');
    expect(await object('upstream', 'used')).to.have.property('spec');
    expect(await ctl('delete', 'upstream', 'unused')).to.include({ code: 0, stdout: 'upstream unused deleted' });
    expect((await object('upstreams')).items.map((each: any) => each.metadata.name)).to.not.include('unused');
  });

  it('reports what the API server rejects, with the field', async () => {
    await api.kubectl(['create', 'namespace', 'broken']);
    const file = join(directory, 'long.yaml');
    writeFileSync(
      file,
      `apiVersion: gw.vendor.io/v1\nkind: Upstream\nmetadata: { name: x, namespace: missing-namespace }\nspec: { static: { hosts: [{ addr: a.example, port: 80 }] } }\n`,
    );
    const { code, stderr } = await ctl('create', '-f', file);
    expect(code).to.equal(1);
    expect(stderr).to.contain('the cluster rejects it').and.to.contain('missing-namespace');
  });

  it('reports missing permissions', async () => {
    const { code, stderr } = await call([
      'get',
      'upstreams',
      '--kubeconfig',
      api.kubeconfig,
      '--kube-context',
      'gateway',
    ]);
    expect(code).to.equal(1);
    expect(stderr).to.contain('forbidden').and.to.contain('gateway');
  });

  it('rejects a directory together with a cluster', async () => {
    const { code, stderr } = await ctl('delete', 'upstream', 'one', '--config', directory);
    expect(code).to.equal(2);
    expect(stderr).to.contain('use one of them');
  });
});
