import { getEventListeners } from 'node:events';
import { expect } from 'chai';
import { untilEnded } from '../../src/execute/until-ended.ts';

describe('waiting for a value until its operation ends', () => {
  it('leaves no listener at the signal of the operation', async () => {
    const { signal } = new AbortController();
    expect(await untilEnded(Promise.resolve('value'), signal, () => 'ended')).to.equal('value');
    const failure = new Error('failed');
    const failed = untilEnded(Promise.reject(failure), signal, () => 'ended');
    expect(await Promise.resolve(failed).catch((error: unknown) => error)).to.equal(failure);
    expect(getEventListeners(signal, 'abort')).to.deep.equal([]);
  });

  it('ends soon after the operation without the value', async () => {
    const never = new Promise<string>(() => {});
    expect(await untilEnded(never, AbortSignal.abort(), () => 'ended')).to.equal('ended');
  });
});
