export interface Product {
  readonly id: string;
  readonly title: string;
  readonly author: string;
  readonly pages: number;
  readonly year: number;
  readonly descriptionHtml: string;
}

export interface Details {
  readonly id: string;
  readonly author: string;
  readonly year: number;
  readonly type: string;
  readonly pages: number;
  readonly publisher: string;
  readonly language: string;
  readonly 'ISBN-10': string;
  readonly 'ISBN-13': string;
}

export interface Review {
  readonly reviewer: string;
  readonly text: string;
}

/** The books of the sample: the first is the one everybody knows. */
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

export function detailsOf(product: Product): Details {
  return {
    id: product.id,
    author: product.author,
    year: product.year,
    type: 'paperback',
    pages: product.pages,
    publisher: 'PublisherA',
    language: 'English',
    'ISBN-10': '1234567890',
    'ISBN-13': '123-1234567890',
  };
}

export const REVIEWS: readonly Review[] = [
  { reviewer: 'Reviewer1', text: 'An extremely entertaining play by Shakespeare. The slapstick humour is refreshing!' },
  {
    reviewer: 'Reviewer2',
    text: 'Absolutely fun and entertaining. The play lacks thematic depth when compared to other plays by Shakespeare.',
  },
];

export const RATINGS: Readonly<Record<string, number>> = { Reviewer1: 5, Reviewer2: 4 };
