import { expect } from 'chai';
import { columnsOf, padColumns } from '../../src/output/text-width.ts';

describe('columns', () => {
  it('counts what a terminal shows: two for wide characters and emoji, none for combining marks', () => {
    const widths: [text: string, columns: number][] = [
      ['', 0],
      ['abc', 3],
      ['é', 1],
      ['e\u0301', 1],
      ['漢字', 4],
      ['👍 ok', 5],
      ['ｆｕｌｌ', 8],
      ['→ x', 3],
      ['👩‍👩‍👧‍👦', 2],
    ];
    for (const [text, columns] of widths) expect(columnsOf(text), text).to.equal(columns);
  });

  it('fills up to a width, and leaves what is wider', () => {
    expect(padColumns('漢', 4)).to.equal('漢  ');
    expect(padColumns('wide', 2)).to.equal('wide');
  });
});
