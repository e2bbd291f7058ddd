import { expect } from 'chai';
import { columnsOf } from '../../src/output/text-width.ts';
import { renderTable, wrapLine, wrapText } from '../../src/output/table.ts';

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

  it('breaks no header of a table without rows, and leaves out one that does not fit', () => {
    const columns = ['Gateway', 'Virtual Services', 'Status'];
    expect(renderTable({ columns, rows: [] }, 38)).to.equal('GATEWAY  VIRTUAL SERVICES  STATUS');
    expect(renderTable({ columns, rows: [] }, 30)).to.equal('');
  });

  it('breaks no list item after its dash', () => {
    const item = '- a-host.example:8080';
    const rows = [['upstream-a', 'Accepted with a remark', item]];
    for (const width of [36, 40, 44, 48, 52, 56, 60])
      expect(renderTable({ columns: ['Upstream', 'Status', 'Details'], rows }, width), `${width}`).to.contain(item);
  });

  it('wraps at a space before the limit, else in the middle of a word, and keeps indentation', () => {
    expect(wrapLine('one two three four five six seven', 12)).to.deep.equal([
      'one two',
      'three four',
      'five six',
      'seven',
    ]);
    expect(wrapLine('abcdefghij', 4)).to.deep.equal(['abcd', 'efgh', 'ij']);
    expect(wrapLine('  - abcdef', 5)).to.deep.equal(['  -', 'abcde', 'f']);
    expect(wrapLine('x', Infinity)).to.deep.equal(['x']);
  });

  it('wraps text with continued lines below the first, and leaves it unchanged without a width', () => {
    expect(wrapText('one two three\n  four five six\nseven', 10).split('\n')).to.deep.equal([
      'one two',
      '    three',
      '  four',
      '     five',
      '     six',
      'seven',
    ]);
    expect(wrapText('one two three\n', Infinity)).to.equal('one two three\n');
    expect(wrapText('\u001b[31mone two\u001b[39m', 7)).to.equal('\u001b[31mone two\u001b[39m');
  });

  it('keeps a command at the end of a line whole, because it is copied', () => {
    expect(
      wrapText('Error: no virtual service yet, see gatewayctl get vs --namespace shop', 40).split('\n'),
    ).to.deep.equal(['Error: no virtual service yet, see', '    gatewayctl get vs --namespace shop']);
    const call = 'npm run gatewayctl -- --server http://localhost:9101 check';
    expect(wrapText(`write ${call}`, 20).split('\n')).to.deep.equal(['write', `    ${call}`]);
    expect(wrapText('a gatewayctl is running there, wait', 20).split('\n')).to.deep.equal([
      'a gatewayctl is',
      '    running there,',
      '    wait',
    ]);
  });

  it('wraps by what a terminal shows, and cuts no character in two', () => {
    expect(wrapLine('漢字漢字漢', 5)).to.deep.equal(['漢字', '漢字', '漢']);
    expect(wrapLine('👩‍👩‍👧‍👦👩‍👩‍👧‍👦', 2)).to.deep.equal(['👩‍👩‍👧‍👦', '👩‍👩‍👧‍👦']);
    expect(wrapLine('e\u0301e\u0301e\u0301', 2)).to.deep.equal(['e\u0301e\u0301', 'e\u0301']);
    expect(wrapLine('ab漢', 3)).to.deep.equal(['ab', '漢']);
    expect(wrapLine('漢', 1)).to.deep.equal(['漢']);
  });

  describe('in a terminal', () => {
    const data = {
      columns: ['Virtual Service', 'Status', 'Routes'],
      rows: [
        ['shop', 'Accepted', '/cart -> gw-system.a-rather-long-name (upstream)'],
        ['漢字', 'Rejected', `/${'漢'.repeat(60)} 👍`],
      ],
    };

    it('is unchanged if it fits', () => {
      expect(renderTable(data, 200)).to.equal(renderTable(data));
      expect(renderTable(data).split('\n')).to.have.length(6);
    });

    for (const width of [40, 60, 61, 79, 100]) {
      it(`fits into ${width} columns, its widest columns wrapped`, () => {
        const lines = renderTable(data, width).split('\n');
        expect(new Set(lines.map(columnsOf)).size).to.equal(1);
        expect(columnsOf(lines[0]!)).to.be.at.most(width);
        expect(lines.join('\n')).to.contain('Accepted');
      });
    }

    it('keeps words whole if they fit, and omits empty columns', () => {
      const columns = ['Name', 'Empty', 'Status', 'Text'];
      const rows = [['shop', '', 'Accepted', 'some text that is much longer than all that stands beside it']];
      const lines = renderTable({ columns, rows }, 40).split('\n');
      expect(lines[1]).to.equal('| NAME | STATUS   | TEXT              |');
      expect(lines[3]).to.equal('| shop | Accepted | some text that is |');
      expect(renderTable({ columns, rows })).to.contain('EMPTY');
    });

    it('joins the lines of one row, so that a wrapped name leaves no gap beside it', () => {
      const rows = [
        ['identity provider', 'hosts:'],
        ['', '- 127.0.0.1:18083'],
      ];
      expect(
        renderTable({ columns: ['Upstream', 'Details'], rows }, 40)
          .split('\n')
          .slice(3, -1),
      ).to.deep.equal(['| identity | hosts:            |', '| provider | - 127.0.0.1:18083 |']);
    });

    it('becomes a block per row if a name would be broken, unless a block breaks it as well', () => {
      const problem = '*v1.Proxy.gateway-proxy_gw-system Warning: broken';
      const columns = ['Virtual Service', 'Domains', 'SSL', 'Status', 'Routes'];
      const rows = [
        ['account', 'account.localhost', 'none', `Accepted\n${problem}`, '/ -> gw-system.account-page (upstream)'],
      ];
      for (const width of [60, 80, 90, 100, 110]) {
        const text = renderTable({ columns, rows }, width);
        for (const name of ['account.localhost', '*v1.Proxy.gateway-proxy_gw-system', 'gw-system.account-page'])
          expect(text, `in ${width} columns`).to.contain(name);
        expect(text.split('\n').every((line) => columnsOf(line) <= width)).to.equal(true);
      }
      expect(renderTable({ columns, rows }, 60)).to.match(/^VIRTUAL SERVICE  account\nDOMAINS +account\.localhost\n/);
      expect(renderTable({ columns, rows }, 110)).to.match(/^\+--/);
      const long = { columns: ['Name', 'Text'], rows: [['some words', 'x'.repeat(200)]] };
      expect(renderTable(long, 40)).to.match(/^\+--/);
    });

    it('becomes a block per row if short words would be broken', () => {
      const columns = ['Name', 'Domains', 'Status', 'Empty', 'Routes'];
      const rows = [
        ['shop', 'shop.example', 'Accepted', '', '/cart -> gw-system.cart (upstream)'],
        ['', '', '', '', '/ -> 200'],
        ['other', '*', 'Warning', '', ''],
      ];
      expect(renderTable({ columns, rows }, 34).split('\n')).to.deep.equal([
        'NAME     shop',
        'DOMAINS  shop.example',
        'STATUS   Accepted',
        'ROUTES   /cart -> gw-system.cart',
        '         (upstream)',
        '         / -> 200',
        '--------------',
        'NAME     other',
        'DOMAINS  *',
        'STATUS   Warning',
      ]);
      expect(renderTable({ columns, rows: [] }, 36)).to.equal('NAME  DOMAINS  STATUS  EMPTY  ROUTES');
      expect(renderTable({ columns, rows }, 1)).to.contain('NAME     shop\n');
    });
  });

  it('shows the control characters of a hostile cell instead of sending them to the terminal', () => {
    expect(renderTable({ columns: ['A'], rows: [['\u001b[2J\u202egone']] })).to.contain('\\u001b[2J\\u202egone');
  });
});
