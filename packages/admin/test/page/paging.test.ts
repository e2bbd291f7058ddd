import { expect } from 'chai';
import { pagedRows, pager, PAGE_SIZE, wordsIn } from '../../src/page/paging.ts';

const ROWS = Array.from({ length: 120 }, (_, i) => i);
const paged = (query: string, rows = ROWS) => pagedRows(rows, new URLSearchParams(query));

describe('pagedRows', () => {
  it('returns the rows of a page', () => {
    expect(paged('page=2')).to.deep.include({ page: 2, pages: 3, total: 120 });
    expect(paged('page=2').rows[0]).to.equal(PAGE_SIZE);
    expect(paged('page=3').rows).to.have.length(20);
  });

  const NEAREST = { '': 1, 'page=0': 1, 'page=-4': 1, 'page=99': 3, 'page=x': 1, 'page=1.5': 1, 'page=1e999': 1 };
  for (const [query, page] of Object.entries(NEAREST))
    it(`returns page ${page} for ?${query}`, () => expect(paged(query).page).to.equal(page));

  it('returns one empty page without rows', () => {
    expect(paged('', [])).to.deep.equal({ rows: [], total: 0, page: 1, pages: 1 });
  });
});

describe('pager', () => {
  it('keeps the other parameters in its links', () => {
    const parameters = new URLSearchParams('q=a+b&page=2');
    const { text } = pager('/list', pagedRows(ROWS, parameters), parameters);
    expect(text).to.contain('href="/list?q=a+b&#38;page=3"').and.contain('51–100 of 120');
  });
});

describe('wordsIn', () => {
  it('matches texts that contain every word, in any case', () => {
    const matches = wordsIn(' Shop  CART ');
    expect([matches(() => 'the cart of a shop'), matches(() => 'a shop')]).to.deep.equal([true, false]);
  });

  it('does not create texts without a query', () => {
    expect(
      wordsIn(null)(() => {
        throw new Error('created');
      }),
    ).to.equal(true);
  });
});
