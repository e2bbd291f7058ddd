import { expect } from 'chai';
import { createContext } from '@edge-gateway/core';
import { createRouter } from '../src/router.ts';
import { directOf, hostOf, LISTENER, snapshotOf } from './snapshots.ts';

describe('a router', () => {
  it('returns what of the changed parts cannot be compiled', async () => {
    const router = createRouter({ context: createContext() });
    const good = hostOf([directOf('a')], { name: 'gw-system.good', domains: ['good'] });
    const invalid = directOf('b', { matchers: [{ regex: '(' }, { regex: '[' }] });
    const bad = hostOf([directOf('a'), invalid], { name: 'gw-system.bad', domains: ['bad'] });
    expect(router.apply(snapshotOf([good]))).to.deep.equal([]);
    const failures = router.apply(snapshotOf([bad, good]));
    expect(failures).to.deep.equal([
      { listener: LISTENER, virtualHost: 'gw-system.bad', field: 'routes[1]', reason: 'missing closing )' },
    ]);
    await router.close();
  });
});
