import { expect } from 'chai';
import { parse } from 'graphql';
import { sizeProblem } from '../../src/document/check-size.ts';
import { DEFAULT_LIMITS } from '../../src/document/limits.ts';

describe('the size of a document', () => {
  const problem = (text: string, limits: Partial<typeof DEFAULT_LIMITS>): string | undefined =>
    sizeProblem(parse(text), { ...DEFAULT_LIMITS, ...limits });
  const DEEP = 'a { b { c { d } } }';

  for (const [field, found] of [
    ['a', 'The document has more than 4 levels of fields.'],
    ['_a', 'The document has more than 4 levels of fields.'],
    ['_entities', 'The document has more than 4 levels of fields.'],
    ['alias: _a', 'The document has more than 4 levels of fields.'],
    ['__schema: _a', 'The document has more than 4 levels of fields.'],
    ['__schema', undefined],
    ['_a: __schema', undefined],
  ] as const) {
    it(`has ${found ? '5 levels' : '1 level'} below ${field}`, () => {
      expect(problem(`{ ${field} { ${DEEP} } }`, { maxQueryDepth: 4 })).to.equal(found);
      expect(problem(`{ ${field} { ${DEEP} } }`, { maxQueryDepth: 5 })).to.equal(undefined);
    });
  }

  it('counts all fields of introspection', () => {
    expect(problem(`{ __schema { ${DEEP} } }`, { maxFields: 4 })).to.equal('The document has more than 4 fields.');
    expect(problem(`{ __schema { ${DEEP} } }`, { maxFields: 5 })).to.equal(undefined);
  });

  it('counts the levels of the deepest operation and of fragments', () => {
    const text = `{ a } query B { ...F } fragment F on Q { b { c } }`;
    expect(problem(text, { maxQueryDepth: 1 })).to.equal('The document has more than 1 levels of fields.');
    expect(problem(text, { maxQueryDepth: 2 })).to.equal(undefined);
  });
});
