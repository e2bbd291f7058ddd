import { execFile } from 'node:child_process';
import { globSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { ROOT } from './docs/workspace.ts';

const run = promisify(execFile);
const SCRIPT = join(ROOT, 'scripts', 'release.mjs');
const PACKAGES = globSync(['packages/*/package.json', 'apps/*/package.json'], { cwd: ROOT })
  .map((file) => JSON.parse(readFileSync(join(ROOT, file), 'utf8')) as { name: string; private?: boolean })
  .filter((manifest) => !manifest.private)
  .map(({ name }) => name);

describe('npm run release', () => {
  it('checks every package with publint and attw, and lists what it would publish', async () => {
    const { stdout } = await run(process.execPath, [SCRIPT, '--dry-run'], { cwd: ROOT });
    const listed = [...stdout.matchAll(/^(@edge-gateway\/\S+)@(\d+\.\d+\.\d+) {2}\S+\.tgz {2}\d+ KB$/gm)];
    expect(listed.map(([, name]) => name).toSorted()).to.deep.equal(PACKAGES.toSorted());
    expect(new Set(listed.map(([, , version]) => version)).size, 'versions').to.equal(1);
    expect(listed[0]![1], 'packages come after those that they need').to.equal('@edge-gateway/core');
    expect(stdout).to.match(new RegExp(`^${PACKAGES.length} packages of commit \\S+ would be published\\.$`, 'm'));
    expect(globSync('*/*/build.json', { cwd: ROOT })).to.deep.equal([]);
  });

  it('publishes nothing while changesets are pending', async () => {
    const changeset = join(ROOT, '.changeset', 'of-a-test.md');
    writeFileSync(changeset, "---\n'@edge-gateway/core': patch\n---\n\nPending.\n");
    const error = await run(process.execPath, [SCRIPT], { cwd: ROOT })
      .catch((thrown: { code: number; stderr: string }) => thrown)
      .finally(() => rmSync(changeset));
    expect(error).to.include({ code: 1 });
    expect(error.stderr).to.contain('not published: ').and.contain('changesets are pending');
  });

  for (const args of [['--publish'], ['--dry-run', 'x']])
    it(`rejects ${args.join(' ')}`, async () => {
      const error = await run(process.execPath, [SCRIPT, ...args]).catch((thrown: { code: number }) => thrown);
      expect(error).to.include({ code: 2 });
    });
});
