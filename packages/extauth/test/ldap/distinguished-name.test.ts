import { expect } from 'chai';
import { canonicalName, escapeValue, parseName } from '../../src/ldap/distinguished-name.ts';

describe('distinguished names', () => {
  it('escapes every character with a meaning, so that the value is read back', () => {
    for (const text of [
      'alice',
      'a,b+c=d',
      ' a ',
      ' ',
      '  ',
      '#a',
      'a#',
      '"a"',
      '<a>;b',
      String.raw`a\2cb`,
      'a\0b\r\n',
      'é 💡',
      '\\',
      'a\u007f',
    ]) {
      const name = `uid=${escapeValue(text)},ou=people,dc=example`;
      expect(parseName(name), JSON.stringify(text)).to.deep.equal([
        [['uid', text]],
        [['ou', 'people']],
        [['dc', 'example']],
      ]);
    }
  });

  it('finds different spellings of a name equal', () => {
    const name = canonicalName('cn=the managers+ou=x,dc=example,dc=com');
    for (const other of [
      'CN=The Managers+ou=x,DC=example,DC=com',
      ' cn = the managers + ou = x , dc = example , dc = com ',
      'ou=x+cn=the  managers,dc=example,dc=com',
      String.raw`cn=the\20managers+ou=x;dc=ex\61mple;dc=com`,
    ]) {
      expect(canonicalName(other), other).to.equal(name);
    }
  });

  it('finds different names different', () => {
    const names = [
      '',
      'cn=a',
      'cn=a,cn=b',
      'cn=b,cn=a',
      'cn=a+cn=b',
      String.raw`cn=a\,cn=b`,
      String.raw`cn=a\+cn=b`,
      'cn=ab',
      'ou=a',
      'cn=',
      String.raw`cn=a\20`,
      'cn=a=b',
    ];
    expect(new Set(names.map(canonicalName)).size).to.equal(names.length);
  });

  it('rejects malformed names', () => {
    for (const name of [
      'a',
      'cn',
      '=a',
      'cn=a,',
      'cn=a,,cn=b',
      '1.=a',
      'c n=a',
      'cn="a"',
      'cn=a\\',
      String.raw`cn=\g0`,
      'cn=a\0',
    ]) {
      expect(canonicalName(name), name).to.equal(undefined);
    }
  });
});
