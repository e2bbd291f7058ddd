import type { IExecutableSchemaDefinition } from '@graphql-tools/schema';

// What the engines execute in `engines.bench.ts`.
const FIELDS = 'title author pages year';
const PARTS = 'details { publisher language } reviews { reviewer text } ratings { reviewer stars }';

/** One query, and how it is executed. */
export interface EngineCase {
  readonly title: string;
  readonly query: string;
  readonly variables?: Readonly<Record<string, unknown>>;
  /** `memory`: resolvers return values at once; `rest`: they call a service; `joined`: four APIs have the fields. */
  readonly fields: 'memory' | 'rest' | 'joined';
  /** Each operation has a text of its own. */
  readonly isNew?: true;
  /** Operations of a measurement. */
  readonly amount: number;
}

const ONE = { query: `query ($id: ID!) { book(id: $id) { ${FIELDS} } }`, variables: { id: '3' } };
const TEN = `{ books(amount: 10) { ${FIELDS} ${PARTS} } }`;
const MANY = `{ books(amount: 100) { ${FIELDS} ${PARTS} } }`;

export const CASES = {
  one: { title: 'one object', ...ONE, fields: 'memory', amount: 100_000 },
  ten: { title: '10 objects, 31 resolvers', query: TEN, fields: 'memory', amount: 20_000 },
  hundred: { title: '100 objects, 301 resolvers', query: MANY, fields: 'memory', amount: 2000 },
  deep: {
    title: '14 levels',
    query: `{ node ${'{ id next '.repeat(12)}{ id }${' }'.repeat(12)} }`,
    fields: 'memory',
    amount: 50_000,
  },
  aliases: {
    title: '15 aliases',
    query: `{ ${Array.from({ length: 15 }, (_, i) => `a${i}: book(id: "${i}") { ${FIELDS} }`).join(' ')} }`,
    fields: 'memory',
    amount: 20_000,
  },
  newOne: { title: 'one object, new text', ...ONE, fields: 'memory', isNew: true, amount: 2000 },
  newTen: { title: '10 objects, new text', query: TEN, fields: 'memory', isNew: true, amount: 1000 },
  restOne: { title: 'one object, 1 call', ...ONE, fields: 'rest', amount: 5000 },
  restTen: { title: '10 objects, 31 calls', query: TEN, fields: 'rest', amount: 300 },
  restThousand: {
    title: '1,000 objects, 1 call',
    query: `{ books(amount: 1000) { ${FIELDS} } }`,
    fields: 'rest',
    amount: 200,
  },
  joined: { title: '10 objects of 4 APIs', query: TEN, fields: 'joined', amount: 1000 },
} as const satisfies Readonly<Record<string, EngineCase>>;

export type CaseName = keyof typeof CASES;

const BOOK = 'id: ID! title: String author: String pages: Int year: Int';

/** `resolve` is written behind each field with a resolver. */
export function schemaText(resolve: (name: string) => string): string {
  return `
    type Query {
      book(id: ID!): Book ${resolve('book')}
      books(amount: Int!): [Book!] ${resolve('books')}
      node: Node
    }
    type Book {
      ${BOOK}
      details: Details ${resolve('details')} reviews: [Review!] ${resolve('reviews')} ratings: [Rating!] ${resolve('ratings')}
    }
    type Details { publisher: String language: String }
    type Review { reviewer: String text: String }
    type Rating { reviewer: String stars: Int }
    type Node { id: ID next: Node }
  `;
}

const BOOKS = Array.from({ length: 1000 }, (_, i) => ({
  id: String(i),
  title: `Title ${i}`,
  author: `Author ${i}`,
  pages: 100 + i,
  year: 1900 + (i % 100),
}));

export const PART_VALUES = {
  details: (id: string) => ({ publisher: `Publisher ${id}`, language: 'English' }),
  reviews: (id: string) => [{ reviewer: 'A', text: `Review of ${id}` }],
  ratings: (id: string) => [{ reviewer: 'A', stars: Number(id) % 5 }],
};

interface Nested {
  readonly id: string;
  readonly next: Nested | null;
}

const NODE = Array.from({ length: 20 }).reduce<Nested | null>((next, _, i) => ({ id: String(i), next }), null);

/** Resolvers that return values at once. */
export const RESOLVERS = {
  Query: {
    book: (_root: unknown, { id }: { id: string }) => BOOKS[Number(id)],
    books: (_root: unknown, { amount }: { amount: number }) => BOOKS.slice(0, amount),
    node: () => NODE,
  },
  Book: {
    details: ({ id }: { id: string }) => PART_VALUES.details(id),
    reviews: ({ id }: { id: string }) => PART_VALUES.reviews(id),
    ratings: ({ id }: { id: string }) => PART_VALUES.ratings(id),
  },
};

/** Paths of the service behind `rest`. */
export const PATHS = {
  book: '/book/{$args.id}',
  books: '/books/{$args.amount}',
  details: '/details/{$parent.id}',
  reviews: '/reviews/{$parent.id}',
  ratings: '/ratings/{$parent.id}',
} as const;

/** The response of the service behind `rest`. */
export function responseOf(path: string): unknown {
  const [, kind = '', id = ''] = path.split('/');
  if (kind === 'book') return BOOKS[Number(id)];
  return kind === 'books' ? BOOKS.slice(0, Number(id)) : PART_VALUES[kind as keyof typeof PART_VALUES](id);
}

/** The schemas of `joined`: one has the books, each of the others a part of them by the same key. */
export const JOINED: readonly IExecutableSchemaDefinition[] = [
  {
    typeDefs: `type Query { books(amount: Int!): [Book!] } type Book { ${BOOK} }`,
    resolvers: { Query: { books: RESOLVERS.Query.books } },
  },
  ...Object.entries({
    details: 'Details } type Details { publisher: String language: String }',
    reviews: '[Review!] } type Review { reviewer: String text: String }',
    ratings: '[Rating!] } type Rating { reviewer: String stars: Int }',
  }).map(([part, type]) => ({
    typeDefs: `type Query { ${part}Of(id: ID!): Book } type Book { id: ID! ${part}: ${type}`,
    resolvers: {
      Query: { [`${part}Of`]: (_root: unknown, { id }: { id: string }) => ({ id }) },
      Book: { [part]: ({ id }: { id: string }) => PART_VALUES[part as keyof typeof PART_VALUES](id) },
    },
  })),
];
