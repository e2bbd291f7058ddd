import { buildSchema, parse, validate } from 'graphql';
import { expect } from 'chai';
import { exampleQuery } from '../../src/explain/example-query.ts';

function example(text: string): string {
  const schema = buildSchema(text);
  const query = exampleQuery(schema);
  expect(validate(schema, parse(query))).to.deep.equal([]);
  return query.replaceAll(/\s+/g, ' ').trim();
}

describe('an example query', () => {
  it('prefers a field without required arguments, with the first leaves of its type', () => {
    expect(
      example(
        'type Query { book(id: ID!): B books(first: Int, sort: S! = A): [B!]! } enum S { A } type B { other: B id: ID! a(b: Int!): Int title: [String] }',
      ),
    ).to.equal('{ books { id title } }');
    expect(example('type Query { all: T } type T { a: Int b: Int c: Int d: Int e: Int f: Int }')).to.equal(
      '{ all { a b c d e } }',
    );
  });

  it('has values for required arguments', () => {
    const input = 'input I { id: ID! size: Float! deep: J! other: Int } input J { all: [Int!]! on: Boolean! }';
    expect(
      example(
        `type Query { a(id: ID!, n: Int!, s: String!, e: E!, i: I!, d: D!): Int } enum E { ONE TWO } scalar D ${input}`,
      ),
    ).to.equal('{ a(id: "1", n: 1, s: "", e: ONE, i: {id: "1", size: 1, deep: {all: [], on: true}}, d: "") }');
  });

  it('looks deeper for leaves, but not without end', () => {
    expect(example('type Query { a: A } type A { b: B } type B { c: Int }')).to.equal('{ a { b { c } } }');
    expect(example('type Query { a: A b: Int } type A { a: A }')).to.equal('{ b }');
    expect(example('type Query { a: A } type A { a: A }')).to.equal('{ __typename }');
    expect(example('type Query { a(i: I!): Int b: Int! } input I @oneOf { x: Int }')).to.equal('{ b }');
    expect(example('type Query { a(i: I!): Int } input I @oneOf { x: Int }')).to.equal('{ __typename }');
  });

  it('selects fields of interfaces, and the type of unions', () => {
    expect(example('type Query { n: N } interface N { id: ID } type A implements N { id: ID }')).to.equal(
      '{ n { id } }',
    );
    expect(example('type Query { u: U } union U = A | B type A { a: Int } type B { b: Int }')).to.equal(
      '{ u { __typename } }',
    );
  });
});
