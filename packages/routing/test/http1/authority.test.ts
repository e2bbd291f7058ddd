import { expect } from 'chai';
import { parseAbsoluteTarget } from '../../src/http1/authority.ts';

describe('parseAbsoluteTarget', () => {
  it('parses a target', () => {
    expect(parseAbsoluteTarget('HTTP://A:1/x?y')).to.deep.equal({ authority: 'A:1', path: '/x?y' });
    expect(parseAbsoluteTarget('https://a')).to.deep.equal({ authority: 'a', path: '/' });
    expect(parseAbsoluteTarget('http://a?b')).to.deep.equal({ authority: 'a', path: '/?b' });
    expect(parseAbsoluteTarget('ftp://a/')).to.equal(undefined);
    expect(parseAbsoluteTarget('/http://a/')).to.equal(undefined);
  });
});
