import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
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
  'packages/kubernetes',
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
