import { expect } from 'chai';
import { decisionOf } from '../../src/opa/decision.ts';

describe('decisions of policies', () => {
  it('allows true, and lists that start with true', () => {
    for (const result of [true, [true], [true, 'why'], [true, false]]) {
      expect(decisionOf(result, { withReason: false }), JSON.stringify(result)).to.deep.equal({ allowed: true });
    }
  });

  it('denies every other result with 403', () => {
    for (const result of [
      undefined,
      null,
      false,
      0,
      1,
      'true',
      '',
      {},
      { allow: true },
      [],
      [false, true],
      ['true'],
      [[true]],
    ]) {
      const { allowed, ...rest } = decisionOf(result, { withReason: true });
      expect({ allowed, ...rest }, JSON.stringify(result)).to.include({ allowed: false, status: 403 });
    }
  });

  it('keeps the second element of a denial too', () => {
    const denied = { allowed: false, status: 403, reason: 'the policy denies the request' };
    const metadata = { reason: { allowed: false, body: 'no plan' } };
    expect(decisionOf([false, 'no plan'], { withReason: true })).to.deep.equal({ ...denied, metadata });
    expect(decisionOf([false, 'no plan'], { withReason: false })).to.deep.equal(denied);
  });

  it('keeps the second element as metadata if it is wanted', () => {
    const reason = (result: unknown) => decisionOf(result, { withReason: true });
    const metadata = { reason: { allowed: true, body: { plan: 'gold' } } };
    expect(reason([true, { plan: 'gold' }])).to.deep.equal({ allowed: true, metadata });
    expect(reason(true)).to.deep.equal({ allowed: true, metadata: { reason: { allowed: true, body: null } } });
  });
});
