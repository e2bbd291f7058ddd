import { createContext } from '@edge-gateway/core';
import { expect } from 'chai';
import { SharedClients } from '../../src/remote/shared-clients.ts';

describe('shared connections to an auth server', () => {
  it('stay open until each user has released them, also one that releases them twice', () => {
    const shared = new SharedClients();
    const hold = () => shared.hold({ name: 'auth', namespace: 'gw-system' }, '', createContext());
    const [one, other] = [hold(), hold()];
    expect(one.clients).to.equal(other.clients);
    one.release();
    one.release();
    const third = hold();
    expect(third.clients).to.equal(other.clients);
    third.release();
    other.release();
    const next = hold();
    expect(next.clients).to.not.equal(one.clients);
    next.release();
  });
});
