import { generateKeyPairSync } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { makeCertificates, type Certificates } from '../../../../test/parts/certificates.ts';
import { silentLoggers } from '@edge-gateway/core';
import { until } from '../../../../test/parts/until.ts';
import { certificateState, createCertificateSecrets } from '../../src/gateway-api/certificate-secrets.ts';
import { listOf, startScriptedApi } from '../scripted-api.ts';

const base64 = (text: string | Buffer): string => Buffer.from(text).toString('base64');

describe('the Secret of a listener', () => {
  let files: Certificates;
  let data: Record<string, string>;

  before(() => {
    files = makeCertificates();
    data = { 'tls.crt': base64(readFileSync(files.cert)), 'tls.key': base64(readFileSync(files.key)) };
  });
  after(() => files.remove());

  const stateOf = (more: Record<string, string>, type = 'kubernetes.io/tls') =>
    certificateState({ metadata: { name: 'cert', namespace: 'apps' }, type, data: { ...data, ...more } });

  it('is usable with a certificate and its key', () => {
    expect(stateOf({})).to.deep.equal({ type: 'kubernetes.io/tls', data });
  });

  it('is not usable with the key of another certificate', () => {
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const other = base64(privateKey.export({ type: 'pkcs8', format: 'pem' }));
    expect(stateOf({ 'tls.key': other })).to.deep.equal({
      problem: 'the key in Secret apps/cert does not belong to its certificate',
    });
  });

  it('is not usable without a valid certificate and key', () => {
    const invalid = { problem: 'Secret apps/cert does not contain a valid certificate and key' };
    expect(stateOf({ 'tls.crt': base64('no certificate') })).to.deep.equal(invalid);
    expect(stateOf({ 'tls.key': base64('no key') })).to.deep.equal(invalid);
    expect(stateOf({ 'tls.key': '' })).to.deep.equal({ problem: 'Secret apps/cert has no tls.crt or no tls.key' });
    expect(stateOf({}, 'Opaque')).to.deep.equal({ problem: 'Secret apps/cert is not of type kubernetes.io/tls' });
  });
});

describe('the Secrets of listeners', () => {
  const secret = (resourceVersion: string) => ({
    metadata: { name: 'cert', namespace: 'apps', resourceVersion },
    type: 'Opaque',
  });
  const ref = { name: 'cert', namespace: 'apps' };
  const gone = { problem: 'Secret apps/cert not found' };

  it('are forgotten when they are deleted, and when no listener refers to them', async () => {
    const api = await startScriptedApi();
    api.onList = listOf(1, [secret('1')]);
    const log = silentLoggers.get('config');
    const secrets = createCertificateSecrets({ client: api.client, log, timing: undefined, onChange: () => {} });
    const problem = () => (secrets.get(ref) as { problem: string }).problem;
    await secrets.follow(new Set(['apps/cert']));
    expect(problem()).to.contain('is not of type');
    await until(() => api.watches.length === 1);
    api.event('DELETED', secret('2'));
    await until(() => problem() === gone.problem);
    api.event('ADDED', secret('3'));
    await until(() => problem() !== gone.problem);
    await secrets.follow(new Set());
    expect(secrets.get(ref)).to.deep.equal(gone);
    await secrets.close();
    await api.close();
  });
});
