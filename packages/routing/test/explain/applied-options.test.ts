import { expect } from 'chai';
import { appliedOptions } from '../../src/explain/applied-options.ts';
import { hostOf, routeOf, snapshotOf } from '../snapshots.ts';

const buffer = { maxRequestBytes: 64 };
const csrf = { filterEnabled: { defaultValue: { numerator: 100 } } };

describe('applied options', () => {
  it('show csrf and the buffer of the listener, unless a more specific level replaces it', () => {
    const shown = (options: object) => {
      const route = routeOf({ options });
      const host = hostOf([route]);
      const [listener] = snapshotOf([host], [], { httpOptions: { csrf, buffer } }).listeners;
      return appliedOptions(listener!, host, route).map(({ option, from, applies }) => [option, from, applies]);
    };
    expect(shown({})).to.deep.equal([
      ['csrf', 'listener', true],
      ['bufferPerRoute', 'listener', true],
    ]);
    expect(shown({ csrf: {} })).to.deep.equal([
      ['csrf', 'route', true],
      ['csrf', 'listener', false],
      ['bufferPerRoute', 'listener', true],
    ]);
  });

  it('show the limits of all levels, and which of them a route replaces', () => {
    const httpLocalRatelimit = { defaultLimit: { maxTokens: 1 } };
    const limits = { rateLimits: [{ actions: [{ remoteAddress: {} }] }] };
    const shown = (options: object) => {
      const route = routeOf({ options });
      const host = hostOf([route], { options: { ratelimit: limits } });
      const [listener] = snapshotOf([host], [], { httpOptions: { httpLocalRatelimit } }).listeners;
      return appliedOptions(listener!, host, route).map(({ option, from, applies }) => [option, from, applies]);
    };
    expect(shown({})).to.deep.equal([
      ['httpLocalRatelimit', 'listener', true],
      ['ratelimit', 'virtual host', true],
    ]);
    expect(shown({ rateLimitConfigs: { refs: [{ name: 'a', namespace: 'b' }] } })).to.deep.equal([
      ['httpLocalRatelimit', 'listener', true],
      ['ratelimit', 'virtual host', false],
      ['rateLimitConfigs', 'route', true],
    ]);
    expect(shown({ ratelimit: { ...limits, includeVhRateLimits: true } })).to.deep.equal([
      ['httpLocalRatelimit', 'listener', true],
      ['ratelimit', 'route', true],
      ['ratelimit', 'virtual host', true],
    ]);
    expect(shown({ ratelimit: { localRatelimit: { maxTokens: 2 } } })).to.deep.equal([
      ['httpLocalRatelimit', 'listener', false],
      ['ratelimit', 'route', true],
      ['ratelimit', 'virtual host', true],
    ]);
  });
});
