import { createPrivateKey, X509Certificate } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { generate } from 'selfsigned';
import { parseAllDocuments } from 'yaml';
import { ensureSecrets } from '../src/index.ts';

const DAY_MS = 24 * 3600 * 1000;

describe('the generated secrets', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'demo-secrets-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const decoded = (text: string): Buffer => Buffer.from(text, 'base64');

  it('are a certificate for the served names with its key, and a client secret, readable only by the owner', async () => {
    const { file, clientSecret } = await ensureSecrets(join(folder, 'generated'));
    const [tls, oauth] = parseAllDocuments(readFileSync(file, 'utf8')).map((each) => each.toJS() as any);
    const certificate = new X509Certificate(decoded(tls.data['tls.crt']));
    for (const name of ['localhost', 'echo.localhost']) expect(certificate.checkHost(name)).to.equal(name);
    for (const ip of ['127.0.0.1', '::1']) expect(certificate.checkIP(ip)).to.equal(ip);
    expect(certificate.checkPrivateKey(createPrivateKey(decoded(tls.data['tls.key'])))).to.equal(true);
    expect(certificate.ca).to.equal(false);
    expect(oauth.type).to.equal('extauth.vendor.io/oauth');
    expect(String(decoded(oauth.data['client-secret'])))
      .to.equal(clientSecret)
      .and.to.have.length(32);
    expect(statSync(file).mode & 0o777).to.equal(0o600);
  });

  it('are reused at the next start', async () => {
    const first = await ensureSecrets(folder);
    expect(await ensureSecrets(folder)).to.deep.equal(first);
  });

  it('are generated again before the gateway warns about the certificate, and when the file is damaged', async () => {
    const first = await ensureSecrets(folder);
    const later = await ensureSecrets(folder, Date.now() + 70 * DAY_MS);
    expect(later.clientSecret).to.not.equal(first.clientSecret);
    writeFileSync(later.file, 'kind: Secret\n');
    expect((await ensureSecrets(folder)).clientSecret).to.not.equal(later.clientSecret);
  });

  it('are generated again if the certificate lacks a name that is served', async () => {
    const { file, clientSecret } = await ensureSecrets(folder);
    const options = { keyType: 'ec' as const, notAfterDate: new Date(Date.now() + 90 * DAY_MS) };
    const { cert } = await generate([{ name: 'commonName', value: 'localhost' }], options);
    const crt = Buffer.from(cert).toString('base64');
    writeFileSync(file, readFileSync(file, 'utf8').replace(/tls\.crt: \S+/, `tls.crt: ${crt}`));
    expect((await ensureSecrets(folder)).clientSecret).to.not.equal(clientSecret);
  });

  it('are the same for demos that start at the same time', async () => {
    const all = await Promise.all(Array.from({ length: 3 }, () => ensureSecrets(folder)));
    expect(new Set(all.map(({ clientSecret }) => clientSecret)).size).to.equal(1);
    expect(readdirSync(folder)).to.have.length(1);
    expect(await ensureSecrets(folder)).to.deep.equal(all[0]);
  });
});
