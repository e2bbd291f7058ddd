import { expect } from 'chai';
import { plainSecrets, secretText } from '../../src/index.ts';

describe('plainSecrets', () => {
  const secrets = plainSecrets({ web: { 'client-secret': 'é' }, 'a.web': { 'client-secret': 'of a' } });
  it('returns values by name, preferring namespace and name', () => {
    expect(secretText(secrets.get({ name: 'web', namespace: 'b' }), 'client-secret')).to.equal('é');
    expect(secretText(secrets.get({ name: 'web', namespace: 'a' }), 'client-secret')).to.equal('of a');
    expect(secrets.get({ name: 'toString', namespace: '' })).to.equal(undefined);
    expect(secretText(secrets.get({ name: 'web', namespace: 'b' }), 'constructor')).to.equal(undefined);
  });
  it('returns the same object each time', () => {
    const ref = { name: 'web', namespace: 'b' };
    expect(secrets.get(ref)).to.equal(secrets.get(ref));
  });
});
