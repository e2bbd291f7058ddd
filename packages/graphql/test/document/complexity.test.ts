import { expect } from 'chai';
import { buildSchema, parse, type OperationDefinitionNode } from 'graphql';
import { complexityOf } from '../../src/document/complexity.ts';
import { MAX_COMPLEXITY } from '../../src/document/list-size.ts';
import { mergeSchemas } from '../../src/join/merge-schemas.ts';
import { readSchema } from '../../src/schema/read-schema.ts';

const SCHEMA = buildSchema(`
  directive @listSize(assumedSize: Int, slicingArguments: [String!], sizedFields: [String!]) on FIELD_DEFINITION
  input Page { size: Int first: Int = 4 inner: Page }
  input Filter { size: Int where: Filter take: Int page: Page }
  scalar Any
  interface Node { id: ID  friends: [Node!]! }
  type User implements Node { id: ID name: String friends: [Node!]! posts(limit: Int = 3): [Post] tags: [String] }
  type Post implements Node { id: ID friends: [Node!]! title: String }
  type Edge { node: User }
  type Connection { edges: [Edge] total: Int }
  type Query {
    me: User
    users(first: Int, last: Int, limit: Any): [User!]!
    connection(first: Int): Connection
    nested: [[User]]
    paged(pageSize: Int, page_size: Int, perPage: Int, per_page: Int, take: Int): [User]
    sized(page: Page, filter: Filter): [User]
    assumed: [User] @listSize(assumedSize: 50)
    slices(input: Filter, max: Int, first: Int): [User] @listSize(slicingArguments: ["max", "input.page.size"])
    edges(first: Int): Connection @listSize(sizedFields: ["edges"], assumedSize: 7)
  }
  type Mutation { rename(name: String): User }
  type Subscription { renamed: User }
`);

function complexity(text: string, variables: Record<string, unknown> = {}): number {
  const document = parse(text);
  const definition = document.definitions.find(
    (each): each is OperationDefinitionNode => each.kind === 'OperationDefinition',
  )!;
  return complexityOf({ schema: SCHEMA, operation: { document, definition, text, name: undefined }, variables });
}

