import assert from 'node:assert/strict';
import { describe, it } from 'mocha';
import { differingKeys, withChanges } from '../src/layered-map.ts';
import { randomOf } from './translate/random.ts';

describe('layered map', () => {
  it('has the content of a plain map after random changes', () => {
    for (let seed = 1; seed <= 20; seed++) {
      const random = randomOf(seed);
      const key = (): string => `key-${Math.floor(random() * 60)}`;
      let expected = new Map<string, number>();
      let map: ReadonlyMap<string, number> = new Map();
      const earlier: ReadonlyMap<string, number>[] = [];
      for (let step = 0; step < 200; step++) {
        const changes = new Map(
          Array.from({ length: 1 + Math.floor(random() * 4) }, () => [
            key(),
            random() < 0.3 ? undefined : Math.floor(random() * 5),
          ]),
        );
        const [before, previous] = [map, new Map(map)];
        expected = new Map(expected);
        for (const [name, value] of changes) {
          if (value === undefined) expected.delete(name);
          else expected.set(name, value);
        }
        map = withChanges(map, changes, 8);

        assert.deepEqual(new Map(before), previous);
        assert.equal(map.size, expected.size);
        assert.deepEqual(new Map(map), expected);
        assert.deepEqual([...map.keys()].sort(), [...expected.keys()].sort());
        assert.deepEqual([...map.values()].sort(), [...expected.values()].sort());
        const visited = new Map<string, number>();
        map.forEach((value, name) => visited.set(name, value));
        assert.deepEqual(visited, expected);
        for (let i = 0; i < 60; i++) {
          assert.equal(map.get(`key-${i}`), expected.get(`key-${i}`));
          assert.equal(map.has(`key-${i}`), expected.has(`key-${i}`));
        }
        earlier.push(before);
        // Also with a map of several changes, and perhaps copies, before.
        for (const old of [before, earlier.at(-7) ?? before]) {
          const differing = [...new Set([...old.keys(), ...expected.keys()])].filter(
            (name) => old.get(name) !== expected.get(name),
          );
          assert.deepEqual([...differingKeys(old, map)].sort(), differing.sort());
        }
      }
    }
  });

  it('finds the differences of a copy without a look at all entries', () => {
    const entries = Array.from({ length: 600 }, (_, i) => [i, { i }] as const);
    const looked = new Set<number>();
    class Watched extends Map<number, object> {
      override *keys(): MapIterator<number> {
        for (const key of super.keys()) {
          looked.add(key);
          yield key;
        }
      }
    }
    const base = new Watched(entries);
    const before = withChanges(base, [[1, {}]]);
    const copy = withChanges(
      before,
      entries.slice(0, 50).map(([i]) => [i, {}] as const),
    );
    assert.ok(copy instanceof Map);
    assert.equal(differingKeys(before, copy).size, 50);
    assert.equal(looked.size, 0);
  });

  it('copies small maps', () => {
    assert.ok(withChanges(new Map([['a', 1]]), [['b', 2]]) instanceof Map);
  });

  it('finds no differences between a map and itself', () => {
    const map = withChanges(new Map([['a', 1]]), [['b', 2]], 0);
    assert.deepEqual([...differingKeys(map, map)], []);
  });
});
