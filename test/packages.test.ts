import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';
import { ROOT } from './docs/workspace.ts';

const run = promisify(execFile);
const PUBLISHED = [
  'packages/core',
  'packages/routing',
  'packages/graphql',
  'packages/oidc',
  'packages/rbac',
  'packages/extauth',
  'packages/rate-limit',
  'packages/xds',
  'packages/admin',
  'packages/cli',
  'apps/gateway',
];
const PNPM = ['-y', 'pnpm@12.21.0'];

describe('the published packages', () => {
  let out: string;
  before(() => {
    out = mkdtempSync(join(tmpdir(), 'packages-'));
  });
  after(() => rmSync(out, { recursive: true }));

  for (const dir of PUBLISHED) {
    it(`${dir}: publint and attw report no problem in the tarball`, async () => {
      const pkgDir = join(ROOT, dir);
      const pkg = JSON.parse(readFileSync(join(pkgDir, 'package.json'), 'utf8'));
      const tarball = join(out, `${pkg.name.replaceAll(/[@/]/g, '-')}.tgz`);
      await run('npx', [...PNPM, 'pack', '--out', tarball], { cwd: pkgDir });

      const bytes = readFileSync(tarball);
      const { messages } = await publint({ strict: true, pack: { tarball: new Uint8Array(bytes).buffer } });
      expect(messages.map((message) => formatMessage(message, pkg, { color: false }))).to.deep.equal([]);

      await run('attw', [tarball, '--profile', 'esm-only', '--no-color', '--no-emoji'], { cwd: ROOT }).catch(
        (error: Error & { stdout?: string }) => expect.fail(`attw: ${error.stdout ?? error.message}`),
      );
    });

    it(`${dir}: packs its license and README, but no tests or build state`, async () => {
      const { stdout } = await run('npx', [...PNPM, 'pack', '--json', '--out', join(out, 'list.tgz')], {
        cwd: join(ROOT, dir),
      });
      const files = (JSON.parse(stdout) as { files: { path: string }[] }).files.map((file) => file.path);
      expect(files).to.include.members(['LICENSE', 'README.md', 'package.json']);
      expect(files.filter((file) => /\.test\.|(^|\/)test\/|tsbuildinfo/.test(file))).to.deep.equal([]);
    });
  }
});
