import type { HostState } from '@edge-gateway/core';
import { expect } from 'chai';
import { mergeHosts } from '../../src/workers/merged-hosts.ts';

describe('the hosts of an upstream in all workers', () => {
  it('have the newest failure', () => {
    const report = (at: number) => {
      const host = { address: '192.0.2.1', port: 80, priority: 0, counters: {}, healthFlags: [], lastFailure: { at } };
      return new Map([['a', [host as unknown as HostState]]]);
    };
    const merged = mergeHosts([report(2), report(3), report(1)], 'a');
    expect(merged!.map(({ lastFailure }) => lastFailure!.at)).to.deep.equal([3]);
    expect(mergeHosts([report(1)], 'b')).to.equal(undefined);
  });
});
