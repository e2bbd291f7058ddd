import { expect } from 'chai';
import { difference, differingRange } from '../../src/ranges.ts';
import { hasSameItems, withItems } from '../../src/translate/lists.ts';
import { randomOf, shuffled } from './random.ts';

interface Item {
  readonly key: string;
}

describe('a sorted list with changes', () => {
  it('has the items of a map with the same changes, and differs only in them', () => {
    const random = randomOf(3);
    const content = new Map<string, Item>();
    let list: readonly Item[] = [];
    for (let step = 0; step < 500; step++) {
      const amount = step % 50 === 49 ? 100 : Math.floor(random() * 5);
      const changes = new Map<string, Item | undefined>();
      for (let i = 0; i < amount; i++) {
        const key = `key-${Math.floor(random() * 150)}`;
        changes.set(key, random() < 0.4 ? undefined : { key });
      }
      const before = list;
      const expected = [...before];
      list = withItems(list, [...changes], ({ key }) => key);
      for (const [key, item] of changes) {
        if (item) content.set(key, item);
        else content.delete(key);
      }
      expect(before).to.deep.equal(expected);
      expect(list).to.deep.equal([...content.values()].sort((a, b) => (a.key < b.key ? -1 : 1)));
      for (const [i, item] of list.entries()) expect(item).to.equal(content.get(item.key), String(i));
      if (amount === 0) expect(list).to.equal(before);
      const { added, removed } = difference(list, before);
      expect(new Set(added)).to.deep.equal(new Set(list.filter((item) => !before.includes(item))));
      expect(new Set(removed)).to.deep.equal(new Set(before.filter((item) => !list.includes(item))));
    }
  });

  it('differs in nothing from the same items in another order', () => {
    const items = Array.from({ length: 20 }, (_, i) => ({ key: String(i) }));
    expect(difference(shuffled(items, 5), items)).to.deep.equal({ added: [], removed: [] });
  });

  it('remembers the range of its changes, which is that of a comparison', () => {
    const random = randomOf(5);
    const keyOf = (item: Item): string => item.key;
    let list: readonly Item[] = Array.from({ length: 1000 }, (_, i) => ({ key: `key-${1000 + i}` }));
    for (let step = 0; step < 300; step++) {
      const keys = new Set(Array.from({ length: Math.floor(random() * 5) }, () => Math.floor(random() * 1200) + 900));
      const changes = Array.from(keys, (i) => [`key-${i}`, random() < 0.3 ? undefined : { key: `key-${i}` }] as const);
      const before = list;
      list = withItems(before, changes, keyOf);
      // A copy is compared: nothing is remembered about it.
      const copy = [...list];
      if (list !== before) expect(differingRange(list, before)).to.deep.equal(differingRange(copy, before));
      expect(difference(list, before)).to.deep.equal(difference(copy, before));
      expect(hasSameItems(list, before)).to.equal(list === before);
      expect(hasSameItems(copy, before)).to.equal(list === before);
    }
  });
});
