import { expect } from 'chai';
import { isGranted } from '../../src/gateway-api/reference-grants.ts';

const GROUP = 'gateway.networking.k8s.io';
const from = { group: GROUP, kind: 'HTTPRoute', namespace: 'apps' };
const to = { group: '', kind: 'Service', namespace: 'other', name: 'web' };
const grant = (spec: object, namespace = 'other') => ({ metadata: { name: 'grant', namespace }, spec });
const FROM = [from];
const TO = [{ group: '', kind: 'Service' }];

describe('a reference to another namespace', () => {
  for (const [what, spec, namespace] of [
    ['a kind', { from: FROM, to: TO }],
    ['the object', { from: FROM, to: [{ group: '', kind: 'Service', name: 'web' }] }],
    ['any object by an empty name', { from: FROM, to: [{ kind: 'Service', name: '' }] }],
    ['one of several', { from: [{ ...from, namespace: 'shop' }, from], to: [{ group: '', kind: 'Secret' }, ...TO] }],
  ] as readonly (readonly [string, object, string?])[]) {
    it(`is granted for ${what}`, () => {
      expect(isGranted([grant(spec, namespace)], from, to)).to.equal(true);
    });
  }

  for (const [what, spec, namespace] of [
    ['from another namespace', { from: [{ ...from, namespace: 'shop' }], to: TO }],
    ['from another kind', { from: [{ ...from, kind: 'GRPCRoute' }], to: TO }],
    ['from another group', { from: [{ ...from, group: 'other.example' }], to: TO }],
    ['from no group', { from: [{ kind: 'HTTPRoute', namespace: 'apps' }], to: TO }],
    ['to another kind', { from: FROM, to: [{ group: '', kind: 'Secret' }] }],
    ['to another group', { from: FROM, to: [{ group: 'gw.vendor.io', kind: 'Service' }] }],
    ['to another object', { from: FROM, to: [{ group: '', kind: 'Service', name: 'db' }] }],
    ['in the namespace of the route', { from: FROM, to: TO }, 'apps'],
    ['without from', { to: TO }],
    ['without to', { from: FROM }],
    ['without a spec', undefined],
  ] as readonly (readonly [string, object, string?])[]) {
    it(`is not granted ${what}`, () => {
      expect(isGranted([grant(spec, namespace)], from, to)).to.equal(false);
    });
  }

  it('is not granted by two grants together', () => {
    expect(isGranted([grant({ from: FROM }), grant({ to: TO })], from, to)).to.equal(false);
    expect(isGranted([], from, to)).to.equal(false);
  });

  it('needs no grant within one namespace', () => {
    expect(isGranted([], from, { ...to, namespace: 'apps' })).to.equal(true);
  });
});
