import { expect } from 'chai';
import { createGroupMemory } from '../../src/groups/memory.ts';

describe('the memory of groups', () => {
  it('is bounded by the total number of ids: the least recently used entry is evicted first', async () => {
    let now = 1;
    let reads: string[] = [];
    const memory = createGroupMemory(() => now, 10);
    /** Asks for the groups of a user, and returns whether they were read. */
    const isRead = async (key: string, count: number, until = 100): Promise<boolean> => {
      reads = [];
      const groups = await memory({ oid: key, key, until }, async ({ oid }) => {
        reads.push(oid);
        return Array.from({ length: count }, (_, i) => `${i}`);
      });
      expect(groups).to.have.length(count);
      return reads.length === 1;
    };
    expect([await isRead('a', 3), await isRead('b', 2), await isRead('a', 3)]).to.deep.equal([true, true, false]);
    expect([await isRead('c', 4, 50), await isRead('a', 3), await isRead('c', 4, 50)]).to.deep.equal([
      true,
      false,
      false,
    ]);
    expect(await isRead('b', 0, 51), 'evicted').to.equal(true);
    expect(await isRead('b', 0, 51), 'no groups').to.equal(false);
    now = 52;
    expect([await isRead('b', 0), await isRead('c', 4)], 'expired').to.deep.equal([true, true]);
    expect([await isRead('d', 10), await isRead('d', 10)], 'larger than the memory').to.deep.equal([true, true]);
    expect(await isRead('c', 4)).to.equal(false);
    now = 102;
    expect(await isRead('c', 4)).to.equal(true);
  });

  it('returns groups that are evicted while they are read', async () => {
    const memory = createGroupMemory(() => 1, 10);
    let finish = (): void => {};
    const slow = memory({ oid: 'a', key: 'a', until: 100 }, async () => {
      await new Promise<void>((resolve) => (finish = resolve));
      return ['admins'];
    });
    for (const key of ['b', 'c', 'd']) {
      await memory({ oid: key, key, until: 100 }, async () => Array.from({ length: 8 }, (_, i) => `${i}`));
    }
    finish();
    expect(await slow).to.deep.equal(['admins']);
  });
});
