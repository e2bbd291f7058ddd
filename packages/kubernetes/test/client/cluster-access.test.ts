import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { createClusterClient, findClusterAccess } from '@edge-gateway/kubernetes';
import { expect } from 'chai';
import { kubeconfigOf } from '../scripted-api.ts';

describe('the access to a cluster', () => {
  let home: string;
  let serviceAccount: string;
  const own = (): string => join(home, '.kube', 'config');
  const inPod = { KUBERNETES_SERVICE_HOST: '10.96.0.1', KUBERNETES_SERVICE_PORT: '6443' };

  beforeEach(() => {
    home = mkdtempSync(join(tmpdir(), 'access-'));
    mkdirSync(join(home, '.kube'));
    writeFileSync(own(), kubeconfigOf('http://127.0.0.1:1', 'a'));
    serviceAccount = join(home, 'serviceaccount');
    mkdirSync(serviceAccount);
    writeFileSync(join(serviceAccount, 'token'), 'pod-token\n');
    writeFileSync(join(serviceAccount, 'ca.crt'), '');
    writeFileSync(join(serviceAccount, 'namespace'), 'gw-system\n');
  });
  afterEach(() => rmSync(home, { recursive: true }));

  it('prefers the given kubeconfig', () => {
    const found = findClusterAccess({ kubeconfig: '/given', env: { ...inPod, HOME: home }, serviceAccount });
    expect(found).to.deep.equal({ kubeconfig: ['/given'] });
  });

  it('is the service account of a pod by default', () => {
    const found = findClusterAccess({ env: { ...inPod, HOME: home, KUBECONFIG: own() }, serviceAccount });
    expect(found).to.deep.equal({ serviceAccount, host: '10.96.0.1', port: '6443' });
  });

  it('is a context of the own files in a pod too, if one is named', () => {
    const found = findClusterAccess({ context: 'dev', env: { ...inPod, HOME: home }, serviceAccount });
    expect(found).to.deep.equal({ kubeconfig: [own()], context: 'dev' });
  });

  it('takes the files of KUBECONFIG that exist', () => {
    const env = { HOME: home, KUBECONFIG: [join(home, 'missing'), own()].join(delimiter) };
    expect(findClusterAccess({ env })).to.deep.equal({ kubeconfig: [own()] });
  });

  it('is rejected if there is none', () => {
    const none = join(home, 'none');
    expect(() => findClusterAccess({ env: { HOME: none }, serviceAccount: none })).to.throw('no cluster: ');
  });

  it('names the known contexts if a context is unknown', async () => {
    const created = createClusterClient({ kubeconfig: [own()], context: 'prod' });
    const error = await created.catch((caught: unknown) => caught as Error & { code: string });
    expect(error).to.include({ code: 'ERR_KUBERNETES_ACCESS' });
    expect((error as Error).message).to.equal('unknown context "prod": known contexts are scripted');
  });

  it('rejects a server in plain text, unless the kubeconfig allows it', async () => {
    const reasonOf = async (server: string, isAllowed: boolean): Promise<string> => {
      const text = kubeconfigOf(server, 'a');
      const allowed = /"?insecure-skip-tls-verify"?: *true,?/;
      expect(text).to.match(allowed);
      writeFileSync(own(), isAllowed ? text : text.replace(allowed, ''));
      return createClusterClient({ kubeconfig: [own()] }).then(
        async (client) => (await client.close(), ''),
        (error: Error) => error.message,
      );
    };
    expect(await reasonOf('http://user:secret@127.0.0.1:1', false)).to.match(
      /^unusable kubeconfig: the server of cluster "\w+", http:\/\/127\.0\.0\.1:1, would receive the credentials in plain text: use https:/,
    );
    expect(await reasonOf('http://127.0.0.1:1', true)).to.equal('');
    expect(await reasonOf('https://127.0.0.1:1', false)).to.equal('');
    for (const server of ['127.0.0.1:6443', 'ftp://127.0.0.1'])
      expect(await reasonOf(server, true), server).to.match(/ must be a URL that begins with https:\/\/$/);
  });

  it('names a kubeconfig that cannot be read', async () => {
    const error = await createClusterClient({ kubeconfig: [join(home, 'missing')] }).catch((caught: unknown) => caught);
    expect((error as Error).message).to.match(/^unusable kubeconfig: ENOENT.*missing/);
  });

  it('reads the namespace of the pod', async () => {
    const client = await createClusterClient({ serviceAccount, host: '10.96.0.1', port: '443' });
    expect(client.namespace).to.equal('gw-system');
    await client.close();
  });
});
