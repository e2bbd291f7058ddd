import type { ProxyRejection, Snapshot } from '@edge-gateway/core';
import { TYPE } from '@edge-gateway/xds/resources';
import { expect } from 'chai';
import { createKnownRejections } from '../../src/roles/known-rejections.ts';

const host = (name: string) => ({ name });
const snapshotOf = (...virtualHosts: object[]) =>
  ({ listeners: [{ name: 'l', virtualHosts, httpOptions: {} }] }) as unknown as Snapshot;
const rejection = (name: string): ProxyRejection => ({
  type: TYPE.virtualHost,
  resource: `l/${name}`,
  field: '',
  message: 'x',
});
const turn = () => new Promise((resolve) => setImmediate(resolve));

describe('rejections of the snapshot in use', () => {
  it('are kept until their part changes or is gone', async () => {
    const seen: string[][] = [];
    const known = createKnownRejections((all) => void seen.push(all.map(({ resource }) => resource)));
    const [a, b] = [host('a'), host('b')];
    const first = snapshotOf(a, b);
    known.update(first, undefined, [rejection('a'), rejection('b')]);
    expect(seen).to.deep.equal([]);
    await turn();
    const second = snapshotOf(a, host('b'));
    known.update(second, first, []);
    await turn();
    const third = snapshotOf(...second.listeners[0]!.virtualHosts.slice(1));
    known.update(third, second, []);
    await turn();
    known.update(third, third, []);
    await turn();
    expect(seen).to.deep.equal([['l/a', 'l/b'], ['l/a'], []]);
  });

  it('are replaced by those of workers', async () => {
    const seen: number[] = [];
    const known = createKnownRejections((all) => void seen.push(all.length));
    known.replace([]);
    known.replace([rejection('a')]);
    await turn();
    known.replace([]);
    await turn();
    expect(seen).to.deep.equal([1, 0]);
  });
});
