import { expect } from 'chai';
import { until } from '../../../../test/parts/until.ts';
import type { StoreEntries } from '../../src/session/store-entries.ts';
import { createStoreLock } from '../../src/session/store-lock.ts';

describe('the lock of a session in a store', () => {
  it('is not written again after it is released, although it was being extended', async () => {
    const texts = new Map<string, string>();
    const extending = Promise.withResolvers<void>();
    let extensions = 0;
    const entries = {
      read: async (key: string) => texts.get(key),
      async write(key: string, text: string) {
        // An extension adds its number.
        if (text.includes(' ')) {
          extensions++;
          await extending.promise;
        }
        texts.set(key, text);
      },
      remove: async (key: string) => void texts.delete(key),
    } as StoreEntries;
    const release = await createStoreLock(entries, 300).acquire('a', 0);
    expect([...texts.keys()]).to.deep.equal(['lock a']);
    await until(() => extensions > 0);
    const released = release!();
    // Time in which a release that does not wait would remove the lock.
    for (let i = 0; i < 10; i++) await new Promise(setImmediate);
    extending.resolve();
    await released;
    expect([...texts]).to.deep.equal([]);
  });
});
