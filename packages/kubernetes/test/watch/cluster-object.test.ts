import { expect } from 'chai';
import { isObjectName, pathOf } from '../../src/watch/cluster-object.ts';

const SECRETS = { group: '', version: 'v1', plural: 'secrets' };

describe('paths of objects', () => {
  it('contain namespace and name, encoded', () => {
    expect(pathOf(SECRETS, 'shop', 'a.b')).to.equal('/api/v1/namespaces/shop/secrets/a.b');
    expect(pathOf(SECRETS, 'shop', '../../x?y')).to.equal('/api/v1/namespaces/shop/secrets/..%2F..%2Fx%3Fy');
  });

  for (const name of ['.', '..']) {
    it(`do not exist for the name ${name}, which would change the path`, () => {
      expect(() => pathOf(SECRETS, 'shop', name)).to.throw(`invalid name "${name}"`);
      expect(() => pathOf(SECRETS, name, 'a')).to.throw(`invalid name "${name}"`);
    });
  }
});

describe('names of objects', () => {
  for (const name of ['a', 'a.b-c', '0', `a${'b'.repeat(252)}`])
    it(`may be ${name.slice(0, 20)}`, () => expect(isObjectName(name)).to.equal(true));
  for (const name of ['', 'a/b', '..', '.a', 'a.', 'A', 'a b', `a${'b'.repeat(253)}`])
    it(`are not ${JSON.stringify(name.slice(0, 20))}`, () => expect(isObjectName(name)).to.equal(false));
});
