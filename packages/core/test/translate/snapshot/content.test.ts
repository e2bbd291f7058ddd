import { expect } from 'chai';
import { contentText } from '../../../src/translate/snapshot/content.ts';

describe('content of a value', () => {
  it('is JSON with sorted keys, without undefined fields', () => {
    expect(contentText({ b: [1, 'x', null, undefined, true], a: { d: undefined, c: -0 } })).to.equal(
      '{"a":{"c":0},"b":[1,"x",null,null,true]}',
    );
    expect(contentText({ a: undefined })).to.equal('{}');
    expect([contentText([]), contentText([[], {}]), contentText(undefined)]).to.deep.equal(['[]', '[[],{}]', 'null']);
  });

  it('escapes texts and keys as JSON does', () => {
    const texts = [
      '',
      '"',
      '\\',
      '\n',
      '\u0000',
      '\u001f',
      '\u007f',
      'é',
      '\u2028',
      '😀',
      '\ud800',
      '\udfff',
      '__proto__',
    ];
    for (const text of texts) {
      expect(contentText(text)).to.equal(JSON.stringify(text));
      expect(contentText(Object.fromEntries([[text, text]]))).to.equal(
        `{${JSON.stringify(text)}:${JSON.stringify(text)}}`,
      );
    }
  });

  it('does not depend on the order of keys', () => {
    const keys = ['b', 'a', 'ab', 'B', '2', '10'];
    const texts = [keys, keys.toReversed(), keys.toSorted()].map((order) =>
      contentText(Object.fromEntries(order.map((key) => [key, key]))),
    );
    expect(new Set(texts).size).to.equal(1);
  });
});
