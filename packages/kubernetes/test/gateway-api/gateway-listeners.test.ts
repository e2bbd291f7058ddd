import { expect } from 'chai';
import { checkListeners, type CheckedListener } from '../../src/gateway-api/gateway-listeners.ts';
import type { CertificateState, GatewayApiInput, ListenerSpec } from '../../src/gateway-api/gateway-objects.ts';

const CERTIFICATES: Readonly<Record<string, CertificateState>> = {
  'apps/one': { data: { 'tls.crt': 'MQ==' } },
  'apps/two': { data: { 'tls.crt': 'Mg==' } },
};
const input = {
  certificate: ({ name, namespace }) => CERTIFICATES[`${namespace}/${name}`] ?? { problem: `Secret ${name} not found` },
} as GatewayApiInput;
const HTTP = { name: 'http', port: 8080, protocol: 'HTTP' };
const https = (...certificateRefs: object[]) => ({
  name: 'https',
  port: 8443,
  protocol: 'HTTPS',
  tls: { certificateRefs },
});

function checked(...listeners: readonly object[]): readonly CheckedListener[] {
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
});
