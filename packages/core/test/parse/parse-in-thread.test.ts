import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { parseInThread } from '../../src/parse/parse-in-thread.ts';
import { parseUnit, resourcesOfUnit, type ParsedUnit } from '../../src/parse/parse.ts';
import { directorySource } from '../../src/source/directory.ts';
import type { WrittenResource } from '../../src/source/source.ts';

const MODULE = new URL('../../src/parse/parse-in-thread.ts', import.meta.url).href;
const LIMIT = 16 * 1024 * 1024;
const upstream = (name: string): string => `kind: Upstream\nmetadata: {name: ${name}}\n`;

/** Units with content that is hard to send to another thread, or is rejected. */
const UNITS: Readonly<Record<string, string | Buffer>> = {
  'numbers.yaml': 'a: .inf\nb: -0.0\nc: .nan\nd: 12345678901234567890\ne: 1e3\n',
  'numbers-in-json.yaml': 'a: 1.5\nb: 0x1f\nc: 1e3\nd: ~\n',
  'keys.yaml': '__proto__: {a: 1}\ntoJSON: text\n"\\uD800": lone\n',
  'shared.yaml': 'a: &x {b: [1]}\nc: *x\n',
  'documents.yaml': `${upstream('one')}---\nkind: [\n---\n# nothing\n---\n${upstream('four')}`,
  'duplicate.yaml': 'kind: Upstream\nkind: Upstream\n',
  'list.yaml': `kind: List\nitems:\n  - kind: Upstream\n    metadata: {name: in-list}\n`,
  'object.json': '{"kind": "Upstream", "metadata": {"name": "json"}}',
  'broken.json': '{"kind": }',
  'text.yaml': 'just text\n',
  'empty.yaml': '',
  'comment.yaml': '# nothing\n',
  'control.yaml': 'a: \u0007\n',
  'latin1.yaml': Buffer.from('kind: Upstream\nname: \xe9\n', 'latin1'),
};

const PATHS = [['kind'], ['metadata', 'name'], ['a'], ['c', 'b', 0], ['gone']];

describe('parseInThread', () => {
  it('returns where the fields are written, so that a document is not parsed again', async () => {
    const parsed = await parseInThread(Buffer.from(`# one\n${upstream('a')}`), 'a.yaml', LIMIT);
    // A position in another text: only what the thread found can be there.
    const [resource] = resourcesOfUnit({ ...parsed, text: '\n'.repeat(parsed.text.length) });
    expect(resource!.locate(['metadata', 'name'], 'value')).to.include({ line: parsed.text.indexOf('name: a') + 7 });
  });

  it('names the field, not the place in its text, in large documents', async () => {
    const origin = (text: string) => {
      const [resource] = resourcesOfUnit(parseUnit(text, 'a.yaml'));
      return resource!.locate(['text'], { line: 2, column: 1 });
    };
    const document = (size: number): string => `kind: A\nfill: ${'x'.repeat(size)}\ntext: |\n  one\n  two\n`;
    expect(origin(document(10))).to.include({ line: 5, column: 3 });
    expect(origin(document(256 * 1024))).to.include({ line: 3, column: 1 });
  });

  for (const [unit, content] of Object.entries(UNITS)) {
    it(`parses ${unit} with the same result as in the thread of the caller`, async () => {
      const bytes = Buffer.from(content);
      const parsed = await parseInThread(bytes, unit, LIMIT);
      const own = parseUnit(bytes, unit);
      // Fields without a value are not sent.
      const withoutPlaces = (name: string, value: unknown): unknown => (name === 'places' ? undefined : value);
      expect(JSON.stringify(parsed, withoutPlaces)).to.equal(JSON.stringify(own));
      const origins = (of: ParsedUnit): unknown =>
        resourcesOfUnit(of).map(({ origin, locate }) => [origin, ...PATHS.map((path) => locate(path, 'value'))]);
      expect(origins(parsed)).to.deep.equal(origins(own));
      for (const [i, { value }] of parseUnit(bytes, unit).documents.entries())
        expect(parsed.documents[i]!.value).to.deep.equal(value);
    });
  }

  it('parses in the thread of the caller if another one is not permitted', async () => {
    const program = `
      const { parseInThread } = await import(${JSON.stringify(MODULE)});
      const { documents } = await parseInThread(Buffer.from('kind: Upstream'), 'a.yaml', 100);
      console.log(JSON.stringify(documents.map(({ value }) => value)), process.permission.has('worker'));
    `;
    const flags = ['--permission', '--allow-fs-read=*', '--conditions=source', '--no-warnings', '--input-type=module'];
    const { stdout } = await promisify(execFile)(process.execPath, [...flags, '--eval', program]);
    expect(stdout).to.equal('[{"kind":"Upstream"}] false\n');
  });

  it('rejects bytes above the limit', async () => {
    const { problem } = await parseInThread(Buffer.from(upstream('a')), 'a.yaml', 10);
    expect(problem?.code).to.equal('FILE_TOO_LARGE');
  });

  it('is used for large files of a directory, whose problems keep their positions', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'large-'));
    try {
      const path = join(directory, 'large.yaml');
      const padding = `# ${'x'.repeat(98)}\n`.repeat(25_000);
      writeFileSync(path, `${padding}${upstream('one')}---\nkind: [\n---\n${upstream('three')}  bad: 1\n`);
      let written: readonly WrittenResource[] = [];
      let threads = 0;
      const count = (): void => void threads++;
      process.on('worker', count);
      const source = directorySource(directory, { watch: false });
      await source.start((change) => (written = change.get(path)!));
      await source.close();
      process.off('worker', count);
      expect(threads).to.equal(1);
      expect(written.map(({ origin }) => origin.line)).to.deep.equal([25_001, 25_004, 25_006]);
      expect(written[1]!.issues[0]!.origin).to.include({ file: path, line: 25_004 });
      expect(written[2]!.issues).to.have.lengthOf(1);
      expect(written[0]!.locate(['metadata', 'name'], 'value')).to.deep.equal({ file: path, line: 25_002, column: 18 });
    } finally {
      rmSync(directory, { recursive: true });
    }
  });
});
