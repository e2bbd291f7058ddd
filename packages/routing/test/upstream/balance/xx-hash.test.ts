import { expect } from 'chai';
import { xxHash64 } from '../../../src/upstream/balance/xx-hash.ts';

const SEED = 0xfedcba9876543210n;

/** A text without periods of 8 or 32 characters. */
const textOf = (length: number): string =>
  Array.from({ length }, (_, i) => String.fromCharCode(33 + ((i * 7) % 90))).join('');

describe('xxHash64', () => {
  it('returns the hashes of the reference implementation', () => {
    expect(xxHash64('').toString(16)).to.equal('ef46db3751d8e999');
    expect(xxHash64('a').toString(16)).to.equal('d24ec4f1a98c6e5b');
    expect(xxHash64('abc').toString(16)).to.equal('44bc2cf5ad770999');
    expect(xxHash64('Nobody inspects the spammish repetition').toString(16)).to.equal('fbcea83c8a378bf1');
    expect(xxHash64('ü€'.repeat(50)).toString(16)).to.equal('59a120d8868cb2de');
  });

  for (const [length, hash, seeded] of [
    [0, 'ef46db3751d8e999', '7cc8df76db892f66'],
    [1, '9ea4029ff0912cb8', 'd7195666f03e879c'],
    [3, 'f86757b2e77a69f7', '9e5ae321aedd3c2'],
    [4, '2b59d8d1c968183', '6caecd4ad145cd84'],
    [7, 'a56acab0cc471604', 'c1b3e72e6a0d1159'],
    [8, '35888a941dc7377', '94f546228fa6e40e'],
    [31, '1a24a51ed5ff4d42', '916f26e548ad84b3'],
    [32, '4ca13653c93f6f8e', 'e1f1422e7532d1d1'],
    [33, 'c01d514399546f8a', '11aacd1c2e1c115b'],
    [63, '7a33f646a1368e4e', 'ef4f6977d40a8e48'],
    [64, '71d60f37c1767836', 'bc00b417d98ab20b'],
    [100, 'f1c6abc30a93b4ca', '1088a05bc44a5c70'],
    [12345, 'ae3f7518a95a4f20', '471510b21452e2c4'],
  ] as const)
    it(`returns them for ${length} characters, with and without a seed`, () => {
      const text = textOf(length);
      expect([xxHash64(text), xxHash64(text, SEED)].map((each) => each.toString(16))).to.deep.equal([hash, seeded]);
    });

  it('costs little for a header of 12 KB', () => {
    const text = textOf(12_288);
    const batches = Array.from({ length: 10 }, () => {
      const before = process.cpuUsage();
      for (let i = 0; i < 50; i++) xxHash64(text);
      return process.cpuUsage(before).user / 50;
    });
    // 60 on a usual machine; more than 1,000 with BigInt.
    expect(Math.min(...batches), 'microseconds').to.be.lessThan(400);
  });
});
