import { expect } from 'chai';
import type { SnapshotUpstream } from '../../../src/contract/snapshot.ts';
import { upstreamDefaults, withDefaults } from '../../../src/translate/reference/upstream-defaults.ts';

const upstream: SnapshotUpstream = {
  name: 'up_gw-system',
  ref: { name: 'up', namespace: 'gw-system' },
  spec: { circuitBreakers: { maxRequests: 7 } },
  endpoints: [],
  tls: false,
};

describe('defaults of the Settings for upstreams', () => {
  it('are the circuit breakers that the upstream does not set', () => {
    const defaults = upstreamDefaults({ gw: { circuitBreakers: { maxRequests: 1, maxRetries: 2 } } });
    const { spec } = withDefaults(upstream, defaults);
    expect(spec.circuitBreakers).to.deep.equal({ maxRequests: 7, maxRetries: 2 });
  });

  it('keep the upstream where there are none', () => {
    expect(withDefaults(upstream, upstreamDefaults({}))).to.equal(upstream);
  });
});
