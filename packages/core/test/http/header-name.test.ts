import { expect } from 'chai';
import { isHeaderName } from '../../src/http/header-name.ts';

describe('isHeaderName', () => {
  it('accepts every character of a token', () => {
    expect(isHeaderName("!#$%&'*+-.^_`|~09azAZ")).to.equal(true);
  });

  for (const name of [
    '',
    ' ',
    'a b',
    'a:',
    ':path',
    'a\n',
    'a\r\nb',
    'a\0',
    'ä',
    'a/b',
    '"a"',
    '(a)',
    'a,b',
    'a;b',
    'a=b',
    '[a]',
    '{a}',
    'a@b',
  ])
    it(`rejects ${JSON.stringify(name)}`, () => expect(isHeaderName(name)).to.equal(false));
});
