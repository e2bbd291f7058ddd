import { expect } from 'chai';
import { memorySource } from '../../src/source/memory.ts';
import type { SourceChange } from '../../src/source/source.ts';
import { sourceContract, textSourceContract, type SourceFixture } from './source-contract.ts';

async function createFixture(texts: Record<string, string>): Promise<SourceFixture> {
  const source = memorySource(texts);
  return {
    source,
    put: (name, text) => source.set(name, text),
    remove: (name) => source.delete(name),
    unit: (name) => `memory:${name}`,
  };
}

sourceContract('memorySource', createFixture);
textSourceContract('memorySource', createFixture);

describe('memorySource', () => {
  async function read(resources: unknown): Promise<SourceChange> {
    let change: SourceChange = new Map();
    await memorySource({ a: resources }).start((first) => (change = first));
    return change;
  }

  it('accepts an object and a list of objects', async () => {
    const [one] = (await read({ kind: 'A' })).get('memory:a')!;
    expect(one).to.deep.include({ unit: 'memory:a', value: { kind: 'A' }, issues: [] });
    expect(one!.locate(['kind'])).to.deep.equal({ file: 'memory:a', line: 1, column: 1 });
    const both = (await read([{ kind: 'A' }, { kind: 'B' }])).get('memory:a')!;
    expect(both.map(({ value }) => value)).to.deep.equal([{ kind: 'A' }, { kind: 'B' }]);
  });

  it('accepts the items of a list', async () => {
    const written = (await read({ kind: 'List', items: [{ kind: 'A' }, { kind: 'B' }] })).get('memory:a')!;
    expect(written.map(({ value }) => value)).to.deep.equal([{ kind: 'A' }, { kind: 'B' }]);
  });

  it('keeps its own copy', async () => {
    const resource = { kind: 'A', spec: { x: 1 } };
    const [written] = (await read(resource)).get('memory:a')!;
    resource.spec.x = 2;
    expect(written!.value).to.deep.equal({ kind: 'A', spec: { x: 1 } });
  });

  it('rejects values that a file cannot contain', async () => {
    const circle: Record<string, unknown> = {};
    circle['self'] = circle;
    for (const resource of [circle, { big: 1n }, () => {}, undefined, null, 7, [[]]]) {
      const [written] = (await read([resource])).get('memory:a')!;
      expect(written!.value).to.equal(undefined);
      expect(written!.issues[0]).to.include({ code: 'NOT_AN_OBJECT' });
      expect(written!.issues[0]!.origin).to.deep.equal({ file: 'memory:a', line: 1, column: 1 });
    }
  });

  it('delivers before set returns', async () => {
    const source = memorySource();
    const units: string[] = [];
    await source.start((change) => units.push(...change.keys()));
    source.set('a', { kind: 'A' });
    source.delete('a');
    expect(units).to.deep.equal(['memory:a', 'memory:a']);
  });
});
