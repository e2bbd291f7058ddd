import type { Snapshot } from '@edge-gateway/core';
import { expect } from 'chai';
import { createBinding } from '../../src/roles/bind-address.ts';

const listener = (bindAddress: string) => ({ name: `listener-${bindAddress}`, bindAddress });
const snapshotOf = (...addresses: string[]) =>
  ({ proxy: 'p', listeners: addresses.map(listener) }) as unknown as Snapshot;

describe('the address of listeners', () => {
  it('replaces that of all addresses only, and keeps names and objects', () => {
    const bind = createBinding('127.0.0.2');
    const given = snapshotOf('::', '0.0.0.0', '10.0.0.1');
    const [first, second] = [bind(given), bind({ ...given })];
    expect(first.listeners.map(({ name, bindAddress }) => [name, bindAddress])).to.deep.equal([
      ['listener-::', '127.0.0.2'],
      ['listener-0.0.0.0', '127.0.0.2'],
      ['listener-10.0.0.1', '10.0.0.1'],
    ]);
    for (const [i, each] of first.listeners.entries()) expect(second.listeners[i]).to.equal(each);
  });

  it('is that of the Gateway by default', () => {
    const given = snapshotOf('::');
    expect(createBinding(undefined)(given)).to.equal(given);
  });
});
