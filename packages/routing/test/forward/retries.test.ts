import { compileRetries } from '@edge-gateway/core';
import { expect } from 'chai';
import { Retries } from '../../src/forward/retries.ts';
import type { Cluster } from '../../src/upstream/cluster.ts';

describe('the limit of one attempt', () => {
  const limitOf = (perTryTimeout: string | undefined, timeoutMs: number): number =>
    new Retries(
      {} as Cluster,
      compileRetries({ retryOn: '5xx', ...(perTryTimeout && { perTryTimeout }) })!,
    ).tryTimeoutMs(timeoutMs);

  it('has no effect if it is not shorter than that of the request', () => {
    expect([limitOf('1s', 2000), limitOf('1s', 1001)]).to.deep.equal([1000, 1000]);
    expect([limitOf('1s', 1000), limitOf('1s', 500)]).to.deep.equal([0, 0]);
    expect([limitOf('1s', 0), limitOf(undefined, 0)], 'without one of the request').to.deep.equal([1000, 0]);
  });
});
