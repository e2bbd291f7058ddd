import { expect } from 'chai';
import { nearest, suggest } from '../../src/syntax/did-you-mean.ts';

describe('nearest', () => {
  const words = ['prefixRewrite', 'hostRewrite', 'timeout', 'retries', 'ssl'];
  const cases: [word: string, found: string | undefined][] = [
    ['prefixRewrit', 'prefixRewrite'],
    ['prefxiRewrite', 'prefixRewrite'],
    ['PREFIXREWRITE', 'prefixRewrite'],
    ['timout', 'timeout'],
    ['retry', undefined],
    ['sls', 'ssl'],
    ['s', undefined],
    ['', undefined],
    ['something', undefined],
  ];
  for (const [word, found] of cases) {
    it(`finds ${found ?? 'nothing'} for ${word || 'an empty word'}`, () => expect(nearest(word, words)).equal(found));
  }
});

describe('suggest', () => {
  it('lists the known names if none is near and there are few', () => {
    expect(suggest('zzz', ['a', 'b'])).equal('known: a, b');
    expect(suggest('zzz', [])).equal(undefined);
    expect(
      suggest(
        'zzz',
        Array.from({ length: 20 }, (_, i) => `field${i}`),
      ),
    ).equal(undefined);
  });
});
