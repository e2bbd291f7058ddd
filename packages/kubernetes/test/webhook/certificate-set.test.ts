import { X509Certificate } from 'node:crypto';
import { certificateBlocks } from '@edge-gateway/core';
import { expect } from 'chai';
import { certificateSetIn, secretData } from '../../src/webhook/certificate-secret.ts';
import {
  isServable,
  renewalDelay,
  renewed,
  type CertificateSet,
  type RenewalState,
} from '../../src/webhook/certificate-set.ts';

const timing = { validMs: 100_000, renewBeforeMs: 40_000, overlapMs: 5_000, backdateMs: 10_000 };
const START = Date.parse('2026-05-01T00:00:00Z');
const names = ['gw.gw-system.svc'];
const at = (seconds: number, trustedMs = 0): RenewalState => ({
  now: START + seconds * 1000,
  names,
  trustedMs,
  timing,
});
const issuers = (set: CertificateSet): string[] =>
  certificateBlocks(set.roots).map((block) => new X509Certificate(block).subject);
const issuerOf = (certificate: string): string => new X509Certificate(certificate).issuer;

describe('renewed', () => {
  it('makes a set if there is none, and keeps it until it is due', () => {
    const first = renewed(undefined, at(0));
    expect(issuers(first)).to.deep.equal([issuerOf(first.certificate)]);
    expect(first.next).to.equal(undefined);
    expect(Date.parse(new X509Certificate(first.certificate).validFrom)).to.equal(START - 10_000);
    expect(renewed(first, at(59))).to.equal(first);
    expect(renewalDelay(first, at(50))).to.equal(10_000);
  });

  it('lets both authorities be trusted before it uses the next certificate, and the old one until it expires', () => {
    const first = renewed(undefined, at(0));
    const second = renewed(first, at(61));
    expect(second.certificate).to.equal(first.certificate);
    expect(second.next).to.not.equal(undefined);
    expect(issuers(second)).to.deep.equal([issuerOf(first.certificate), issuerOf(second.next!.certificate)]);
    expect(renewed(second, at(62, 4_999))).to.equal(second);
    expect(renewalDelay(second, at(62, 2_000))).to.equal(3_000);
    const third = renewed(second, at(62, 5_000));
    expect(third.next).to.equal(undefined);
    expect([third.certificate, third.key]).to.deep.equal([second.next!.certificate, second.next!.key]);
    expect(third.roots).to.equal(second.roots);
    expect(renewed(third, at(99))).to.equal(third);
    const fourth = renewed(third, at(125));
    expect(issuers(fourth)).to.deep.equal([issuerOf(third.certificate), issuerOf(fourth.next!.certificate)]);
  });

  for (const [what, broken] of [
    ['has expired', (set: CertificateSet) => [set, at(101)]],
    ['has another name', (set: CertificateSet) => [set, { ...at(1), names: ['other.gw-system.svc'] }]],
    ['lacks one of the names', (set: CertificateSet) => [set, { ...at(1), names: [...names, '10.0.0.1'] }]],
    ['has the key of another', (set: CertificateSet) => [{ ...set, key: renewed(undefined, at(0)).key }, at(1)]],
    ['has no authority', (set: CertificateSet) => [{ ...set, roots: renewed(undefined, at(0)).roots }, at(1)]],
    ['is no certificate', (set: CertificateSet) => [{ ...set, certificate: 'x' }, at(1)]],
  ] as const) {
    it(`makes a new set if the certificate ${what}`, () => {
      const first = renewed(undefined, at(0));
      const [set, state] = broken(first) as unknown as [CertificateSet, RenewalState];
      const second = renewed(set, state);
      expect(second.certificate).to.not.equal(first.certificate);
      expect(issuers(second)).to.include(issuerOf(second.certificate));
      expect(renewed(second, state)).to.equal(second);
    });
  }

  it('replaces a next certificate that is unusable, and drops one that is not due', () => {
    const first = renewed(undefined, at(0));
    const broken = { ...first, next: { certificate: 'x', key: 'y' } };
    expect(renewed(broken, at(1, 60_000))).to.deep.equal(first);
    const due = renewed(broken, at(61, 60_000));
    expect(due.certificate).to.equal(first.certificate);
    expect(issuerOf(due.next!.certificate)).to.equal(issuers(due)[1]);
  });
});

describe('the Secret of the certificates', () => {
  it('contains the whole set', () => {
    const set = renewed(renewed(undefined, at(0)), at(61));
    expect(certificateSetIn(secretData(set))).to.deep.equal(set);
    expect(Object.keys(secretData(set))).to.include.members(['tls.crt', 'tls.key', 'ca.crt']);
  });

  for (const data of [undefined, null, {}, { 'tls.crt': 'eA==' }, { 'tls.crt': 1, 'tls.key': [], 'ca.crt': {} }]) {
    it(`is not usable with the data ${JSON.stringify(data)}`, () => {
      expect(certificateSetIn(data)).to.equal(undefined);
    });
  }
});

describe('isServable', () => {
  const [one, other] = [renewed(undefined, at(0)), renewed(undefined, at(0))];
  for (const [what, pair, expected] of [
    ['a certificate with its key', one, true],
    ['the key of another certificate', { ...one, key: other.key }, false],
    ['no certificate', { ...one, certificate: 'damaged' }, false],
    ['no key', { ...one, key: '' }, false],
  ] as const)
    it(`is ${expected} for ${what}`, () => {
      expect(isServable(pair)).to.equal(expected);
    });
});
