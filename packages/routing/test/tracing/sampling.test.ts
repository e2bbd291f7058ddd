import { expect } from 'chai';
import { compileSampling, pointOf, reasonIn, traceReason, withReason } from '../../src/tracing/sampling.ts';

const ID = '6f1c1f2e-0000-4abc-8def-000000000000';

describe('trace sampling', () => {
  const reason = (
    percentages: Parameters<typeof compileSampling>[0],
    input: Partial<Parameters<typeof traceReason>[0]> = {},
  ) =>
    traceReason(
      { requestId: ID, hasClientTraceId: false, isForced: false, point: 0.5, ...input },
      compileSampling(percentages),
    );

  it('samples everything by default', () => {
    expect(reason(undefined)).to.equal('sampled');
    expect(reason({}, { point: 0.999_999 })).to.equal('sampled');
  });

  it('samples the share of random requests', () => {
    expect(reason({ randomSamplePercentage: 50 }, { point: 0.499 })).to.equal('sampled');
    expect(reason({ randomSamplePercentage: 50 }, { point: 0.5 })).to.equal(undefined);
    expect(reason({ randomSamplePercentage: 0 }, { point: 0 })).to.equal(undefined);
  });

  it('samples requests with a client trace id and forced ones regardless of the random share', () => {
    const none = { randomSamplePercentage: 0 };
    expect(reason(none, { hasClientTraceId: true })).to.equal('client');
    expect(reason({ ...none, clientSamplePercentage: 50 }, { hasClientTraceId: true })).to.equal(undefined);
    expect(reason(none, { isForced: true })).to.equal('forced');
  });

  it('continues the decision in the request id', () => {
    expect(reason({ randomSamplePercentage: 0 }, { requestId: withReason(ID, 'forced') })).to.equal('forced');
  });

  it('bounds every reason by the overall share', () => {
    const overall = { overallSamplePercentage: 10 };
    for (const input of [{ hasClientTraceId: true }, { isForced: true }, { requestId: withReason(ID, 'sampled') }]) {
      expect(reason(overall, { ...input, point: 0.1 })).to.equal(undefined);
      expect(reason(overall, { ...input, point: 0.09 })).not.to.equal(undefined);
    }
  });

  it('keeps the decision in the 14th digit of a UUID, and other ids as they are', () => {
    expect(withReason(ID, 'sampled')).to.equal('6f1c1f2e-0000-9abc-8def-000000000000');
    expect(withReason(withReason(ID, 'client'), undefined)).to.equal(ID);
    expect(reasonIn(withReason(ID, 'client'))).to.equal('client');
    expect(withReason('short', 'sampled')).to.equal('short');
    expect(reasonIn('short')).to.equal(undefined);
    expect(reasonIn(ID)).to.equal(undefined);
  });

  it('draws the same number for the same request id', () => {
    expect(pointOf('6f1c1f2e-0000-4abc-8def-000080000000')).to.equal(0.5);
    expect(pointOf('no digits')).to.equal(undefined);
  });
});
