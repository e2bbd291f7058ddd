import { expect } from 'chai';
import { trimmedValue, trimValues } from '../../src/http1/field-value.ts';

describe('trimmedValue', () => {
  for (const [value, trimmed] of [
    ['', ''],
    ['a', 'a'],
    ['a b', 'a b'],
    [' a', 'a'],
    ['a\t', 'a'],
    [' \t a b \t', 'a b'],
    [' ', ''],
    ['\u00a0a', '\u00a0a'],
    ['\ra', '\ra'],
  ] as const)
    it(`returns ${JSON.stringify(trimmed)} for ${JSON.stringify(value)}`, () => {
      expect(trimmedValue(value)).to.equal(trimmed);
    });
});

describe('trimValues', () => {
  it('leaves names unchanged', () => {
    const flat = [' a', ' 1', 'b', '2'];
    trimValues(flat);
    expect(flat).to.deep.equal([' a', '1', 'b', '2']);
  });
});
