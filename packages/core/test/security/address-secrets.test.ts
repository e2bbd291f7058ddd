import { expect } from 'chai';
import { withoutAddressSecrets } from '../../src/security/address-secrets.ts';

const CASES: readonly (readonly [written: string, shown: string])[] = [
  ['redis://:pass@host:6379', 'redis://*@host:6379'],
  ['rediss://user:p@ss/word@host:6379', 'rediss://*@host:6379'],
  ['https://user:pass@auth.example.com/check', 'https://*@auth.example.com/check'],
  ['https://auth.example.com/check?key=abc&user=b#end', 'https://auth.example.com/check?key=*&user=*#end'],
  ['https://auth.example.com/check?abc', 'https://auth.example.com/check?*'],
  ['https://u:p@auth.example.com/?key=a=b', 'https://*@auth.example.com/?key=*'],
  ['https://auth.example.com/check', 'https://auth.example.com/check'],
  ['/path?key=abc', '/path?key=abc'],
  ['ann@example.com', 'ann@example.com'],
  ['see https://a.example/?b=c', 'see https://a.example/?b=c'],
];

describe('withoutAddressSecrets', () => {
  for (const [written, shown] of CASES) {
    it(`shows ${shown}`, () => {
      expect(withoutAddressSecrets(written, '*')).to.equal(shown);
    });
  }
});
