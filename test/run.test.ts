import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';

const ROOT = join(import.meta.dirname, '..');
const run = promisify(execFile);

describe('npm run', () => {
  it('resolves paths against the directory of the caller, and colours no pipe in CI', async () => {
    const cwd = mkdtempSync(join(tmpdir(), 'run-'));
    try {
      writeFileSync(join(cwd, 'a.yaml'), 'kind: Upstrem\nmetadata: { name: a }\n');
      const argv = ['--prefix', ROOT, 'run', '--silent', 'gatewayctl', '--', 'validate', '.'];
      const { code, stdout } = await run('npm', argv, { cwd, env: { ...process.env, CI: 'true' } }).catch(
        (error) => error,
      );
      expect(stdout).to.match(/^a\.yaml:1:7  Upstrem /);
      expect(code).to.equal(1);
    } finally {
      rmSync(cwd, { recursive: true });
    }
  });
});
