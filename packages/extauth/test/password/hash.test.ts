import { expect } from 'chai';
import { hashApr1, matches } from '../../src/password/hash.ts';

describe('a hash of Apache', () => {
  // Of `openssl passwd -apr1 -salt abcdefgh <password>`.
  for (const [password, hash] of [
    ['password', 'FBwExRW4dCc8aL.OvjpIE1'],
    ['pässwörd', '030j6I3f1zNCF9tihqdd11'],
    ['пароль', 'bGw12bsJudNfTmc4FpOJo.'],
    ['密码🔑', '7D9J9gwNTJXG.Us7TnC9D0'],
  ] as const) {
    it(`is that of the bytes of UTF-8: ${password}`, () => {
      expect(hashApr1(password, 'abcdefgh')).to.equal(hash);
      expect(matches(password, { scheme: 'apr1', salt: 'abcdefgh', hash })).to.equal(true);
      expect(matches(`${password}x`, { scheme: 'apr1', salt: 'abcdefgh', hash })).to.equal(false);
    });
  }

  it('does not match a password with other letters', () => {
    // Their numbers differ by multiples of 256.
    const stored = { scheme: 'apr1', salt: 'abcdefgh', hash: hashApr1('A', 'abcdefgh') } as const;
    expect(matches('\u0141', stored)).to.equal(false);
  });
});
