import { expect } from 'chai';
import { OK, OVER_LIMIT, type WireResponse } from '../../src/protocol/messages.ts';
import { decisionOfResponse } from '../../src/remote/decision-of-response.ts';

const names = (count: number): string => Array.from({ length: count }, (_, i) => `rule-${i}`).join(',');
const shadowOver = (text: string): WireResponse => ({
  overallCode: OK,
  dynamicMetadata: { fields: { shadow_over_limit: { kind: 'stringValue', stringValue: text } } },
});
const statuses = (count: number): WireResponse['statuses'] =>
  Array.from({ length: count }, () => ({ code: OK, currentLimit: { requestsPerUnit: 1, unit: 1, name: 'a' } }));

describe('the decision of a rate limit service', () => {
  it('follows the code of the response', () => {
    expect(decisionOfResponse({ overallCode: OK })).to.deep.equal({ isAllowed: true, outcomes: [] });
    expect(decisionOfResponse({ overallCode: OVER_LIMIT }).isAllowed).to.equal(false);
    expect(() => decisionOfResponse({ overallCode: 0 })).to.throw('code 0');
    expect(() => decisionOfResponse({})).to.throw('code undefined');
  });

  it('names shadow rules that are over their limit', () => {
    const { isAllowed, outcomes } = decisionOfResponse(shadowOver('a,b'));
    expect(isAllowed).to.equal(true);
    expect(outcomes.map(({ rule, isShadow, isOver }) => [rule, isShadow, isOver])).to.deep.equal([
      ['a', true, true],
      ['b', true, true],
    ]);
  });

  it('is rejected with more rules than a response may have', () => {
    expect(decisionOfResponse(shadowOver(names(1000))).outcomes).to.have.length(1000);
    const tooMany: WireResponse[] = [
      shadowOver(names(1001)),
      { overallCode: OK, statuses: statuses(1001)! },
      { ...shadowOver(names(501)), statuses: statuses(500)! },
      shadowOver(','.repeat(1_000_000)),
    ];
    for (const response of tooMany) {
      expect(() => decisionOfResponse(response))
        .to.throw('more than 1000 rules')
        .with.property('code', 'ERR_RATE_LIMIT_SERVICE');
    }
  });

  it('has no time before the response', () => {
    const currentLimit = { requestsPerUnit: 1, unit: 1 };
    const durationUntilReset = { seconds: -5, nanos: -1 };
    const [outcome] = decisionOfResponse({
      overallCode: OK,
      statuses: [{ code: OK, currentLimit, durationUntilReset }],
    }).outcomes;
    expect(outcome).to.include({ resetMs: 0, remaining: 0 });
  });
});
