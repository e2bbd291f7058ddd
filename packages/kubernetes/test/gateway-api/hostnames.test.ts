import { expect } from 'chai';
import { commonHostnames, isWithin, specificity } from '../../src/gateway-api/hostnames.ts';

describe('host names of the Gateway API', () => {
  const within: readonly [string, string, boolean][] = [
    ['a.example.com', '*', true],
    ['a.example.com', 'a.example.com', true],
    ['a.example.com', '*.example.com', true],
    ['b.a.example.com', '*.example.com', true],
    ['*.a.example.com', '*.example.com', true],
    ['example.com', '*.example.com', false],
    ['badexample.com', '*.example.com', false],
    ['.example.com', '*.example.com', false],
    ['*.example.com', 'a.example.com', false],
    ['*.example.com', '*.a.example.com', false],
    ['a.example.org', '*.example.com', false],
  ];
  for (const [name, wider, expected] of within) {
    it(`${name} is ${expected ? '' : 'not '}within ${wider}`, () => {
      expect(isWithin(name, wider)).to.equal(expected);
    });
  }

  it('in common are the narrower ones, each once, in lower case', () => {
    expect(
      commonHostnames('*.Example.com', ['A.example.COM', 'a.example.com', 'B.example.COM', '*.com', 'a.example.org']),
    ).to.deep.equal(['a.example.com', 'b.example.com', '*.example.com']);
  });

  it('in common are those of one side if the other has none', () => {
    expect(commonHostnames(undefined, ['a.com'])).to.deep.equal(['a.com']);
    expect(commonHostnames('', [])).to.deep.equal(['*']);
    expect(commonHostnames('a.com')).to.deep.equal(['a.com']);
  });

  it('are more specific if they are exact, then if they are longer', () => {
    const names = ['a.com', '*', '*.long.example.com', 'b.example.com', '*.com'];
    expect(names.sort((a, b) => specificity(b) - specificity(a))).to.deep.equal([
      'b.example.com',
      'a.com',
      '*.long.example.com',
      '*.com',
      '*',
    ]);
  });
});
