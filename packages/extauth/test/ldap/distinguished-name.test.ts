import { expect } from 'chai';
import { canonicalName, escapeValue, parseName, userIdOf } from '../../src/ldap/distinguished-name.ts';

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

describe('the user of an entry', () => {
  const cases: [string, found: string, asked: string, string | undefined][] = [
    ['has the spelling of the directory', 'uid=Rick,ou=people,dc=a', 'UID=rick,ou=people,dc=a', 'Rick'],
    ['is unescaped', String.raw`uid=a\2cb\20,dc=a`, String.raw`uid=A\,b\20,dc=a`, 'a,b '],
    ['is the first of several attributes', 'uid=Rick+cn=R,dc=a', 'uid=rick+cn=r,dc=a', 'Rick'],
    [
      'is unknown for an entry that another attribute names, such as an alias',
      'cn=Boss,dc=a',
      'uid=rick,dc=a',
      undefined,
    ],
    ['is unknown for another order of the attributes', 'cn=R+uid=Rick,dc=a', 'uid=rick+cn=r,dc=a', undefined],
    ['is unknown for a malformed name', 'Rick', 'uid=rick,dc=a', undefined],
    ['is unknown for the root', '', 'uid=rick,dc=a', undefined],
    ['is unknown if both are malformed', '', '', undefined],
  ];
  for (const [name, found, asked, expected] of cases) {
    it(name, () => {
      expect(userIdOf(found, asked)).to.equal(expected);
    });
  }
});
