import { expect } from 'chai';
import { memorySource } from '../../src/source/memory.ts';
import { severalSources } from '../../src/source/several.ts';

const upstream = (name: string) => ({ apiVersion: 'gw.vendor.io/v1', kind: 'Upstream', metadata: { name } });

describe('several sources', () => {
  it('deliver their first listing together, then each change', async () => {
    const [a, b] = [memorySource({ a: upstream('a') }), memorySource({ b: upstream('b') })];
    const changes: string[][] = [];
    const source = severalSources([a, b]);
    await source.start((change) => void changes.push([...change.keys()]));
    b.set('c', upstream('c'));
    a.delete('a');
    await source.close();
    a.set('d', upstream('d'));
    expect(source.name).to.equal('memory+memory');
    expect(changes).to.deep.equal([['memory:a', 'memory:b'], ['memory:c'], ['memory:a']]);
  });
});
