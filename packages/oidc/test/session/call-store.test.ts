import { expect } from 'chai';
import { callStore } from '../../src/session/call-store.ts';

describe('a call to a session store', () => {
  const failure = (call: Promise<unknown>): Promise<{ code?: string; cause?: Error }> =>
    call.then(
      () => ({}),
      (error) => error,
    );

  it('has the result of the store', async () => {
    expect(await callStore<string>((done) => setImmediate(done, undefined, 'found'))).to.equal('found');
  });

  it('fails if the store does, at once or later', async () => {
    const error = new Error('of the store');
    for (const start of [
      (done: (reason: unknown) => void) => void setImmediate(done, error),
      () => {
        throw error;
      },
    ]) {
      const found = await failure(callStore(start));
      expect(found).to.include({ code: 'ERR_OIDC_STORE_UNAVAILABLE', cause: error });
    }
  });

  it('fails if the store does not respond', async () => {
    expect(await failure(callStore(() => {}))).to.include({ code: 'ERR_OIDC_STORE_UNAVAILABLE' });
  });

  it('does not fail if this process was blocked while the store responded', async () => {
    const found = callStore<string>((done) => {
      setImmediate(() => {
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1100);
        // The response is read after the timers.
        setImmediate(() => setImmediate(done, undefined, 'found'));
      });
    });
    expect(await found).to.equal('found');
  });
});
