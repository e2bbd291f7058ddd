import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { readServerTls } from '../../src/roles/server-tls.ts';

const file = (name: string): string =>
  fileURLToPath(new URL(`../../../../packages/routing/test/upstream/certificates/${name}`, import.meta.url));

describe('the certificate of a server', () => {
  const dir = mkdtempSync(join(tmpdir(), 'server-tls-'));
  const garbage = join(dir, 'garbage.pem');
  before(() => writeFileSync(garbage, 'not a certificate'));
  after(() => rmSync(dir, { recursive: true }));

  const [tlsCert, tlsKey, tlsClientCa] = [file('server.crt'), file('server.key'), file('ca.crt')];

  it('is not needed', () => {
    expect(readServerTls({})).to.equal(undefined);
  });

  it('is read from its files', () => {
    expect(readServerTls({ tlsCert, tlsKey, tlsClientCa })).to.deep.equal({
      certificate: readFileSync(tlsCert, 'utf8'),
      key: readFileSync(tlsKey, 'utf8'),
      clientCa: readFileSync(tlsClientCa, 'utf8'),
    });
  });

  for (const [what, flags, message] of [
    ['a certificate without a key', { tlsCert }, '--tls-cert and --tls-key must be set together'],
    ['a key without a certificate', { tlsKey }, '--tls-cert and --tls-key must be set together'],
    ['roots alone', { tlsClientCa }, '--tls-client-ca needs --tls-cert and --tls-key'],
    ['a missing file', { tlsCert: '/missing.pem', tlsKey }, '--tls-cert /missing.pem: cannot be read: ENOENT'],
    [
      'roots without a certificate',
      { tlsCert, tlsKey, tlsClientCa: garbage },
      'garbage.pem: must contain certificates, as PEM',
    ],
    ['garbage', { tlsCert: garbage, tlsKey: garbage }, 'must be a certificate and its private key'],
    [
      'the key of another certificate',
      { tlsCert, tlsKey: file('client.key') },
      'must be a certificate and its private key',
    ],
  ] as const) {
    it(`is rejected: ${what}`, () => {
      expect(() => readServerTls(flags))
        .to.throw(message)
        .that.includes({ code: 'ERR_GATEWAY_TLS' });
    });
  }
});
