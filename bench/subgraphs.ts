import { Kind, parse, type DocumentNode, type SelectionNode, type ValueNode } from 'graphql';

type Values = Readonly<Record<string, unknown>>;
type Root = Readonly<Record<string, (args: Values) => unknown>>;

/** One of the four GraphQL servers of the federated benchmark. */
export interface Subgraph {
  readonly name: string;
  /** For a federation, with its directives. */
  readonly typeDefs: string;
  readonly root: Root;
}

const LINK = 'extend schema @link(url: "https://specs.apollo.dev/federation/v2.3", import: ["@key"])';
const BOOKS = Array.from({ length: 10 }, (_, i) => ({
  __typename: 'Book',
  id: String(i),
  title: `Title ${i}`,
  author: `Author ${i}`,
  pages: 100 + i,
  year: 1900 + i,
}));
const bookOf = ({ id }: Values): unknown => BOOKS[Number(id)];

/** A server that knows one part of each book. */
function partOf(field: string, type: string, valueOf: (id: string) => object): Subgraph {
  const [name] = type.match(/\w+/)!;
  const book = ({ id }: Values): object => ({ __typename: 'Book', id, [field]: valueOf(String(id)) });
  const types = { Details: 'publisher: String language: String', Review: 'reviewer: String text: String' };
  const fields = types[name as keyof typeof types] ?? 'reviewer: String stars: Int';
  return {
    name: field,
    typeDefs: `
      ${LINK}
      type Query { ${field}Of(id: ID!): Book }
      type Book @key(fields: "id") { id: ID! ${field}: ${type} }
      type ${name} { ${fields} }`,
    root: {
      [`${field}Of`]: book,
      _entities: ({ representations }) => (representations as readonly Values[]).map(book),
    },
  };
}

/** The servers of books, details, reviews and ratings; each gives a book by its key, alone and as an entity. */
export const SUBGRAPHS: readonly Subgraph[] = [
  {
    name: 'products',
    typeDefs: `
      ${LINK}
      type Query { book(id: ID!): Book books: [Book!] }
      type Book @key(fields: "id") { id: ID! title: String author: String pages: Int year: Int }`,
    root: {
      book: bookOf,
      books: () => BOOKS,
      _entities: ({ representations }) => (representations as readonly Values[]).map(bookOf),
    },
  },
  partOf('details', 'Details', (id) => ({
    __typename: 'Details',
    publisher: `Publisher ${id}`,
    language: 'English',
  })),
  partOf('reviews', '[Review!]', (id) => [{ __typename: 'Review', reviewer: 'A', text: `Review of ${id}` }]),
  partOf('ratings', '[Rating!]', (id) => [{ __typename: 'Rating', reviewer: 'A', stars: Number(id) % 5 }]),
];

const documents = new Map<string, DocumentNode>();

/** The answer of a subgraph, without any check, as cheaply as can be. */
export function answer({ root }: Subgraph, { query, variables }: { query: string; variables?: Values }): string {
  const known = documents.get(query);
  const document = known ?? parse(query, { noLocation: true });
  if (!known) documents.set(query, document);
  const operation = document.definitions.find((each) => each.kind === Kind.OPERATION_DEFINITION)!;
  const data = select({ __typename: 'Query', ...root }, operation.selectionSet.selections, {
    document,
    variables: variables ?? {},
  });
  return JSON.stringify({ data });
}

interface Asked {
  readonly document: DocumentNode;
  readonly variables: Values;
}

function select(value: unknown, selections: readonly SelectionNode[], asked: Asked): unknown {
  if (Array.isArray(value)) return value.map((item) => select(item, selections, asked));
  if (typeof value !== 'object' || value === null) return value;
  const source = value as Values;
  const result: Record<string, unknown> = {};
  for (const selection of selections) {
    if (selection.kind === Kind.FIELD) {
      const { name, alias, selectionSet } = selection;
      const given = source[name.value];
      const inner =
        typeof given === 'function' ? (given as (args: Values) => unknown)(argumentsOf(selection, asked)) : given;
      result[(alias ?? name).value] = selectionSet ? select(inner, selectionSet.selections, asked) : inner;
    } else {
      const { typeCondition, selectionSet } = fragmentOf(selection, asked);
      if (!typeCondition || typeCondition.name.value === source['__typename'])
        Object.assign(result, select(source, selectionSet.selections, asked));
    }
  }
  return result;
}

function fragmentOf(selection: Exclude<SelectionNode, { kind: typeof Kind.FIELD }>, { document }: Asked) {
  if (selection.kind === Kind.INLINE_FRAGMENT) return selection;
  const { value } = selection.name;
  return document.definitions.find(
    (each) => each.kind === Kind.FRAGMENT_DEFINITION && each.name.value === value,
  ) as Extract<(typeof document.definitions)[number], { kind: typeof Kind.FRAGMENT_DEFINITION }>;
}

function argumentsOf(field: Extract<SelectionNode, { kind: typeof Kind.FIELD }>, asked: Asked): Values {
  return Object.fromEntries((field.arguments ?? []).map((each) => [each.name.value, valueOf(each.value, asked)]));
}

function valueOf(node: ValueNode, asked: Asked): unknown {
  if (node.kind === Kind.VARIABLE) return asked.variables[node.name.value];
  if (node.kind === Kind.LIST) return node.values.map((each) => valueOf(each, asked));
  if (node.kind === Kind.OBJECT)
    return Object.fromEntries(node.fields.map((each) => [each.name.value, valueOf(each.value, asked)]));
  return 'value' in node ? node.value : null;
}
