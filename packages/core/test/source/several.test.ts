import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect } from 'chai';
import type { Kind } from '../../src/resource/resource.ts';
import { memorySource } from '../../src/source/memory.ts';
import { severalSources } from '../../src/source/several.ts';
import type { Source, SourceChange } from '../../src/source/source.ts';

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

  it('read the kinds of all of them', () => {
    const kinds = (...all: Kind[]): Source => ({ ...memorySource(), kinds: new Set(all) });
    const both = severalSources([kinds('Upstream'), kinds('Secret')]);
    expect([...both.kinds!]).to.deep.equal(['Upstream', 'Secret']);
    expect(severalSources([kinds('Upstream'), memorySource()]).kinds).to.equal(undefined);
  });

  it('do not keep the documents of the first listing', async () => {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    let deliver: ((change: SourceChange) => void) | undefined;
    const held = {
      name: 'held',
      start: async (onChange: (change: SourceChange) => void) => {
        deliver = onChange;
        onChange(new Map([['a', []]]));
      },
      close: async () => {},
    };
    let first: WeakRef<SourceChange> | undefined;
    let changes = 0;
    await severalSources([held]).start((change) => {
      changes++;
      first ??= new WeakRef(change);
    });
    // A reference is kept until the end of the turn that made it.
    await new Promise((resolve) => setImmediate(resolve));
    collect();
    expect(first!.deref()).to.equal(undefined);
    deliver!(new Map());
    expect(changes).to.equal(2);
  });
});
