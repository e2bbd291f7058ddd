import { expect } from 'chai';
import type { Source, SourceChange, WrittenResource } from '../../src/source/source.ts';
import { until } from './until.ts';

/** A source under test, with the means to change what it reads. Units are named as the source names them. */
export interface SourceFixture {
  readonly source: Source;
  put(name: string, text: string): Promise<void> | void;
  remove(name: string): Promise<void> | void;
  unit(name: string): string;
  dispose?(): Promise<void>;
}

const upstream = (name: string): string => `kind: Upstream\nmetadata:\n  name: ${name}\n`;

/** What every source promises. `create` makes one that holds these texts by name. */
export function sourceContract(name: string, create: (texts: Record<string, string>) => Promise<SourceFixture>): void {
  describe(`${name} fulfills the contract of sources`, () => {
    let fixture: SourceFixture;
    let changes: SourceChange[];

    async function started(texts: Record<string, string>): Promise<Map<string, readonly WrittenResource[]>> {
      fixture = await create(texts);
      changes = [];
      const held = new Map<string, readonly WrittenResource[]>();
      await fixture.source.start((change) => {
        changes.push(change);
        for (const [unit, written] of change) written.length > 0 ? held.set(unit, written) : held.delete(unit);
      });
      return held;
    }

    const names = (written: readonly WrittenResource[] | undefined): unknown[] =>
      (written ?? []).map(({ value }) => (value as { metadata: { name: string } } | undefined)?.metadata.name);

    afterEach(async () => {
      await fixture.source.close();
      await fixture.dispose?.();
    });

    it('delivers a complete listing before start resolves', async () => {
      const held = await started({ 'a.yaml': `${upstream('a')}---\n${upstream('b')}`, 'c.yaml': upstream('c') });
      expect(changes).to.have.length(1);
      expect([...held.keys()].sort()).to.deep.equal([fixture.unit('a.yaml'), fixture.unit('c.yaml')]);
      expect(names(held.get(fixture.unit('a.yaml')))).to.deep.equal(['a', 'b']);
    });

    it('delivers an empty listing if it is empty', async () => {
      await started({});
      expect(changes.map((change) => change.size)).to.deep.equal([0]);
    });

    it('reports positions by unit, line and column', async () => {
      const held = await started({ 'a.yaml': `# first\n${upstream('a')}` });
      const [written] = held.get(fixture.unit('a.yaml'))!;
      expect(written!.unit).to.equal(fixture.unit('a.yaml'));
      expect(written!.origin).to.deep.equal({ file: fixture.unit('a.yaml'), line: 2, column: 1 });
      expect(written!.locate(['metadata', 'name'])).to.deep.equal({ file: fixture.unit('a.yaml'), line: 4, column: 3 });
    });

    it('delivers additions, changes and removals', async () => {
      const held = await started({ 'a.yaml': upstream('a') });
      await fixture.put('b.yaml', upstream('b'));
      await until(() => held.has(fixture.unit('b.yaml')));
      await fixture.put('a.yaml', `${upstream('a')}---\n${upstream('c')}`);
      await until(() => names(held.get(fixture.unit('a.yaml'))).length === 2);
      await fixture.remove('b.yaml');
      await until(() => !held.has(fixture.unit('b.yaml')));
      expect(changes.at(-1)).to.deep.equal(new Map([[fixture.unit('b.yaml'), []]]));
      expect(names(held.get(fixture.unit('a.yaml')))).to.deep.equal(['a', 'c']);
    });

    it('delivers a broken document as an issue, together with its neighbors', async () => {
      const held = await started({ 'a.yaml': `${upstream('a')}---\nx: [\n---\n${upstream('b')}` });
      const written = held.get(fixture.unit('a.yaml'))!;
      expect(names(written)).to.deep.equal(['a', undefined, 'b']);
      expect(written[1]!.issues[0]).to.include({ code: 'YAML_SYNTAX', severity: 'error' });
    });

    it('reports a unit that becomes broken, and its repair', async () => {
      const held = await started({ 'a.yaml': upstream('a') });
      await fixture.put('a.yaml', 'a: 1\na: 2\n');
      await until(() => held.get(fixture.unit('a.yaml'))?.[0]?.issues[0]?.code === 'DUPLICATE_KEY');
      await fixture.put('a.yaml', upstream('b'));
      await until(() => names(held.get(fixture.unit('a.yaml')))[0] === 'b');
    });

    it('delivers nothing after close, which may be called twice', async () => {
      await started({ 'a.yaml': upstream('a') });
      await fixture.source.close();
      await fixture.source.close();
      await fixture.put('a.yaml', upstream('b'));
      await new Promise((resolve) => setTimeout(resolve, 60));
      expect(changes).to.have.length(1);
    });
  });
}
