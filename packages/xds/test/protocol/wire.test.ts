import { join } from 'node:path';
import { loadSync } from '@grpc/proto-loader';
import { expect } from 'chai';
import { decodeStrings, encodeStrings } from '../../src/protocol/wire.ts';

describe('messages of strings', () => {
  it('are decoded as they were encoded', () => {
    for (const values of [['a'], ['', 'b'], ['x'.repeat(200), 'ü€', ''], ['y'.repeat(3_000_000)]])
      expect(decodeStrings(encodeStrings(values), values.length)).to.deep.equal(values);
  });

  it('have the types that are published', () => {
    const file = join(import.meta.dirname, '../../proto/edge_gateway/config/v1/resources.proto');
    const published = loadSync(file);
    expect(Object.keys(published).filter((name) => name.startsWith('edge_gateway.config.v1.'))).to.have.length(11);
  });

  for (const [what, bytes] of [
    ['a truncated length', [10]],
    ['a truncated value', [10, 5, 97]],
    ['a field that does not exist', [26, 1, 97]],
    ['another type of field', [8, 1]],
    ['a number without end', [10, 255, 255, 255, 255, 255, 255]],
  ] as const) {
    it(`are rejected with ${what}`, () => {
      expect(() => decodeStrings(Buffer.from(bytes), 2)).to.throw(RangeError);
    });
  }
});
