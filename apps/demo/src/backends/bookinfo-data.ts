export interface Product {
  readonly id: string;
  readonly title: string;
  readonly author: string;
  readonly pages: number;
  readonly year: number;
  readonly descriptionHtml: string;
}

/** The books of the sample. */
export const PRODUCTS: readonly Product[] = [
  {
    id: '0',
    title: 'The Comedy of Errors',
    author: 'William Shakespeare',
    pages: 200,
    year: 1595,
    descriptionHtml: 'Two pairs of twins, one day in Ephesus, and nobody is who he seems to be.',
  },
  {
    id: '1',
    title: 'Much Ado About Nothing',
    author: 'William Shakespeare',
    pages: 160,
    year: 1600,
    descriptionHtml: 'Beatrice and Benedick are tricked into admitting what everybody else can see.',
  },
];

export function detailsOf({ id, author, year, pages }: Product): object {
  return {
    id,
    author,
    year,
    type: 'paperback',
    pages,
    publisher: 'PublisherA',
    language: 'English',
    'ISBN-10': '1234567890',
    'ISBN-13': '123-1234567890',
  };
}

export const REVIEWS = [
  { reviewer: 'Reviewer1', text: 'An extremely entertaining play by Shakespeare. The slapstick humour is refreshing!' },
  {
    reviewer: 'Reviewer2',
    text: 'Absolutely fun and entertaining. The play lacks thematic depth when compared to other plays by Shakespeare.',
  },
];

export const RATINGS: Readonly<Record<string, number>> = { Reviewer1: 5, Reviewer2: 4 };
