import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:tls';
import { createMetrics, silentLoggers, type ListeningServer } from '@edge-gateway/core';
import {
  createClusterClient,
  createWebhookCertificates,
  issueCertificate,
  startAdmissionServer,
  type ClusterClient,
  type WebhookCertificates,
} from '@edge-gateway/kubernetes';
import { expect } from 'chai';
import { until } from '../../../../test/parts/until.ts';
import { startKubernetes, type KubernetesApi } from '../../../../test/parts/kubernetes.ts';
import { applyAnyCrds } from '../any-crds.ts';
import { startTestCluster, upstream, type TestCluster } from './validated-cluster.ts';

const log = silentLoggers.get('config');
const CONFIGURATION = 'test-webhook';
const SECRET = 'webhook-certs';
const BUNDLE = '{.webhooks[0].clientConfig.caBundle}';

/** A control plane as far as the webhook needs it. */
interface Replica {
  leads: boolean;
  readonly server: ListeningServer;
  readonly certificates: WebhookCertificates;
  readonly served: string[];
  close(): Promise<void>;
}

describe('the certificates of the webhook', () => {
  let api: KubernetesApi;
  let client: ClusterClient;
  let cluster: TestCluster;
  const replicas: Replica[] = [];

  before(async function () {
    api = await startKubernetes(this);
    client = await createClusterClient({ kubeconfig: [api.kubeconfig] });
    await applyAnyCrds(api);
    cluster = await startTestCluster();
  });
  after(async () => {
    await cluster?.controlPlane.close();
    await client?.close();
    await api?.close();
  });
  afterEach(async () => {
    await api.kubectl(['delete', 'validatingwebhookconfiguration', CONFIGURATION, '--ignore-not-found']);
    await Promise.all(replicas.splice(0).map((each) => each.close()));
    await api.kubectl(['delete', 'secret', '-n', 'gw-system', SECRET, '--ignore-not-found']);
    await api.kubectl(['delete', 'upstreams.gw.vendor.io', '-n', 'gw-system', '--all']);
  });

  async function start(leads: boolean, timing: object = {}): Promise<Replica> {
    const names = ['127.0.0.1'];
    const tls = issueCertificate(names, { from: new Date(), to: new Date(Date.now() + 60_000) });
    const target = {
      settings: () => ({ alwaysAccept: false }),
      isWatched: () => true,
      preview: cluster.controlPlane.preview,
    };
    const server = await startAdmissionServer({
      target,
      log,
      metrics: createMetrics(),
      address: '127.0.0.1',
      port: 0,
      tls,
    });
    const served: string[] = [];
    const replica: Replica = {
      leads,
      server,
      served,
      certificates: createWebhookCertificates({
        client,
        namespace: 'gw-system',
        secret: SECRET,
        configuration: CONFIGURATION,
        names,
        log,
        isLeader: () => replica.leads,
        onCertificate(next) {
          served.push(next.certificate);
          server.replaceTls(next);
        },
        timing,
      }),
      async close() {
        await replica.certificates.close();
        server.close();
      },
    };
    replica.certificates.start();
    replicas.push(replica);
    return replica;
  }

  async function configure(port: number, failurePolicy: 'Fail' | 'Ignore' = 'Fail'): Promise<void> {
    await api.apply(
      JSON.stringify({
        apiVersion: 'admissionregistration.k8s.io/v1',
        kind: 'ValidatingWebhookConfiguration',
        metadata: { name: CONFIGURATION },
        webhooks: [
          {
            name: 'gw.gw-system.svc',
            clientConfig: { url: `https://127.0.0.1:${port}/validation` },
            failurePolicy,
            sideEffects: 'None',
            admissionReviewVersions: ['v1'],
            timeoutSeconds: 5,
            rules: [
              {
                apiGroups: ['gw.vendor.io'],
                apiVersions: ['*'],
                resources: ['upstreams'],
                operations: ['CREATE', 'UPDATE', 'DELETE'],
              },
            ],
          },
        ],
      }),
    );
  }
  const bundle = (): Promise<string> =>
    api.kubectl(['get', 'validatingwebhookconfiguration', CONFIGURATION, '-o', `jsonpath=${BUNDLE}`]);
  async function trustedRoots(): Promise<string> {
    const path = `/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/${CONFIGURATION}`;
    const { webhooks } = await client.send<{ webhooks: { clientConfig: { caBundle: string } }[] }>({ path });
    return Buffer.from(webhooks[0]!.clientConfig.caBundle, 'base64').toString();
  }
  const create = (name: string, spec?: object): Promise<unknown> =>
    client.send({
      method: 'POST',
      path: '/apis/gw.vendor.io/v1/namespaces/gw-system/upstreams',
      body: upstream(name, spec),
    });
  const isAccepted = (name: string): Promise<boolean> =>
    create(name).then(
      () => true,
      () => false,
    );

  it('are made by the leader, shared by all, and trusted by the API server', async () => {
    const [follower, leader] = [await start(false), await start(true)];
    await configure(leader.server.port);
    await until(() => follower.served.length === 1 && leader.served.length === 1);
    expect(follower.served).to.deep.equal(leader.served);
    await until(() => isAccepted('a'));
    const { message } = await create('b', { unheardOf: true }).then(
      () => expect.fail('accepted'),
      (error: Error) => error,
    );
    expect(message).to.contain('admission webhook "gw.gw-system.svc" denied the request').and.contain('spec.unheardOf');
    const managers = await api.kubectl([
      'get',
      'validatingwebhookconfiguration',
      CONFIGURATION,
      '-o',
      'yaml',
      '--show-managed-fields',
    ]);
    expect(managers).to.contain('manager: edge-gateway-gw-system');
    expect(await api.kubectl(['get', 'secret', '-n', 'gw-system', SECRET, '-o', 'jsonpath={.type}'])).to.equal(
      'kubernetes.io/tls',
    );
  });

  it('are written into an existing Secret, which keeps what others wrote', async () => {
    await api.apply(
      JSON.stringify({
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name: SECRET, namespace: 'gw-system', labels: { chart: 'x' } },
        type: 'Opaque',
      }),
    );
    const leader = await start(true);
    await configure(leader.server.port);
    await until(() => isAccepted('a'));
    const { metadata, type, data } = JSON.parse(
      await api.kubectl(['get', 'secret', '-n', 'gw-system', SECRET, '-o', 'json']),
    );
    expect([metadata.labels, type]).to.deep.equal([{ chart: 'x' }, 'Opaque']);
    expect(Object.keys(data)).to.have.members(['ca.crt', 'tls.crt', 'tls.key']);
  });

  it('are made only once if several processes believe that they lead', async () => {
    const all = await Promise.all([1, 2, 3].map(() => start(true)));
    await configure(all[0]!.server.port);
    await until(() => isAccepted('a'));
    await until(() => all.every(({ served }) => served.at(-1) === all[0]!.served.at(-1)));
  });

  it('are trusted again after somebody replaced the bundle, and made again after somebody deleted the Secret', async () => {
    const leader = await start(true);
    await configure(leader.server.port);
    await until(() => isAccepted('a'));
    const before = await bundle();
    await api.kubectl([
      'patch',
      'validatingwebhookconfiguration',
      CONFIGURATION,
      '--type=json',
      '-p',
      JSON.stringify([{ op: 'remove', path: '/webhooks/0/clientConfig/caBundle' }]),
    ]);
    await until(async () => (await bundle()) === before);
    await api.kubectl(['delete', 'secret', '-n', 'gw-system', SECRET]);
    await until(() => leader.served.length === 2);
    await until(() => isAccepted('b'));
  });

  it('are renewed while objects are created, without a rejected request', async () => {
    const timing = { validMs: 60_000, renewBeforeMs: 58_000, overlapMs: 1_500 };
    const [follower, leader] = [await start(false, timing), await start(true, timing)];
    await configure(follower.server.port);
    await until(() => isAccepted('first'));
    const errors: string[] = [];
    let created = 0;
    // Three renewals: the certificate that is served changes three times.
    while (follower.served.length < 4) {
      await create(`u-${created++}`).catch((error: Error) => errors.push(error.message));
      // The API server keeps its connections: new ones are made here, with the authorities that it trusts at the moment.
      const ca = await trustedRoots();
      for (const { server } of [follower, leader])
        await handshake(server.port, ca).catch((error: Error) => errors.push(error.message));
    }
    expect(errors).to.deep.equal([]);
    expect(created).to.be.above(20);
    console.log(`      ${created} objects created over ${follower.served.length - 1} renewals`);
    const issuers = new Set(leader.served.map((each) => new X509Certificate(each).issuer));
    expect(issuers.size).to.be.at.least(4);
  });

  it('are renewed by the next leader', async () => {
    const timing = { validMs: 60_000, renewBeforeMs: 58_000, overlapMs: 500 };
    const [one, two] = [await start(true, timing), await start(false, timing)];
    await configure(two.server.port);
    await until(() => isAccepted('a'));
    one.leads = false;
    await one.certificates.close();
    const { length } = two.served;
    two.leads = true;
    two.certificates.resume();
    await until(() => two.served.length >= length + 2);
    expect(await isAccepted('b')).to.equal(true);
  });

  it('do not matter to the cluster while the webhook is down and may be ignored', async () => {
    const leader = await start(true);
    await configure(leader.server.port, 'Ignore');
    await until(async () => (await bundle()) !== '');
    await until(() =>
      create('wrong', { unheardOf: true }).then(
        () => api.kubectl(['delete', 'upstreams.gw.vendor.io', '-n', 'gw-system', 'wrong']).then(() => false),
        () => true,
      ),
    );
    leader.server.close();
    expect(await isAccepted('a')).to.equal(true);
    await api.kubectl([
      'patch',
      'validatingwebhookconfiguration',
      CONFIGURATION,
      '--type=json',
      '-p',
      JSON.stringify([{ op: 'replace', path: '/webhooks/0/failurePolicy', value: 'Fail' }]),
    ]);
    await until(async () => !(await isAccepted(`b-${Math.random().toString(36).slice(2)}`)));
  });
});

async function handshake(port: number, ca: string): Promise<void> {
  const socket = connect({ host: '127.0.0.1', port, ca });
  try {
    await once(socket, 'secureConnect');
  } finally {
    socket.destroy();
  }
}
