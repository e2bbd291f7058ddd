import { expect } from 'chai';
import { ExactNumber, parseJson } from '../../src/syntax/exact-number.ts';

describe('parsing of JSON that is passed on', () => {
  const kept = [
    '9007199254740993',
    '-9223372036854775808',
    '18446744073709551615',
    '1e22',
    '1E+300',
    '100000000000000000000000',
    '0.1234567890123456789',
    '1.0000000000000000001',
    '1e-400',
    '0.0000001',
    '-0.00000012',
    '0.00000000000000001',
  ];
  for (const text of kept) {
    it(`keeps the digits of ${text}`, () => {
      expect(parseJson(text)).to.deep.equal(new ExactNumber(text));
      expect(JSON.stringify(parseJson(`{"a":[${text}]}`))).to.equal(`{"a":[${text}]}`);
      expect(`${String(parseJson(text))}`).to.equal(text);
    });
  }

  const plain = [
    '9007199254740991',
    '-0',
    '0',
    '1e3',
    '1.5e-7',
    '0.30000000000000004',
    '1.000000000000000000',
    '0.000001',
    '1e-7',
    '0.1e1',
  ];
  for (const text of plain) {
    it(`reads ${text} as a number`, () => expect(parseJson(text)).to.equal(JSON.parse(text)));
  }

  it('reads everything else like JSON.parse', () => {
    const text = '{"a": "9007199254740993", "b": [1, 12345678901234567890], "__proto__": {"c": 1}, "d": ", 1e5"}';
    const value = parseJson(text) as Record<string, unknown>;
    expect(value['a']).to.equal('9007199254740993');
    expect(value['b']).to.deep.equal([1, new ExactNumber('12345678901234567890')]);
    expect(value['d']).to.equal(', 1e5');
    expect(Object.hasOwn(value, '__proto__')).to.equal(true);
    expect(Object.getPrototypeOf(value)).to.equal(Object.prototype);
  });

  for (const text of ['{"a": 1e999}', '-1e400', '{"a": 01}', '', '1 2', '{"a": 12345678901234567890,}']) {
    it(`rejects ${JSON.stringify(text)}`, () => expect(() => parseJson(text)).to.throw(SyntaxError));
  }

  it('reads a number of a million digits in linear time', () => {
    const text = `0.${'0'.repeat(1_000_000)}1`;
    expect(parseJson(`[${text}]`)).to.deep.equal([new ExactNumber(text)]);
  });

  it('reads an exact number as a number where one is needed', () => {
    expect(Number(parseJson('9007199254740993'))).to.equal(9007199254740992);
  });
});
