import { expect } from 'chai';
import { renderTable, wrap } from '../src/table.ts';

describe('table', () => {
  it('draws borders of + and -, an upper-case header, and left-aligned cells', () => {
    const text = renderTable({
      columns: ['Name', 'Routes'],
      rows: [
        ['a', '/ -> x'],
        ['', '/longer -> y'],
      ],
    });
    expect(text.split('\n')).to.deep.equal([
      '+------+--------------+',
      '| NAME | ROUTES       |',
      '+------+--------------+',
      '| a    | / -> x       |',
      '|      | /longer -> y |',
      '+------+--------------+',
    ]);
  });

  it('draws a table without rows as its header', () => {
    expect(renderTable({ columns: ['A'], rows: [] }).split('\n')).to.deep.equal(['+---+', '| A |', '+---+']);
  });

  it('draws thousands of rows in one piece, as wide as the widest cell of any of them', () => {
    const rows = Array.from({ length: 5000 }, (_, i) => [`${i}`, i === 4321 ? '漢字 and more\nlines' : 'x']);
    const lines = renderTable({ columns: ['Id', 'Text'], rows }).split('\n');
    expect(lines).to.have.length(5000 + 1 + 4);
    expect(lines.slice(0, 4)).to.deep.equal([
      '+------+---------------+',
      '| ID   | TEXT          |',
      '+------+---------------+',
      '| 0    | x             |',
    ]);
    expect(lines[4324]).to.equal('| 4321 | 漢字 and more |');
    expect(lines.filter((line) => line.startsWith('+'))).to.have.length(3);
  });

  it('wraps at a space before the limit, else in the middle of a word, and keeps indentation', () => {
    expect(wrap('one two three four five six seven', 12)).to.equal('one two\nthree four\nfive six\nseven');
    expect(wrap('abcdefghij', 4)).to.equal('abcd\nefgh\nij');
    expect(wrap('  - abcdef', 5)).to.equal('  -\nabcde\nf');
    expect(wrap('x', Infinity)).to.equal('x');
  });

  it('shows the control characters of a hostile cell instead of sending them to the terminal', () => {
    expect(renderTable({ columns: ['A'], rows: [['\u001b[2J\u202egone']] })).to.contain('\\u001b[2J\\u202egone');
  });
});
