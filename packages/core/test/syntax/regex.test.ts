import { expect } from 'chai';
import { RegexError, compileRegex } from '../../src/syntax/regex.ts';

describe('compileRegex', () => {
  it('rejects an expression of more than 65,536 characters before it is compiled', () => {
    expect(compileRegex('x'.repeat(65_536)).groupCount).to.equal(0);
    expect(() => compileRegex(`(${'x'.repeat(65_536)}`)).to.throw(
      RegexError,
      'it has 65537 characters, more than 65536',
    );
  });

  it('matches the whole input, or anywhere in it', () => {
    const regex = compileRegex('/api/v[0-9]+');
    expect(regex.fullMatch('/api/v12')).equal(true);
    expect(regex.fullMatch('/api/v12/x')).equal(false);
    expect(regex.test('x/api/v1/x')).equal(true);
    expect(regex.test('/api/vx')).equal(false);
  });

  it('returns the same object for the same pattern', () => {
    expect(compileRegex('same[0-9]')).equal(compileRegex('same[0-9]'));
  });

  it('returns the groups of a full match', () => {
    expect(compileRegex('/(a)?(b)').fullGroups('/b')).deep.equal(['/b', undefined, 'b']);
    expect(compileRegex('/(a)').fullGroups('/b')).equal(undefined);
  });

  const replacements: [pattern: string, input: string, substitution: string, result: string][] = [
    ['/old/(.*)', '/old/x', '/new/\\1', '/new/x'],
    ['a', 'banana', 'o', 'bonono'],
    ['(a)(b)?', 'a-ab', '[\\1\\2]', '[a]-[ab]'],
    ['x', 'axb', '<\\0>', 'a<x>b'],
    ['x', 'axb', '\\\\', 'a\\b'],
    ['x', 'axb', '$1$&', 'a$1$&b'],
    ['x', 'axb', '\\7', 'ab'],
    ['nothing', 'axb', '\\1', 'axb'],
  ];
  for (const [pattern, input, substitution, result] of replacements) {
    it(`replaces ${pattern} in ${input} by ${substitution}`, () => {
      expect(compileRegex(pattern).replaceAll(input, substitution)).equal(result);
    });
  }

  const bad: [pattern: string, offset: number][] = [
    ['a(b', 1],
    ['(a)(b', 3],
    ['a\\((b', 3],
    ['a[(](b', 4],
    ['ab)c', 2],
    ['ab[c', 2],
    ['xa**', 2],
    ['x\\', 1],
    ['x(?=a)', 1],
    ['x(?<!a)', 1],
    ['ok\\8', 2],
    ['a{2000}', 1],
  ];
  for (const [pattern, offset] of bad) {
    it(`rejects ${pattern} with the position`, () => {
      try {
        compileRegex(pattern);
        expect.fail('was accepted');
      } catch (error) {
        expect(error).instanceOf(RegexError);
        expect((error as RegexError).code).equal('ERR_CORE_REGEX');
        expect((error as RegexError).offset).equal(offset);
      }
    });
  }

  it('rejects an expression above the maximum size', () => {
    expect(() => compileRegex('a{500}', { maxProgramSize: 100 })).throw(RegexError, 'more than 100');
    expect(compileRegex('a{500}', { maxProgramSize: 2000 }).programSize).greaterThan(100);
  });

  it('keeps the most recently used', () => {
    const used = compileRegex('used-often');
    const unused = compileRegex('used-once');
    for (let i = 0; i < 10_000; i++) {
      compileRegex(`other-${i}`);
      if (i % 1000 === 0) compileRegex('used-often');
    }
    expect(compileRegex('used-often')).to.equal(used);
    expect(compileRegex('used-once')).not.to.equal(unused);
  });

  it('takes linear time on input that stalls a backtracking engine', () => {
    expect(compileRegex('(a+)+(b|c)').fullMatch('a'.repeat(20_000))).equal(false);
    expect(compileRegex('(.*)*x').test('y'.repeat(20_000))).equal(false);
  });
});
