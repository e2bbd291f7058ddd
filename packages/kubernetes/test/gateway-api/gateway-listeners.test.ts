import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { makeCertificates, type Certificates } from '../../../../test/parts/certificates.ts';
import { checkListeners, type CheckedListener } from '../../src/gateway-api/gateway-listeners.ts';
import type { CertificateState, GatewayApiInput, ListenerSpec } from '../../src/gateway-api/gateway-objects.ts';

const CERTIFICATES: Readonly<Record<string, CertificateState>> = {
  'apps/one': { type: 'kubernetes.io/tls', data: { 'tls.crt': 'MQ==' } },
  'apps/two': { type: 'kubernetes.io/tls', data: { 'tls.crt': 'Mg==' } },
};
const inputWith = (certificates: typeof CERTIFICATES, now = 0) =>
  ({
    certificate: ({ name, namespace }) =>
      certificates[`${namespace}/${name}`] ?? { problem: `Secret ${name} not found` },
    now,
  }) as GatewayApiInput;
const HTTP = { name: 'http', port: 8080, protocol: 'HTTP' };
const https = (...certificateRefs: object[]) => ({
  name: 'https',
  port: 8443,
  protocol: 'HTTPS',
  tls: { certificateRefs },
});

function checked(...listeners: readonly object[]): readonly CheckedListener[] {
  return checkedWith(inputWith(CERTIFICATES), ...listeners);
}
function checkedWith(input: GatewayApiInput, ...listeners: readonly object[]): readonly CheckedListener[] {
  const spec = { gatewayClassName: 'edge-gateway', listeners: listeners as ListenerSpec[] };
  return checkListeners({ metadata: { name: 'gw', namespace: 'apps', generation: 3 }, spec }, input, []);
}
const reasonsOf = (listener: CheckedListener | undefined) => listener!.conditions.map(({ reason }) => reason);

describe('the listeners of a Gateway', () => {
  it('conflict if only the case of their host names differs', () => {
    const [one, two] = checked({ ...HTTP, hostname: 'A.example' }, { ...HTTP, name: 'two', hostname: 'a.example' });
    for (const each of [one, two]) expect(reasonsOf(each)).to.include('HostnameConflict');
    expect([one!.isServed, two!.isServed]).to.deep.equal([false, false]);
  });

  it('accept no routes with an unsupported protocol', () => {
    const [udp] = checked({ ...HTTP, protocol: 'UDP' });
    expect([udp!.kinds, udp!.isServed, reasonsOf(udp)[0]]).to.deep.equal([[], false, 'UnsupportedProtocol']);
  });

  it('serve no kind of routes that they do not name', () => {
    const of = (kind: object) => checked({ ...HTTP, allowedRoutes: { kinds: [kind] } })[0]!;
    expect(of({ kind: 'GRPCRoute' }).kinds).to.deep.equal(['GRPCRoute']);
    const foreign = of({ group: 'other.example', kind: 'HTTPRoute' });
    expect([foreign.kinds, foreign.isServed, reasonsOf(foreign).at(-1)]).to.deep.equal([
      [],
      false,
      'InvalidRouteKinds',
    ]);
  });

  it('use the first of several certificates, all of which must be usable', () => {
    expect(checked(https({ name: 'one' }, { name: 'two' }))[0]!.certificate!.ref.name).to.equal('one');
    for (const bad of [{ name: 'gone' }, { name: 'two', group: 'other.example' }, { name: 'two', kind: 'ConfigMap' }]) {
      const [listener] = checked(https({ name: 'one' }, bad));
      expect(listener).to.not.have.property('certificate');
      expect([listener!.isServed, reasonsOf(listener).at(-1)]).to.deep.equal([false, 'InvalidCertificateRef']);
    }
    expect(reasonsOf(checked(https())[0]).at(-1), 'without any').to.equal('InvalidCertificateRef');
  });

  describe('with a certificate that clients reject, now or soon', () => {
    const DAY_MS = 86_400_000;
    let files: Certificates;
    let certificates: typeof CERTIFICATES;
    let start: number;
    let end: number;
    before(() => {
      files = makeCertificates();
      const { cert, key } = files.issue('shop', 'DNS:shop.example,DNS:*.shop.example');
      const [certificate, privateKey] = [readFileSync(cert), readFileSync(key)];
      const data = { 'tls.crt': certificate.toString('base64'), 'tls.key': privateKey.toString('base64') };
      certificates = { 'apps/cert': { type: 'kubernetes.io/tls', data } };
      const { validFromDate, validToDate } = new X509Certificate(certificate);
      [start, end] = [validFromDate.getTime(), validToDate.getTime()];
    });
    after(() => files.remove());

    const resolved = (now: number, hostname: string | undefined) => {
      const listener = { ...https({ name: 'cert' }), ...(hostname !== undefined && { hostname }) };
      const [found] = checkedWith(inputWith(certificates, now), listener);
      expect(found!.isServed).to.equal(true);
      const { status, reason, message } = found!.conditions.find(({ type }) => type === 'ResolvedRefs')!;
      expect([status, reason]).to.deep.equal(['True', 'ResolvedRefs']);
      return message;
    };

    it('are valid, with the dates as a warning', () => {
      expect(resolved(start, undefined)).to.equal('');
      expect(resolved(start - 1, undefined)).to.match(
        /^warning: certificate shop\.example is not valid before [-\d]+ [:\d]+ UTC$/,
      );
      expect(resolved(end - 14 * DAY_MS - 1, undefined)).to.equal('');
      expect(resolved(end - 14 * DAY_MS, undefined)).to.match(
        /^warning: certificate shop\.example expires at .* UTC, within 14 days$/,
      );
      expect(resolved(end, undefined)).to.match(/^warning: certificate shop\.example expired at .* UTC$/);
    });

    for (const hostname of ['shop.example', 'SHOP.example', 'a.shop.example', '*.shop.example'])
      it(`are valid for ${hostname}`, () => {
        expect(resolved(start, hostname)).to.equal('');
      });

    it('are valid, with a host name that it does not cover as a warning', () => {
      expect(resolved(start, 'other.example')).to.equal(
        'warning: certificate shop.example does not cover other.example',
      );
      expect(resolved(end, '*.other.example')).to.match(
        /^warning: certificate shop\.example expired at .*; certificate shop\.example does not cover \*\.other\.example$/,
      );
    });
  });
});
