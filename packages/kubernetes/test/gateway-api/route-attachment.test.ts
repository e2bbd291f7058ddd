import { expect } from 'chai';
import type { CheckedListener } from '../../src/gateway-api/gateway-listeners.ts';
import { attachRoute, isGatewayReference } from '../../src/gateway-api/route-attachment.ts';

const listener = (spec: object, kinds: readonly string[] = ['HTTPRoute']) =>
  ({
    spec: { name: 'http', port: 80, protocol: 'HTTP', ...spec },
    gateway: { metadata: { name: 'gw', namespace: 'apps' } },
    kinds,
  }) as unknown as CheckedListener;
const namespaces = new Map([['other', { team: 'b' }]]);

function reasonFor(listeners: readonly CheckedListener[], parent: object = {}, namespace = 'other'): string {
  const route = { metadata: { name: 'r', namespace }, spec: {} };
  const result = attachRoute({ name: 'gw', ...parent }, { route, kind: 'HTTPRoute', listeners, namespaces });
  return 'reason' in result ? result.reason : result.attachments.map(({ listener: { spec } }) => spec.name).join();
}

describe('a route of another namespace', () => {
  const from = (value: object | undefined) => reasonFor([listener({ allowedRoutes: { namespaces: value } })]);

  it('is attached only where all namespaces or its labels are allowed', () => {
    expect(from({ from: 'All' })).to.equal('http');
    expect(from({ from: 'Selector', selector: { matchLabels: { team: 'b' } } })).to.equal('http');
    const rejecting = [
      undefined,
      {},
      { from: 'Same' },
      { from: 'None' },
      { from: 'Anything' },
      { from: 'Selector' },
      { from: 'Selector', selector: { matchLabels: { team: 'a' } } },
    ];
    for (const value of rejecting) expect(from(value), JSON.stringify(value)).to.equal('NotAllowedByListeners');
  });

  it('of a namespace without known labels matches no label', () => {
    const namespaceless = { namespaces: { from: 'Selector', selector: { matchLabels: { team: 'b' } } } };
    expect(reasonFor([listener({ allowedRoutes: namespaceless })], {}, 'unknown')).to.equal('NotAllowedByListeners');
  });

  it('is attached to the listeners with the name and the port of its reference', () => {
    const all = { allowedRoutes: { namespaces: { from: 'All' } } };
    const listeners = [listener(all), listener({ ...all, name: 'two', port: 81 })];
    expect(reasonFor(listeners)).to.equal('http,two');
    expect(reasonFor(listeners, { port: 81 })).to.equal('two');
    expect(reasonFor(listeners, { sectionName: 'http' })).to.equal('http');
    expect(reasonFor(listeners, { sectionName: 'http', port: 81 })).to.equal('NoMatchingParent');
    expect(reasonFor([listener(all, ['GRPCRoute'])])).to.equal('NotAllowedByListeners');
  });
});

describe('a parent reference', () => {
  it('is one to a Gateway by default', () => {
    expect(isGatewayReference({ name: 'gw' })).to.equal(true);
    expect(isGatewayReference({ name: 'gw', kind: 'Service' })).to.equal(false);
    expect(isGatewayReference({ name: 'gw', group: '' })).to.equal(false);
  });
});
