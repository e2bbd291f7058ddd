import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';

const ROOT = join(import.meta.dirname, '..');
const run = promisify(execFile);

describe('npm run', () => {
  it('resolves paths against the directory of the caller, and writes no colors to a pipe in CI', async () => {
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

  for (const [argv, code, text] of [
    [['--bogus'], 2, "Error: unknown option '--bogus' (see --help)\n"],
    [['--config'], 2, "Error: option '--config <dir>' argument missing\n"],
    [['--http-port', 'many'], 2, /^Error: option '--http-port <port>'.*a port must be between 0 and 65535/],
    [['proxy'], 2, /^Error: the role proxy is not supported yet/],
    [['--help'], 0, /^Usage: edge-gateway \[options\]\n/],
    [['--version'], 0, /^\d+\.\d+\.\d+\n$/],
  ] as const) {
    it(`start ${argv.join(' ')} starts nothing and exits with ${code}`, async () => {
      const words = ['--prefix', ROOT, 'run', '--silent', 'start', '--', ...argv];
      const done = await run('npm', words).catch((error) => error);
      expect(done.code ?? 0).to.equal(code);
      const printed = done.stdout + done.stderr;
      if (typeof text === 'string') expect(printed).to.equal(text);
      else expect(printed).to.match(text);
      expect(printed).not.to.contain('Demo backends');
    });
  }
});
