import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createServer, type Server } from 'node:net';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { makeCertificates } from '../../../test/parts/certificates.ts';
import { startKubernetes, type KubernetesApi } from '../../../test/parts/kubernetes.ts';
import { GATEWAYCTL } from '../../../test/parts/programs.ts';
import { GatewayProcess, until } from './gateway-process.ts';

const run = promisify(execFile);
const ROOT = join(import.meta.dirname, '..', '..', '..');
const CONFIGURATION = 'gw-gateway-validation-webhook-gw-system';
const GROUPS = ['gateway.vendor.io', 'gw.vendor.io', 'enterprise.gw.vendor.io'];

const upstream = (name: string) => ({
  apiVersion: 'gw.vendor.io/v1',
  kind: 'Upstream',
  metadata: { name, namespace: 'gw-system' },
  spec: { static: { hosts: [{ addr: '127.0.0.1', port: 80 }] } },
});
const service = (name: string, to: string, domain = `${name}.example.com`, namespace = 'gw-system') => ({
  apiVersion: 'gateway.vendor.io/v1',
  kind: 'VirtualService',
  metadata: { name, namespace },
  spec: {
    virtualHost: {
      domains: [domain],
      routes: [
        { matchers: [{ prefix: '/' }], routeAction: { single: { upstream: { name: to, namespace: 'gw-system' } } } },
      ],
    },
  },
});

