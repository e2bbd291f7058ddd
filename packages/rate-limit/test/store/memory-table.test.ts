import { expect } from 'chai';
import { createKeyHash, type Hash, type HashState, type KeyHash } from '../../src/store/memory-hash.ts';
import { KeyTable } from '../../src/store/memory-table.ts';
import { seeded } from '../random.ts';

describe('the table of the memory store', () => {
  it('gives back its memory at once', () => {
    const table = new KeyTable(1);
    for (let i = 1; i < 1000; i++) table.insert(i, i << 20);
    const { values } = table;
    table.free();
    expect(values.buffer.byteLength).to.equal(0);
    expect(table.find(5, 5 << 20)).to.equal(false);
    expect(table.size).to.equal(999);
  });

  for (const width of [1, 2]) {
    it(`keeps ${width} numbers per key while it grows`, () => {
      const random = seeded(width);
      const table = new KeyTable(width);
      const expected = new Map<string, number[]>();
      for (let i = 0; i < 20_000; i++) {
        // Few distinct halves, so that slots and segments collide.
        const low = random.integer(2000) | 0;
        const high = (random.integer(20) * 0x0fff_ffff) | 0;
        if (low === 0 && high === 0) continue;
        const key = `${low} ${high}`;
        const known = expected.get(key);
        expect(table.find(low, high)).to.equal(known !== undefined);
        if (!known) table.insert(low, high);
        const numbers = known ?? Array.from({ length: width }, () => 0);
        expect([...table.values.subarray(table.at, table.at + width)]).to.deep.equal(numbers);
        numbers[i % width]!++;
        table.values[table.at + (i % width)]!++;
        expected.set(key, numbers);
      }
      expect(table.size).to.equal(expected.size);
    });
  }
});

function hashed(hash: KeyHash['hash'], state: HashState, text: string): Hash {
  const result = { low: 0, high: 0 };
  hash(state, text, result);
  return result;
}

function hashWith(seed?: Buffer) {
  const { start, hash } = createKeyHash(seed);
  return (text: string) => hashed(hash, start, text);
}

describe('the hash of the memory store', () => {
  it('is different for different keys', () => {
    const hash = hashWith(Buffer.from('01234567'));
    const seen = new Set<string>();
    const keys = ['', '\u0000', '\u0000\u0000', 'a', 'a\u0000', '\u{1F600}', 'x'.repeat(100_001)];
    for (let i = 0; i < 200_000; i++) keys.push(`custom|remote_address|${i}`);
    for (const key of keys) {
      const { low, high } = hash(key);
      seen.add(`${low} ${high}`);
    }
    expect(seen.size).to.equal(keys.length);
  });

  it('spreads over all bits', () => {
    const hash = hashWith(Buffer.from('01234567'));
    const ones = Array.from({ length: 64 }, () => 0);
    for (let i = 0; i < 20_000; i++) {
      const { low, high } = hash(`k${i}`);
      for (let bit = 0; bit < 32; bit++) {
        ones[bit]! += (low >>> bit) & 1;
        ones[32 + bit]! += (high >>> bit) & 1;
      }
    }
    for (const count of ones) expect(count).to.be.within(9500, 10_500);
  });

  it('depends on its random key', () => {
    const { low, high } = hashWith()('a');
    const other = hashWith()('a');
    expect([low, high]).not.to.deep.equal([other.low, other.high]);
  });

  it('depends on the text before', () => {
    const { after, hash } = createKeyHash();
    const texts = [
      ['', 'ab'],
      ['a', 'b'],
      ['ab', ''],
      ['a', 'bc'],
      ['ab', 'c'],
      ['b', 'a'],
    ] as const;
    const seen = texts.map(([before, text]) => JSON.stringify(hashed(hash, after(before), text)));
    expect(new Set(seen).size).to.equal(texts.length);
    expect(JSON.stringify(hashed(hash, after('ab'), 'c'))).to.equal(seen[4]);
  });

  it('is the same for the same key, whichever way the text was made', () => {
    const hash = hashWith();
    const { low, high } = { ...hash('abcdef|192.0.2.1') };
    const joined = ['abcdef', '192.0.2.1'].join('|');
    expect({ ...hash(joined) }).to.deep.equal({ low, high });
    expect({ ...hash(`xabcdef|192.0.2.1`.slice(1)) }).to.deep.equal({ low, high });
  });
});
