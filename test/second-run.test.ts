import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { ROOT } from './docs/workspace.ts';

interface SecondRun {
  findUnstable(
    failures: ReadonlyMap<string, readonly string[]>,
    options: { readonly timeout: number; readonly limitMs?: number; write(text: string): void },
  ): Promise<string[]>;
}

describe('the second run of failed tests', () => {
  let folder: string;
  beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), 'second-run-'))));
  afterEach(() => rmSync(folder, { recursive: true }));

  it('names the tests that pass then, and no others', async () => {
    const file = join(folder, 'a.test.mjs');
    writeFileSync(
      file,
      `describe('a', () => { it('passes', () => {}); it('fails', () => { throw new Error('always'); }); });`,
    );
    const { findUnstable } = (await import(join(ROOT, 'scripts', 'second-run.mjs'))) as SecondRun;
    let output = '';
    const failures = new Map([[file, ['a passes', 'a fails']]]);
    const unstable = await findUnstable(failures, { timeout: 10_000, write: (text) => void (output += text) });
    expect(unstable).to.deep.equal(['a passes']);
    expect(output).to.contain(`second run of ${file}`);
  });

  it('ends after its limit, and does not name tests that had no time', async () => {
    const hanging = join(folder, 'a.test.mjs');
    const other = join(folder, 'b.test.mjs');
    writeFileSync(
      hanging,
      `describe('a', () => { it('hangs', () => new Promise(() => setInterval(() => {}, 1000))); });`,
    );
    writeFileSync(other, `describe('b', () => { it('passes', () => {}); });`);
    const { findUnstable } = (await import(join(ROOT, 'scripts', 'second-run.mjs'))) as SecondRun;
    let output = '';
    const failures = new Map([
      [hanging, ['a hangs']],
      [other, ['b passes']],
    ]);
    const options = { timeout: 3_600_000, limitMs: 1000, write: (text: string) => void (output += text) };
    expect(await findUnstable(failures, options)).to.deep.equal([]);
    expect(output).to.contain(`no time for a second run of ${other}`);
  });
});
