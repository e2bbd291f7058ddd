import { expect } from 'chai';
import { jsonChunks, lazily } from '../../src/http/json-chunks.ts';

const VALUES: readonly unknown[] = [
  null,
  1,
  'a"\n\u2028',
  [],
  {},
  [1, [2, { a: [] }], 'x\ny'],
  { a: 1, b: { c: [1, 2], d: {} }, e: undefined, 'f"': null },
  [{ a: 1 }, undefined],
];

describe('jsonChunks', () => {
  for (const value of VALUES) {
    it(`equals JSON.stringify for ${JSON.stringify(value)}`, () => {
      expect([...jsonChunks(value)].join('')).to.equal(JSON.stringify(value));
      expect([...jsonChunks(value, 1)].join('')).to.equal(JSON.stringify(value, null, 1));
    });
  }

  it('writes lazy lists like arrays', () => {
    const make = (inner: (n: number) => unknown): unknown => ({ list: inner(3), none: inner(0) });
    const lazy = make((n) => lazily([0, 1, 2].slice(0, n), (i) => ({ i, deep: [i, { i }] })));
    const eager = make((n) => Array.from({ length: n }, (_, i) => ({ i, deep: [i, { i }] })));
    for (const indent of [0, 1]) {
      expect([...jsonChunks(lazy, indent)].join('')).to.equal(JSON.stringify(eager, null, indent));
    }
  });

  it('creates an element only when it is written', () => {
    let made = 0;
    const chunks = jsonChunks(lazily([1, 2, 3], () => made++));
    chunks.next();
    chunks.next();
    expect(made).to.equal(1);
  });
});
