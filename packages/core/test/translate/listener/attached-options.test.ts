import { expect } from 'chai';
import { createStore } from '../../../src/control/store.ts';
import { translate } from '../../../src/translate/translate.ts';
import { load } from '../load.ts';

const GATEWAY = `apiVersion: gateway.vendor.io/v1
kind: Gateway
metadata: { name: web, namespace: gw-system }
spec: { bindPort: 8080, httpGateway: {} }
`;
const SERVICE = `apiVersion: gateway.vendor.io/v1
kind: VirtualService
metadata: { name: shop, namespace: gw-system }
spec:
  virtualHost:
    routes:
      - matchers: [{ prefix: / }]
        directResponseAction: { status: 200 }
`;
const option = (name: string, bytes: number, metadata = '') => `apiVersion: gateway.vendor.io/v1
kind: ListenerOption
metadata: { name: ${name}, namespace: gw-system${metadata} }
spec:
  targetRefs: [{ group: gateway.vendor.io, kind: Gateway, name: web }]
  options: { perConnectionBufferLimitBytes: ${bytes} }
`;

/** Returns the states after each step, which a control plane translates one after the other. */
function translated(...steps: readonly (readonly string[])[]) {
  const store = createStore();
  let memo: ReturnType<typeof translate>['memo'] | undefined;
  return steps.map((documents) => {
    const result = translate(load([SERVICE, ...documents], store), memo);
    memo = result.memo;
    const reports = [...result.statuses].map(
      ([key, { statuses }]) => [key, Object.values(statuses)[0]!.state] as const,
    );
    return {
      options: result.snapshots.get('gateway-proxy')!.listeners.map((listener) => listener.options),
      listeners: result.snapshots.get('gateway-proxy')!.listeners,
      states: new Map<string, string>(reports),
    };
  });
}

describe('options that are attached to a Gateway', () => {
  it('come and go with their resources', () => {
    const [none, both, one, last] = translated(
      [GATEWAY],
      [GATEWAY, option('a', 10), option('b', 20)],
      [GATEWAY, option('b', 20)],
      [GATEWAY],
    );
    expect(none!.options).to.deep.equal([{}]);
    expect(both!.options).to.deep.equal([{ perConnectionBufferLimitBytes: 10 }]);
    expect(one!.options).to.deep.equal([{ perConnectionBufferLimitBytes: 20 }]);
    expect(last!.options).to.deep.equal([{}]);
  });

  it('keep the same listener while they do not change', () => {
    const [before, after] = translated([GATEWAY, option('a', 10)], [GATEWAY, option('a', 10)]);
    expect(after!.listeners[0]).to.equal(before!.listeners[0]);
  });

  it('are those of the older resource, then those that come first by name', () => {
    const old = option('z', 30, ", creationTimestamp: '2025-01-01T00:00:00Z'");
    const young = option('a', 10, ", creationTimestamp: '2026-01-01T00:00:00Z'");
    const [aged, named] = translated([GATEWAY, young, old], [GATEWAY, option('z', 30), option('a', 10)]);
    expect(aged!.options).to.deep.equal([{ perConnectionBufferLimitBytes: 30 }]);
    expect(named!.options).to.deep.equal([{ perConnectionBufferLimitBytes: 10 }]);
  });

  it('have a warning as long as their Gateway does not exist', () => {
    const [without, withGateway, again] = translated([option('a', 10)], [GATEWAY, option('a', 10)], [option('a', 10)]);
    const key = 'ListenerOption/gw-system/a';
    expect([without, withGateway, again].map((step) => step!.states.get(key))).to.deep.equal([
      'Warning',
      'Accepted',
      'Warning',
    ]);
  });

  it('do not harm their Gateway if they are not valid', () => {
    const [result] = translated([GATEWAY, option('a', -1), option('b', 20)]);
    expect(result!.options).to.deep.equal([{ perConnectionBufferLimitBytes: 20 }]);
    expect(result!.states.get('ListenerOption/gw-system/a')).to.equal('Rejected');
    expect(result!.states.get('Gateway/gw-system/web')).to.equal('Accepted');
  });
});
