import { expect } from 'chai';
import { fromByteString, toByteString } from '../../src/http/byte-string.ts';

describe('byte strings', () => {
  const PAIRS = [
    ['José', 'Jos\u00c3\u00a9'],
    ['Mikołaj', 'Miko\u00c5\u0082aj'],
    ['€😀', '\u00e2\u0082\u00ac\u00f0\u009f\u0098\u0080'],
    ['plain\t~', 'plain\t~'],
    ['', ''],
  ] as const;

  for (const [text, bytes] of PAIRS)
    it(`are the UTF-8 bytes of '${text}', and are read back`, () => {
      expect(toByteString(text)).to.equal(bytes);
      expect(fromByteString(bytes)).to.equal(text);
    });

  it('stay as they are if they are not UTF-8', () => {
    for (const bytes of ['Jos\u00e9', 'a\u0080', '\u00c3', '\u00c0\u0080'])
      expect(fromByteString(bytes)).to.equal(bytes);
  });

  it('stay as they are if they are text already', () => {
    expect(fromByteString('Mikołaj \u00c3\u00a9')).to.equal('Mikołaj \u00c3\u00a9');
  });
});
