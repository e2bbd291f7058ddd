import { expect } from 'chai';
import { isHost } from '../../src/syntax/host.ts';

describe('isHost', () => {
  const good = ['a', 'a.b-c_d', 'a:80', '1.2.3.4', '1.2.3.4:65535', '[::1]', '[::1]:443', '[::ffff:1.2.3.4]'];
  const bad = [
    '',
    ':80',
    'a:',
    'a:-1',
    'a:65536',
    'a:123456',
    'a b',
    'a,b',
    'a@b',
    'a/b',
    'a?b',
    'a#b',
    'a\\b',
    'a%2eb',
    '[::1',
    '::1',
    '[]',
    '[g::]',
    'ä',
    'a\n',
  ];
  for (const value of good) it(`accepts ${value}`, () => expect(isHost(value)).to.equal(true));
  for (const value of bad) it(`rejects ${JSON.stringify(value)}`, () => expect(isHost(value)).to.equal(false));
});
