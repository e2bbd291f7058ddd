import { expect } from 'chai';
import { deriveKey, seal, unseal } from '../../src/security/seal.ts';

describe('seal', () => {
  const key = new Uint8Array(32).fill(7);
  const sealed = seal(key, 'a', 'text');

  it('opens with the same key and purpose only', () => {
    expect(unseal(key, 'a', sealed)).to.equal('text');
    expect(unseal(key, 'b', sealed)).to.equal(undefined);
    expect(unseal(new Uint8Array(32), 'a', sealed)).to.equal(undefined);
  });

  it('rejects text that was changed', () => {
    for (const bad of ['', 'x', `${sealed}=`, `${sealed}AA`, sealed.slice(0, -1), ` ${sealed}`])
      expect(unseal(key, 'a', bad), bad).to.equal(undefined);
  });

  it('derives another key for another use', () => {
    const secret = 'a secret of more than thirty-two bytes';
    expect(deriveKey(secret, 'one')).to.have.length(32);
    expect(deriveKey(secret, 'one')).to.deep.equal(deriveKey(secret, 'one'));
    expect(deriveKey(secret, 'one')).not.to.deep.equal(deriveKey(secret, 'two'));
  });
});
