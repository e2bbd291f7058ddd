import { expect } from 'chai';
import type { OptionResource } from '../../src/gateway-api/gateway-objects.ts';
import { createOptionTargets } from '../../src/gateway-api/option-targets.ts';

const option = (name: string, ...targetRefs: object[]) =>
  ({ kind: 'VirtualHostOption', name, namespace: 'apps', targetRefs }) as unknown as OptionResource;
const GATEWAY = { kind: 'Gateway', name: 'gw' };
const target = { ...GATEWAY, namespace: 'apps', sectionName: 'http' };
const of = (...options: readonly OptionResource[]) => createOptionTargets(options).of('VirtualHostOption', target);

describe('options that target an object', () => {
  it('come first if they target its section, then by name', () => {
    const whole = [option('b', GATEWAY), option('a', GATEWAY)];
    expect(of(...whole, option('z', { ...GATEWAY, sectionName: 'http' }))).to.deep.equal(['z', 'a', 'b']);
  });

  it('are listed once, whatever they target beside it', () => {
    const both = option('a', GATEWAY, { ...GATEWAY, sectionName: 'http' }, { kind: 'Gateway', name: 'other' });
    expect(of(both, option('0', GATEWAY))).to.deep.equal(['a', '0']);
  });

  it('have its kind, name, namespace, group and section', () => {
    expect(of(option('a', { ...GATEWAY, group: 'gateway.networking.k8s.io' }))).to.deep.equal(['a']);
    for (const other of [
      option('a', { ...GATEWAY, name: 'other' }),
      option('a', { ...GATEWAY, kind: 'HTTPRoute' }),
      option('a', { ...GATEWAY, group: 'other.example' }),
      option('a', { ...GATEWAY, sectionName: 'https' }),
      { ...option('a', GATEWAY), namespace: 'shop' },
      { ...option('a', GATEWAY), kind: 'RouteOption' as const },
    ])
      expect(of(other), JSON.stringify(other)).to.deep.equal([]);
  });
});
