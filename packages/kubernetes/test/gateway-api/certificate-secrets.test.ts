import { generateKeyPairSync } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { makeCertificates, type Certificates } from '../../../../test/parts/certificates.ts';
import { certificateState } from '../../src/gateway-api/certificate-secrets.ts';

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
    expect(stateOf({})).to.deep.equal({ data });
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
