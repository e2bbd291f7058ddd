import { expect } from 'chai';
import { parseToken } from '../../../src/security/jwt/token.ts';

const encoded = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');

describe('the form of a token', () => {
  const token = (header: object = {}): string =>
    [{ alg: 'HS256', ...header }, { sub: 'ann' }].map(encoded).join('.') + '.c2ln';

  it('is read up to the maximum size, and not beyond', () => {
    const text = token();
    expect(parseToken(text, { maxBytes: text.length })).to.include({ text, alg: 'HS256' });
    expect(parseToken(text, { maxBytes: text.length - 1 })).to.equal('badForm');
  });

  it('must not change how the payload is read, also without crit', () => {
    for (const b64 of [true, false]) expect(parseToken(token({ b64 }))).to.equal('verificationFails');
    expect(parseToken(token({ crit: [] }))).to.equal('verificationFails');
  });
});
