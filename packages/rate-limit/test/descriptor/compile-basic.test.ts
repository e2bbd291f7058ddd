import { expect } from 'chai';
import { compileBasic, compileRules, createMatch, routeScope, ruleLines } from '@edge-gateway/rate-limit';
import { describedRequest } from './described-request.ts';

const anonymousLimits = { requestsPerUnit: 10, unit: 'MINUTE' } as const;
const authorizedLimits = { requestsPerUnit: 100, unit: 'HOUR' } as const;
const user = describedRequest({ userId: 'ann', clientAddress: '192.0.2.1' });
const stranger = describedRequest({ clientAddress: '192.0.2.1' });

describe('compileBasic', () => {
  it('counts users by their id, and others by address', () => {
    const { rule, descriptorOf } = compileBasic({ anonymousLimits, authorizedLimits }, 'gw-system.shop');
    const ruleSet = compileRules({ descriptors: [rule] }, { domain: 'basic' });
    expect(ruleLines(ruleSet)).to.deep.equal([
      'basic.generic_key_gw-system.shop.header_match_not-authenticated.remote_address: unit=MINUTE requests_per_unit=10 weight=0 always_apply=false',
      'basic.generic_key_gw-system.shop.header_match_is-authenticated.user_id: unit=HOUR requests_per_unit=100 weight=0 always_apply=false',
    ]);
    const match = createMatch([ruleSet]);
    const hits = match([descriptorOf(user)!, descriptorOf(stranger)!]);
    expect(hits.map((hit) => [hit.limit.requests, hit.key.split('|').at(-1)])).to.deep.equal([
      [100, 'ann'],
      [10, '192.0.2.1'],
    ]);
  });

  it('has no limit for a kind of user without one', () => {
    expect(compileBasic({ anonymousLimits }, 'a').descriptorOf(user)).to.equal(undefined);
    expect(compileBasic({ authorizedLimits }, 'a').descriptorOf(stranger)).to.equal(undefined);
    expect(compileBasic({ anonymousLimits }, 'a').descriptorOf(describedRequest({}))).to.equal(undefined);
  });

  it('separates a route from a virtual host whose name contains dots', () => {
    const keyOf = (scope: string) => {
      const { rule, descriptorOf } = compileBasic({ anonymousLimits }, scope);
      return createMatch([compileRules({ descriptors: [rule] }, { domain: 'basic' })])([descriptorOf(stranger)!])[0]!
        .key;
    };
    const scopes = [routeScope('ns.a', 'b'), 'ns.a.b', routeScope('ns.a', 'b.c'), routeScope('ns.a.b', 'c'), 'ns.a'];
    expect(new Set(scopes.map(keyOf))).to.have.property('size', scopes.length);
  });

  it('counts an empty user id as one user', () => {
    const { rule, descriptorOf } = compileBasic({ authorizedLimits }, 'a');
    const match = createMatch([compileRules({ descriptors: [rule] }, { domain: 'basic' })]);
    expect(match([descriptorOf(describedRequest({ userId: '' }))!])).to.have.length(1);
  });
});
