import { expect } from 'chai';
import { parameterExtractors, parameterProblems } from '../../src/syntax/parameter-pattern.ts';
import { compileRegex } from '../../src/syntax/regex.ts';

function extract(pattern: string, value: string): Record<string, string | undefined> {
  const extractors = Object.entries(parameterExtractors({ path: pattern }));
  return Object.fromEntries(
    extractors.map(([name, { regex, subgroup }]) => [name, compileRegex(regex!).fullGroups(value)?.[subgroup!]]),
  );
}

describe('patterns of parameters', () => {
  it('extract each parameter of a value that matches as a whole', () => {
    expect(extract('/users/{ user_id }/pets/{pet}', '/users/7/pets/Rex-1.a?x=1')).to.deep.equal({
      user_id: '7',
      pet: 'Rex-1.a',
    });
    expect(extract('/pets/{pet}', '/a/pets/1')).to.deep.equal({ pet: undefined });
    expect(extract('/pets/{pet}', '/pets/1/2')).to.deep.equal({ pet: undefined });
    expect(extract('/pets/{pet}', '/pets/')).to.deep.equal({ pet: undefined });
  });

  it('compare the rest of the pattern as it is', () => {
    expect(extract('/a+(b)[c]^$|*.{x}', '/a+(b)[c]^$|*.1')).to.deep.equal({ x: '1' });
    expect(extract('/a.{x}', '/ab1')).to.deep.equal({ x: undefined });
  });

  it('name what is wrong with them', () => {
    const messages = (headers: Record<string, string>) => parameterProblems({ headers }).map(({ message }) => message);
    expect(messages({ a: '{id}', b: 'no parameter' })).to.deep.equal([]);
    expect(messages({ a: '{id' })).to.deep.equal(["invalid pattern '{id': unmatched brace"]);
    expect(messages({ a: '{{id}}' })).to.deep.equal(["invalid pattern '{{id}}': unmatched brace"]);
    expect(messages({ a: '{}', b: '{1a}', c: '{__proto__}' })).to.deep.equal([
      "invalid parameter '': names have letters, digits and underscores",
      "invalid parameter '1a': names have letters, digits and underscores",
      "invalid parameter '__proto__': names have letters, digits and underscores",
    ]);
    expect(messages({ a: '{id}/{id}' })).to.deep.equal(['the parameter id appears twice']);
  });
});
