import { expect } from 'chai';
import { ExactNumber } from '../../src/syntax/exact-number.ts';
import { parseStrictJson } from '../../src/syntax/strict-json.ts';

const parse = (text: string): unknown => parseStrictJson(Buffer.from(text));

describe('strict JSON', () => {
  it('is any JSON value', () => {
    for (const text of ['{}', '[]', '"a"', '1', 'true', 'null', ' {"a": [{"b": "}"}, "\\"{"], "e": 1.5e3} ']) {
      expect(parse(text)).to.deep.equal(JSON.parse(text));
    }
  });

  it('keeps integers that JavaScript cannot represent', () => {
    const json = parse(
      '{"a": 9007199254740993, "b": -9223372036854775808, "c": 9007199254740991, "d": 0.1234567890123456789}',
    );
    expect(json).to.deep.equal({
      a: new ExactNumber('9007199254740993'),
      b: new ExactNumber('-9223372036854775808'),
      c: 9007199254740991,
      d: new ExactNumber('0.1234567890123456789'),
    });
  });

  const rejected: Readonly<Record<string, string>> = {
    '{"a": 1, "a": 2}': 'the member "a" occurs twice in an object',
    '{"b": {"a": 1, "\\u0061": 2}}': 'the member "a" occurs twice in an object',
    '{"a": 1,}': 'the body is not valid JSON',
    '{a: 1}': 'the body is not valid JSON',
    '{"a": 01}': 'the body is not valid JSON',
    '{"a": 1} {}': 'the body is not valid JSON',
    '{"a": NaN}': 'the body is not valid JSON',
    '{"a": 1e999}': 'the body is not valid JSON',
    "{'a': 1}": 'the body is not valid JSON',
    '{"a": "\n"}': 'the body is not valid JSON',
    '"\\': 'the body is not valid JSON',
    ' ': 'the body is not valid JSON',
    '\ufeff{}': 'the body is not valid JSON',
  };
  for (const [text, reason] of Object.entries(rejected)) {
    it(`rejects ${JSON.stringify(text)}`, () => expect(() => parse(text)).to.throw(reason));
  }

  it('allows equal members of different objects', () => {
    expect(parse('[{"a": {"a": 1}}, {"a": "a"}]')).to.deep.equal([{ a: { a: 1 } }, { a: 'a' }]);
  });

  it('rejects other encodings', () => {
    expect(() => parseStrictJson(Buffer.from([0x22, 0xff, 0x22]))).to.throw('the body is not UTF-8');
    expect(() => parseStrictJson(Buffer.from('{}', 'utf16le'))).to.throw('the body is not valid JSON');
  });

  it('rejects deep nesting before it is parsed', () => {
    expect(parse(`${'['.repeat(100)}${']'.repeat(100)}`)).to.be.an('array');
    expect(() => parse('[{"a":'.repeat(51))).to.throw('the JSON is nested more than 100 levels deep');
    expect(() => parse('['.repeat(1_000_000))).to.throw('the JSON is nested more than 100 levels deep');
  });

  it('keeps __proto__ a member', () => {
    const json = parse('{"__proto__": {"admin": true}}') as { admin?: unknown };
    expect(json.admin).to.equal(undefined);
    expect(Object.keys(json)).to.deep.equal(['__proto__']);
  });
});
