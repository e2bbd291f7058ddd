import { expect } from 'chai';
import type { Source, SourceChange, WrittenResource } from '../../src/source/source.ts';
import { until } from '../../../../test/parts/until.ts';

/** A source under test, with the means to change what it reads. Units are named as the source names them. */
export interface SourceFixture {
  readonly source: Source;
  put(name: string, text: string): Promise<void> | void;
  remove(name: string): Promise<void> | void;
  unit(name: string): string;
  dispose?(): Promise<void>;
}

/** Creates a fixture that holds these texts by name. */
type CreateFixture = (texts: Record<string, string>) => Promise<SourceFixture>;

const upstream = (name: string, host = 'a.example'): string =>
  `apiVersion: gw.vendor.io/v1\nkind: Upstream\nmetadata:\n  name: ${name}\nspec: {static: {hosts: [{addr: ${host}, port: 80}]}}\n`;

const namesIn = (written: readonly WrittenResource[] | undefined): unknown[] =>
  (written ?? []).map(({ value }) => (value as { metadata: { name: string } } | undefined)?.metadata.name);

/** Starts and closes the source of each test, and keeps what it delivers. */
function started(create: CreateFixture) {
  let fixture: SourceFixture | undefined;
  let changes: SourceChange[] = [];

  afterEach(async () => {
    await fixture?.source.close();
    await fixture?.dispose?.();
    fixture = undefined;
  });

  return async (texts: Record<string, string>) => {
    fixture = await create(texts);
    changes = [];
    const held = new Map<string, readonly WrittenResource[]>();
    await fixture.source.start((change) => {
      changes.push(change);
      for (const [unit, written] of change) written.length > 0 ? held.set(unit, written) : held.delete(unit);
    });
    return { fixture, changes, held };
  };
}

/** What every source promises. The name of a text is that of its resource. */
export function sourceContract(name: string, create: CreateFixture): void {
  describe(`${name} fulfills the contract of sources`, () => {
    const start = started(create);

    it('delivers a complete listing before start resolves', async () => {
      const { fixture, changes, held } = await start({ a: upstream('a'), c: upstream('c') });
      expect(changes).to.have.length(1);
      expect([...held.keys()].sort()).to.deep.equal([fixture.unit('a'), fixture.unit('c')]);
      expect(namesIn(held.get(fixture.unit('a')))).to.deep.equal(['a']);
    });

    it('delivers an empty listing if it is empty', async () => {
      const { changes } = await start({});
      expect(changes.map((change) => change.size)).to.deep.equal([0]);
    });

    it('names the unit of a resource in its position', async () => {
      const { fixture, held } = await start({ a: upstream('a') });
      const [written] = held.get(fixture.unit('a'))!;
      expect(written!.unit).to.equal(fixture.unit('a'));
      expect(written!.origin.file).to.equal(fixture.unit('a'));
      expect(written!.locate(['metadata', 'name']).file).to.equal(fixture.unit('a'));
    });

    it('delivers additions, changes and removals', async () => {
      const { fixture, changes, held } = await start({ a: upstream('a') });
      await fixture.put('b', upstream('b'));
      await until(() => held.has(fixture.unit('b')));
      await fixture.put('a', upstream('a', 'b.example'));
      await until(() => JSON.stringify(held.get(fixture.unit('a'))).includes('b.example'));
      await fixture.remove('b');
      await until(() => !held.has(fixture.unit('b')));
      expect(changes.at(-1)).to.deep.equal(new Map([[fixture.unit('b'), []]]));
    });

    it('delivers nothing after it was closed while it starts', async () => {
      const { source, put, dispose } = await create({ a: upstream('a') });
      let changes = 0;
      const starting = source.start(() => changes++);
      await source.close();
      const before = changes;
      await starting;
      await put('b', upstream('b'));
      await source.close();
      await dispose?.();
      expect(changes).to.equal(before);
    });

    it('delivers nothing after close, which may be called twice', async () => {
      const { fixture, changes } = await start({ a: upstream('a') });
      await fixture.source.close();
      await fixture.source.close();
      await fixture.put('a', upstream('a', 'b.example'));
      await new Promise((resolve) => setTimeout(resolve, 60));
      expect(changes).to.have.length(1);
    });
  });
}

/** What sources of text promise in addition: units with several documents, positions, and broken documents. */
export function textSourceContract(name: string, create: CreateFixture): void {
  describe(`${name} fulfills the contract of sources of text`, () => {
    const start = started(create);

    it('delivers all documents of a unit', async () => {
      const { fixture, held } = await start({ a: `${upstream('a')}---\n${upstream('b')}` });
      expect(namesIn(held.get(fixture.unit('a')))).to.deep.equal(['a', 'b']);
      await fixture.put('a', `${upstream('a')}---\n${upstream('c')}`);
      await until(() => namesIn(held.get(fixture.unit('a')))[1] === 'c');
    });

    it('reports positions by unit, line and column', async () => {
      const { fixture, held } = await start({ a: `# first\n${upstream('a')}` });
      const [written] = held.get(fixture.unit('a'))!;
      expect(written!.origin).to.deep.equal({ file: fixture.unit('a'), line: 2, column: 1 });
      expect(written!.locate(['metadata', 'name'])).to.deep.equal({ file: fixture.unit('a'), line: 5, column: 3 });
    });

    it('delivers a broken document as an issue, together with its neighbors', async () => {
      const { fixture, held } = await start({ a: `${upstream('a')}---\nx: [\n---\n${upstream('b')}` });
      const written = held.get(fixture.unit('a'))!;
      expect(namesIn(written)).to.deep.equal(['a', undefined, 'b']);
      expect(written[1]!.issues[0]).to.include({ code: 'YAML_SYNTAX', severity: 'error' });
    });

    it('reports a unit that becomes broken, and its repair', async () => {
      const { fixture, held } = await start({ a: upstream('a') });
      await fixture.put('a', 'a: 1\na: 2\n');
      await until(() => held.get(fixture.unit('a'))?.[0]?.issues[0]?.code === 'DUPLICATE_KEY');
      await fixture.put('a', upstream('b'));
      await until(() => namesIn(held.get(fixture.unit('a')))[0] === 'b');
    });
  });
}
