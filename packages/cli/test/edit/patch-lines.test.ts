import { expect } from 'chai';
import { patchLines } from '../../src/edit/patch-lines.ts';

describe('patchLines', () => {
  for (const [what, written, before, after, expected] of [
    ['returns the new text if the old one was written as rendered', 'a\nb\n', 'a\nb\n', 'a\nc\n', 'a\nc\n'],
    [
      'keeps the layout of unchanged lines',
      'a:   1\n\n\nb: 2\nc: 3\n',
      'a: 1\n\nb: 2\nc: 3\n',
      'a: 1\n\nb: 2\nc: 4\n',
      'a:   1\n\n\nb: 2\nc: 4\n',
    ],
    ['inserts lines', 'a:  1\nb:  2\n', 'a: 1\nb: 2\n', 'a: 1\nx: 0\nb: 2\n', 'a:  1\nx: 0\nb:  2\n'],
    ['removes lines', 'a:  1\nx:  0\nb:  2\n', 'a: 1\nx: 0\nb: 2\n', 'a: 1\nb: 2\n', 'a:  1\nb:  2\n'],
    ['replaces a line with several', 'a:  1\nb:  2\n', 'a: 1\nb: 2\n', 'a: 1\nb:\n  - 2\n', 'a:  1\nb:\n  - 2\n'],
    [
      'changes the beginning and the end',
      'a:  1\nm:  0\nz:  1\n',
      'a: 1\nm: 0\nz: 1\n',
      'a: 2\nm: 0\nz: 2\n',
      'a: 2\nm:  0\nz: 2\n',
    ],
  ] as const)
    it(what, () => expect(patchLines(written, before, after)).to.equal(expected));

  it('gives up if the texts are too long to compare', () => {
    const lines = (letter: string) => Array.from({ length: 2100 }, (_, i) => `${letter}${i}`).join('\n');
    expect(patchLines(lines('a'), lines('b'), lines('c'))).to.equal(undefined);
  });
});
