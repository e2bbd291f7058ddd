import { createContext, DEFAULT_SNAPSHOT_SETTINGS, type Scope } from '@edge-gateway/core';
import type { RateLimitLevel } from '@edge-gateway/core/schema';
import { expect } from 'chai';
import type { LimitStage } from '../../src/concern/limit-option-sets.ts';
import { compileLimits } from '../../src/concern/limit-checks.ts';

const virtualHost: Scope['virtualHost'] = {
  name: 'shop',
  virtualService: { name: 'shop', namespace: 'gw-system' },
  domains: ['*'],
  options: {},
  routes: [],
  authConfigs: [],
  rateLimitConfigs: [],
  graphqlApis: [],
};

describe('the checks of a route', () => {
  const checksAt = (stage: LimitStage, host: RateLimitLevel, rateLimitBeforeAuth = false) => {
    const settings = { ...DEFAULT_SNAPSHOT_SETTINGS, ratelimitServer: { rateLimitBeforeAuth } };
    const block = { host, route: {}, routeOptions: {} };
    const limiterOf = () => ({ check: () => ({ isAllowed: true, outcomes: [] }) });
    return compileLimits(block, { stage, scope: { settings, virtualHost }, context: createContext(), limiterOf })
      .checks;
  };

  it('apply basic limits once: after authentication, or before it if the settings say so', () => {
    const basic = { ratelimitBasic: { anonymousLimits: { requestsPerUnit: 1, unit: 'HOUR' } } } as const;
    expect(checksAt('rateLimitEarly', basic)).to.have.length(0);
    expect(checksAt('rateLimit', basic)).to.have.length(1);
    expect(checksAt('rateLimitEarly', basic, true)).to.have.length(1);
    expect(checksAt('rateLimit', basic, true)).to.have.length(0);
  });

  it('are none that could be compiled without a RateLimitConfig that they need', () => {
    const host = { rateLimitConfigs: { refs: [{ name: 'gone', namespace: 'shop' }] } };
    expect(() => checksAt('rateLimit', host)).to.throw('RateLimitConfig shop.gone does not exist');
  });
});