describe('the complexity of an operation', () => {
  const cases: [string, number, Record<string, unknown>?][] = [
    ['{ me { id } }', 2],
    ['{ me { id name } }', 3],
    ['{ users { id } }', 11],
    ['{ users(first: 20) { name posts { title } } }', 1 + 20 * (1 + 1 + 3)],
    ['{ users(last: 5) { id } }', 6],
    ['{ users(first: 5, last: 7) { id } }', 8],
    ['{ users(first: 2) { friends { id } } }', 1 + 2 * (1 + 10)],
    ['query ($n: Any) { users(limit: $n) { __typename } }', 1, { n: '9'.repeat(400) }],
    ['{ users(first: 0) { id name } }', 1],
    ['{ users(first: -5) { id } }', 11],
    ['{ users(first: null) { id } }', 11],
    ['{ users { tags } }', 11],
    ['{ nested { id } }', 11],
    ['{ connection(first: 4) { total edges { node { id } } } }', 1 + 4 * (1 + 1 + 1 + 1)],
    ['{ connection { edges { node { id } } } }', 1 + 1 + 10 * 2],
    ['query ($n: Int) { users(first: $n) { id } }', 31, { n: 30 }],
    ['query ($n: Int = 7) { users(first: $n) { id } }', 8],
    ['query ($n: Int = 7) { users(first: $n) { id } }', 11, { n: null }],
    ['query ($n: Int) { users(first: $n) { id } }', 11],
    ['query ($n: Any) { users(limit: $n) { id } }', 41, { n: '40' }],
    ['query ($n: Any) { users(limit: $n) { id } }', 11, { n: { a: 1 } }],
    ['query ($n: Any) { users(limit: $n) { id } }', 11, { n: Number.NaN }],
    ['query ($n: Int) { users(first: $n) { id } }', 11, Object.create({ n: 99 }) as Record<string, unknown>],
    ['{ paged(pageSize: 20) { id } }', 21],
    ['{ paged(page_size: 20, per_page: 30) { id } }', 31],
    ['query ($n: Int = 40) { paged(perPage: 5, take: $n) { id } }', 41],
    ['{ sized(page: { size: 20 }) { id } }', 21],
    ['{ sized(page: { first: 2, size: 3 }) { id } }', 4],
    ['{ sized(page: {}) { id } }', 5],
    ['query ($n: Int) { sized(page: { size: $n, first: 1 }) { id } }', 31, { n: 30 }],
    ['query ($p: Page) { sized(page: $p) { id } }', 61, { p: { inner: { first: 60 } } }],
    ['query ($p: Page = { size: 70 }) { sized(page: $p) { id } }', 71],
    ['{ sized(filter: { size: 42 }) { id } }', 11],
    ['{ sized(filter: { where: { take: 42 } }) { id } }', 43],
    ['query ($f: Filter) { sized(filter: $f) { id } }', 81, { f: { page: { size: 80 } } }],
    ['{ assumed { id } }', 51],
    ['{ slices(first: 20) { id } }', 11],
    ['{ slices(max: 20) { id } }', 21],
    ['{ slices(max: 2, input: { page: { size: 30 } }) { id } }', 31],
    ['{ edges { total edges { node { id } } } }', 1 + 1 + (1 + 7 * 2)],
    ['{ edges(first: 3) { ...C } } fragment C on Connection { edges { node { id } } }', 1 + (1 + 3 * 2)],
    ['{ __typename me { __typename } }', 1],
    ['{ __schema { types { fields { args { type { name } } } } } }', 1],
    ['{ a: me { id } b: me { id } }', 4],
    ['{ me { id @skip(if: true) } }', 2],
    ['{ me { ...F ...F } } fragment F on User { id name }', 5],
    ['{ me { friends { ... on User { name } ... on Post { title } id } } }', 1 + 1 + 10 * 3],
    [
      '{ connection(first: 2) { ...C } other: connection { ...C } } fragment C on Connection { edges { node { id } } }',
      1 + 2 * 3 + (1 + 1 + 20),
    ],
    ['mutation { rename(name: "a") { id } }', 2],
    ['subscription { renamed { id name } }', 3],
    ['{ users(first: 2147483647) { posts(limit: 2147483647) { id } } }', MAX_COMPLEXITY],
  ];
  for (const [text, expected, variables] of cases) {
    const given = variables ? ` with ${JSON.stringify(variables)}` : '';
    it(`${text}${given} is ${expected}`, () => expect(complexity(text, variables)).to.equal(expected));
  }

  it('uses @listSize without a definition, also in a joined API', () => {
    const { schema } = readSchema('type Query { all: [Item] @listSize(assumedSize: 30) } type Item { id: ID }');
    const joined = mergeSchemas([{ name: 'a', api: { schema } }]);
    const text = '{ all { id } }';
    const document = parse(text);
    const definition = document.definitions[0] as OperationDefinitionNode;
    const operation = { document, definition, text, name: undefined };
    expect(complexityOf({ schema, operation, variables: {} })).to.equal(31);
    expect(complexityOf({ schema: joined, operation, variables: {} })).to.equal(31);
  });

  it('is bounded and linear for fragments that double 60 times', () => {
    const doubled = Array.from({ length: 60 }, (_each, i) => `fragment F${i} on User { ...F${i + 1} ...F${i + 1} }`);
    const text = `{ me { ...F0 } } ${doubled.join('\n')} fragment F60 on User { id }`;
    expect(complexity(text)).to.equal(MAX_COMPLEXITY);
  });

  it('ends for fragments in a cycle', () => {
    expect(complexity('{ me { ...A } } fragment A on User { id ...B } fragment B on User { name ...A }')).to.equal(3);
  });
});
