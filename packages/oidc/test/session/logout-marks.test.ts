import { expect } from 'chai';
import { createLogoutMarks } from '../../src/session/logout-marks.ts';

describe('the marks of logouts', () => {
  it('end the sessions before a logout, not those after it, and none when they have expired', async () => {
    const texts = new Map<string, string>();
    const marks = createLogoutMarks(
      {
        read: async (key) => texts.get(key),
        write: async (key, text) => void texts.set(key, text),
        remove: async (key) => void texts.delete(key),
      },
      1000,
    );
    const before = await marks.read(['sid']);
    expect(await marks.hasEnded(['sid'], before)).to.equal(false);
    await marks.replace(['sid']);
    expect(await marks.hasEnded(['sid'], before)).to.equal(true);
    const after = await marks.read(['sid']);
    expect(await marks.hasEnded(['sid'], after)).to.equal(false);
    texts.clear();
    expect(await marks.hasEnded(['sid'], after)).to.equal(false);
  });
});
