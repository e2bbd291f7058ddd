import { expect } from 'chai';
import { checkSameNode, identityOf } from '../../src/server/node-identity.ts';

describe('the node of a stream', () => {
  const first = identityOf({ id: 'a', cluster: 'gateway-proxy' });

  it('may be left out of later requests, and repeated', () => {
    for (const node of [undefined, null, { id: '' }, { id: 'a', cluster: 'gateway-proxy' }])
      expect(() => checkSameNode(first, node)).to.not.throw();
  });

  it('must not become another node, nor serve another proxy', () => {
    for (const node of [
      { id: 'b', cluster: 'gateway-proxy' },
      { id: 'a', cluster: 'other-proxy' },
      { id: 'b', cluster: 'other-proxy' },
    ])
      expect(() => checkSameNode(first, node), JSON.stringify(node)).to.throw('the node of a stream must not change');
  });
});
