import { expect } from 'chai';
import { deriveKey, digest, keyedDigest, randomToken, seal, unseal, unsealWith } from '../../src/security/seal.ts';

describe('seal', () => {
  const key = new Uint8Array(32).fill(7);
  const sealed = seal(key, 'a', 'text');

  it('opens only with the same key and purpose', () => {
    expect(unseal(key, 'a', sealed)).to.equal('text');
    expect(unseal(key, 'b', sealed)).to.equal(undefined);
    expect(unseal(new Uint8Array(32), 'a', sealed)).to.equal(undefined);
  });

  it('rejects text that was changed', () => {
    for (const bad of ['', 'x', `${sealed}=`, `${sealed}AA`, sealed.slice(0, -1), ` ${sealed}`])
      expect(unseal(key, 'a', bad), bad).to.equal(undefined);
  });

  it('never returns the same text twice, and returns tokens of 32 bytes', () => {
    expect(seal(key, 'a', 'text')).to.not.equal(sealed);
    expect(randomToken())
      .to.match(/^[\w-]{43}$/)
      .and.not.equal(randomToken());
  });

  // Sessions and cached results of earlier versions must stay readable.
  it('keeps its formats', () => {
    expect(unseal(key, 'a', 'R-GTOHEQ7dFyDfEvI0xb8kp-ZgO8I7JEn8N_ADrN1sA')).to.equal('text');
    const derived = deriveKey('a secret of more than thirty-two bytes', 'one');
    expect(Buffer.from(derived).toString('hex')).to.equal(
      '73238994f8ebfd8f38397a9c8199d15b437d6253eb6381e49f624f434d6eb71a',
    );
    expect(digest('abc')).to.equal('ungWv48Bz-pBQUDeXa4iI7ADYaOWF3qctBD_YfIAFa0');
    expect(keyedDigest(key, 'abc')).to.equal('En2kztaoObj2EYvCRGhNJmPnDLX_Ct7vyonX501aBSU');
  });

  it('opens what any of several keys sealed', () => {
    const other = new Uint8Array(32).fill(9);
    expect(unsealWith([other, key], 'a', sealed)).to.equal('text');
    for (const keys of [[], [other], [other, new Uint8Array(32)]])
      expect(unsealWith(keys, 'a', sealed)).to.equal(undefined);
    expect(unsealWith([other, key], 'b', sealed)).to.equal(undefined);
  });

  it('derives a different key for another use', () => {
    const secret = 'a secret of more than thirty-two bytes';
    expect(deriveKey(secret, 'one')).to.have.length(32);
    expect(deriveKey(secret, 'one')).to.deep.equal(deriveKey(secret, 'one'));
    expect(deriveKey(secret, 'one')).not.to.deep.equal(deriveKey(secret, 'two'));
  });
});