describe('validation of changes by control plane processes', () => {
  let api: KubernetesApi;
  const processes: GatewayProcess[] = [];
  const servers: Server[] = [];

  before(async function () {
    api = await startKubernetes(this);
    const crds = join(ROOT, 'deploy', 'crds');
    for (const file of readdirSync(crds)) await api.apply(readFileSync(join(crds, file), 'utf8'));
    for (const name of ['gw-system', 'shop', 'other']) await api.kubectl(['create', 'namespace', name]);
    await api.kubectl(['wait', '--for=condition=Established', 'crd', '--all', '--timeout=60s']);
  });
  afterEach(async () => {
    await api.kubectl(['delete', 'validatingwebhookconfiguration', CONFIGURATION, '--ignore-not-found']);
    for (const each of processes.splice(0)) await stop(each);
    for (const server of servers.splice(0)) server.close();
    for (const type of ['virtualservices', 'upstreams.gw.vendor.io'])
      await api.kubectl(['delete', type, '--all', '--all-namespaces']);
  });
  after(() => api?.close());

  const apply = (...objects: object[]): Promise<void> =>
    api.apply(objects.map((one) => JSON.stringify(one)).join('\n---\n'));
  const refusal = (...objects: object[]): Promise<string> =>
    apply(...objects).then(
      () => '',
      (error: Error) => error.message,
    );
  const settings = (validation: object, more: object = {}): Promise<void> =>
    apply({
      apiVersion: 'settings.gw.vendor.io/v1',
      kind: 'Settings',
      metadata: { name: 'default', namespace: 'gw-system' },
      spec: { gateway: { validation }, ...more },
    });
  async function start(): Promise<GatewayProcess> {
    const process = new GatewayProcess();
    processes.push(process);
    const ports = ['xds', 'stats', 'dev-admin', 'http', 'https', 'validation'].flatMap((name) => [
      `--${name}-port`,
      '0',
    ]);
    const names = ['--validation-names', '127.0.0.1,gw.gw-system.svc'];
    await process.startRole(
      'control-plane',
      '--kubernetes',
      '--kubeconfig',
      api.kubeconfig,
      '--no-discovery',
      ...ports,
      ...names,
    );
    return process;
  }
  const configure = (port: number, { failurePolicy = 'Fail', timeoutSeconds = 10 } = {}): Promise<void> =>
    apply({
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingWebhookConfiguration',
      metadata: { name: CONFIGURATION },
      webhooks: [
        {
          name: 'gw.gw-system.svc',
          clientConfig: { url: `https://127.0.0.1:${port}/validation` },
          failurePolicy,
          timeoutSeconds,
          sideEffects: 'None',
          admissionReviewVersions: ['v1'],
          rules: [
            { apiGroups: GROUPS, apiVersions: ['*'], resources: ['*'], operations: ['CREATE', 'UPDATE', 'DELETE'] },
            { apiGroups: [''], apiVersions: ['v1'], resources: ['secrets'], operations: ['DELETE'] },
            { apiGroups: [''], apiVersions: ['v1'], resources: ['namespaces'], operations: ['UPDATE', 'DELETE'] },
          ],
        },
      ],
    });
  /** Gracefully, so that the next control plane need not wait for the lease to expire. */
  async function stop(process: GatewayProcess): Promise<void> {
    if (process.child?.exitCode === null && process.child.kill('SIGTERM')) await process.ended();
    await process.close();
  }
  /** Starts a control plane that the API server trusts and that has read the Settings. */
  async function startValidating(validation: object, more?: object): Promise<GatewayProcess> {
    await settings(validation, more);
    const process = await start();
    await configure(process.ready.validationPort);
    await until(
      async () => !/x509|connection refused/.test(await refusal(upstream('probe'))),
      'the trusted certificate',
    );
    return process;
  }

  it('rejects a bad VirtualService and names its field, before it is stored', async () => {
    await startValidating({ alwaysAccept: false });
    await apply(upstream('a'));
    await until(
      async () => (await refusal(service('bad', 'a', 'two words'))).includes('denied the request'),
      'a rejection',
    );
    const message = await refusal(service('bad', 'a', 'two words'));
    expect(message).to.contain('virtualservices.gateway.vendor.io gw-system/bad: spec.virtualHost.domains[0]');
    expect(await api.kubectl(['get', 'virtualservices', '-A', '-o', 'name'])).to.equal('');
    await apply(service('good', 'a'));
    expect(await refusal(service('twin', 'a', 'good.example.com'))).to.contain('gw-system/good');
  });

  it('rejects the deletion of an Upstream in use, and allows it afterwards', async () => {
    await startValidating({ alwaysAccept: false, allowWarnings: false });
    await apply(upstream('used'));
    await until(async () => (await refusal(service('web', 'used'))) === '', 'the upstream');
    const remove = ['delete', 'upstreams.gw.vendor.io', '-n', 'gw-system', 'used'];
    await until(
      () =>
        api.kubectl([...remove, '--dry-run=server']).then(
          () => false,
          () => true,
        ),
      'the reference',
    );
    const message = await api.kubectl(remove).then(
      () => '',
      (error: Error) => error.message,
    );
    expect(message).to.contain('gw-system/web: spec.virtualHost.routes[0]');
    await api.kubectl(['delete', 'virtualservice', '-n', 'gw-system', 'web']);
    await until(
      () =>
        api.kubectl(remove).then(
          () => true,
          () => false,
        ),
      'the deletion',
    );
  });

  it('rejects the deletion of a namespace with an Upstream in use, and labels with which it is no longer read', async () => {
    await startValidating(
      { alwaysAccept: false, allowWarnings: false },
      { watchNamespaceSelectors: [{ matchLabels: { team: 'a' } }] },
    );
    await api.kubectl(['create', 'namespace', 'leaving']);
    await api.kubectl(['label', 'namespace', 'leaving', 'team=a']);
    const used = { ...upstream('used'), metadata: { name: 'used', namespace: 'leaving' } };
    const web = service('web', 'used');
    web.spec.virtualHost.routes[0]!.routeAction.single.upstream.namespace = 'leaving';
    await until(async () => (await refusal(used)) === '', 'the upstream');
    await until(async () => (await refusal(web)) === '', 'the namespace is read');
    const reasonOf = (...args: string[]): Promise<string> =>
      api.kubectl([...args, '--dry-run=server']).then(
        () => '',
        (error: Error) => error.message,
      );
    const expected = 'gw-system/web: spec.virtualHost.routes[0]';
    await until(async () => (await reasonOf('delete', 'namespace', 'leaving')).includes(expected), 'a rejection');
    expect(await reasonOf('label', 'namespace', 'leaving', 'team=b', '--overwrite')).to.contain(expected);
    expect(await reasonOf('label', 'namespace', 'leaving', 'more=x')).to.equal('');
    await api.kubectl(['delete', 'virtualservice', '-n', 'gw-system', 'web']);
    await until(async () => (await reasonOf('delete', 'namespace', 'leaving')) === '', 'the deletion');
  });

  it('only warns by default, and follows the Settings', async () => {
    await startValidating({ allowWarnings: true });
    const warned = await api.kubectl(
      ['create', '-f', '-', '--dry-run=server', '-o', 'name'],
      JSON.stringify(service('bad', 'a', 'two words')),
    );
    expect(warned).to.contain('virtualservice.gateway.vendor.io/bad');
    await settings({ alwaysAccept: false });
    await until(async () => (await refusal(service('bad', 'a', 'two words'))).includes('denied'), 'the new Settings');
    const remove = JSON.stringify([{ op: 'remove', path: '/spec/gateway/validation' }]);
    await api.kubectl([
      'patch',
      'settings.settings.gw.vendor.io',
      '-n',
      'gw-system',
      'default',
      '--type=json',
      '-p',
      remove,
    ]);
    await until(async () => (await refusal(service('bad', 'a', 'two words'))) === '', 'no validation');
  });

  it('does not validate namespaces that are not read', async () => {
    await startValidating({ alwaysAccept: false }, { watchNamespaces: ['shop'] });
    await until(
      async () => (await refusal(service('bad', 'a', 'two words', 'shop'))).includes('denied'),
      'a rejection',
    );
    expect(await refusal(service('bad', 'a', 'two words', 'other'))).to.equal('');
    expect(await refusal(service('bad', 'a', 'two words', 'shop'))).to.contain('denied the request');
  });

  it('continues with another control plane, whose certificate is the same', async () => {
    const one = await startValidating({ alwaysAccept: false });
    const two = await start();
    const secret = () =>
      api.kubectl(['get', 'secret', '-n', 'gw-system', 'gateway-validation-certs', '-o', 'jsonpath={.data.tls\\.crt}']);
    const before = await secret();
    expect(before).to.not.equal('');
    await configure(two.ready.validationPort);
    await stop(one);
    await until(
      async () => (await refusal(service('bad', 'a', 'two words'))).includes('denied the request'),
      'the other one',
    );
    expect(await secret()).to.equal(before);
  });

  it('never blocks the cluster with Ignore, whether the webhook is down or hangs, and blocks only these resources with Fail', async () => {
    const gone = await startValidating({ alwaysAccept: false });
    const { validationPort } = gone.ready;
    await stop(gone);
    await configure(validationPort, { failurePolicy: 'Ignore' });
    await until(async () => (await refusal(upstream('down'))) === '', 'the policy Ignore');
    await configure(validationPort);
    await until(async () => /failed calling webhook/.test(await refusal(upstream('blocked'))), 'the policy Fail');
    await settings({ alwaysAccept: true });
    await api.kubectl(['create', 'configmap', 'free', '-n', 'gw-system']);
    const silent = createServer().listen(0, '127.0.0.1');
    servers.push(silent);
    await once(silent, 'listening');
    const { port } = silent.address() as { port: number };
    await configure(port, { failurePolicy: 'Ignore', timeoutSeconds: 1 });
    await until(async () => (await refusal(upstream('hangs'))) === '', 'the policy Ignore');
  });

  it('serves a certificate of its own from files, and leaves the trusted authorities to others', async () => {
    const { ca, cert, key, remove } = makeCertificates();
    try {
      await settings({ alwaysAccept: false, validationWebhookTlsCert: cert, validationWebhookTlsKey: key });
      const process = await start();
      await configure(process.ready.validationPort);
      const trust = [
        { op: 'add', path: '/webhooks/0/clientConfig/caBundle', value: readFileSync(ca).toString('base64') },
      ];
      await api.kubectl([
        'patch',
        'validatingwebhookconfiguration',
        CONFIGURATION,
        '--type=json',
        '-p',
        JSON.stringify(trust),
      ]);
      const wrong = service('bad', 'a', 'two words');
      await until(async () => (await refusal(wrong)).includes('denied the request'), 'a rejection');
    } finally {
      remove();
    }
  });

  it('shows what proxies serve as objects of the cluster, with their status', async () => {
    await settings({ allowWarnings: true }, { gateway: { persistProxySpec: true } });
    await apply(upstream('a'), service('web', 'a'));
    await start();
    const printed = () => api.kubectl(['get', 'proxies', '-n', 'gw-system']);
    await until(async () => /gateway-proxy\s+Accepted/.test(await printed()), 'the Proxy with its status');
    const { stdout } = await run(process.execPath, [...GATEWAYCTL, 'get', 'proxies', '--kubeconfig', api.kubeconfig]);
    expect(stdout).to.match(/gateway-proxy\s*\|\s*gw-system\s*\|\s*gw-gateway\s*\|.*\|\s*1\s*\|\s*Accepted/);
    await settings({ allowWarnings: true }, { gateway: { persistProxySpec: false } });
    await until(async () => !(await printed()).includes('gateway-proxy'), 'the deletion');
  });

  it('rejects flags and ports that it cannot use', async () => {
    const process = new GatewayProcess();
    processes.push(process);
    const error = await process.startRole('control-plane', '--validation-port', '0').then(
      () => expect.fail('started'),
      (cause: Error) => cause,
    );
    expect(error.message).to.contain('--validation-port requires --kubernetes, not --config');
  });
});
