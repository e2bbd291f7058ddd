import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import {
  alternativeNames,
  certificateBlocks,
  distinguishedName,
  parseCertificates,
  principalOf,
} from '../../src/security/certificates.ts';

const PEM = readFileSync(
  new URL('../../../routing/test/upstream/certificates/server.crt', import.meta.url),
  'utf8',
).trim();
const KEY = '-----BEGIN PRIVATE KEY-----\nMIGH\n-----END PRIVATE KEY-----';

describe('certificateBlocks', () => {
  it('returns the certificates without keys beside them', () => {
    expect(certificateBlocks(`${KEY}\n${PEM}\n${KEY}\n${PEM}`)).to.deep.equal([PEM, PEM]);
    expect(certificateBlocks(KEY)).to.deep.equal([]);
  });
});

describe('parseCertificates', () => {
  it('parses every certificate', () => {
    expect(parseCertificates(`${PEM}\n${PEM}`)).to.have.length(2);
  });

  it('returns nothing for a text without certificates, or with an invalid one', () => {
    const broken = '-----BEGIN CERTIFICATE-----\nMIGH\n-----END CERTIFICATE-----';
    const empty = '-----BEGIN CERTIFICATE----------END CERTIFICATE-----';
    for (const pem of ['', KEY, broken, empty, `${PEM}\n${broken}`]) expect(parseCertificates(pem)).to.equal(undefined);
  });
});

describe('alternativeNames', () => {
  it('reads names of every kind', () => {
    expect(alternativeNames('DNS:a.b, URI:spiffe://x/y, IP Address:127.0.0.1')).to.deep.equal([
      { kind: 'DNS', name: 'a.b' },
      { kind: 'URI', name: 'spiffe://x/y' },
      { kind: 'IP Address', name: '127.0.0.1' },
    ]);
  });

  it('parses a quoted name as one name, whatever it contains', () => {
    expect(alternativeNames('DNS:"a, DNS:evil", DNS:c').map(({ name }) => name)).to.deep.equal(['a, DNS:evil', 'c']);
    expect(alternativeNames('')).to.deep.equal([]);
    expect(alternativeNames()).to.deep.equal([]);
  });
});

describe('distinguishedName', () => {
  it('returns the most specific part first', () => {
    expect(distinguishedName('C=US\nO=Pets\nCN=alice')).to.equal('CN=alice,O=Pets,C=US');
    expect(distinguishedName(undefined)).to.equal('');
  });
});

describe('principalOf', () => {
  const certificate = (subjectAltName: string | undefined) =>
    ({ subject: 'O=Pets\nCN=alice', subjectAltName }) as Parameters<typeof principalOf>[0];

  it('returns the first URI, else the first DNS name, else the subject', () => {
    expect(principalOf(certificate('DNS:a.b, URI:spiffe://x/y, URI:spiffe://z'))).to.equal('spiffe://x/y');
    expect(principalOf(certificate('IP Address:127.0.0.1, DNS:a.b, DNS:c.d'))).to.equal('a.b');
    expect(principalOf(certificate(undefined))).to.equal('CN=alice,O=Pets');
  });
});
