import { expect } from 'chai';
import { GatewayError } from '../src/index.ts';

describe('GatewayError', () => {
  const stackOf = (status?: number): string[] =>
    new GatewayError('no token', { code: 'ERR_RBAC_JWT', ...(status !== undefined && { status }) }).stack!.split('\n');

  it('has a stack only if it is a defect: rejections of requests are created too often', () => {
    const limit = Error.stackTraceLimit;
    expect(stackOf(401)).to.deep.equal(['GatewayError: no token']);
    expect(stackOf(500).length).to.be.greaterThan(1);
    expect(stackOf().length).to.be.greaterThan(1);
    expect(Error.stackTraceLimit).to.equal(limit);
    expect(new Error('another').stack!.split('\n').length).to.be.greaterThan(1);
  });

  it('respects a limit that is already 0', () => {
    const limit = Error.stackTraceLimit;
    try {
      Error.stackTraceLimit = 0;
      expect(stackOf(401)).to.have.length(1);
      expect(Error.stackTraceLimit).to.equal(0);
    } finally {
      Error.stackTraceLimit = limit;
    }
  });
});
