// `npm test` (format, lint, types, tests with the docs' snippets) and `npm run test:e2e` (the long suites).
// Ends with one line: N passed, N failed.
import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const e2e = process.argv.includes('--e2e');
const only = process.argv.slice(2).filter((arg) => !arg.startsWith('--'));
/** How long mocha may take to end after its counts. */
const LINGER_MS = 60_000;
const totals = { passed: 0, failed: 0, skipped: 0 };

/** Checks that are one command each. */
const CHECKS = [
  ['format', ['oxfmt', '--check']],
  ['lint', ['oxlint', '--deny-warnings']],
  ['types', ['tsc', '-p', 'tsconfig.test.json']],
];

function check(name, [command, ...args]) {
  console.log(`\n> ${name}`);
  const done = spawnSync(command, args, { cwd: root, stdio: 'inherit', shell: process.platform === 'win32' });
  totals[done.status === 0 ? 'passed' : 'failed']++;
}

/** Runs mocha and reads its closing counts; a run that ends without them counts as one failure. */
function mocha(args) {
  return new Promise((resolve) => {
    const child = spawn('mocha', args, { cwd: root, stdio: ['ignore', 'pipe', 'inherit'], detached: true });
    const stop = () => process.kill(-child.pid, 'SIGKILL');
    for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => (stop(), process.exit(1)));
    let seen = '';
    let overdue;
    let lingered = false;
    child.stdout.on('data', (chunk) => {
      process.stdout.write(chunk);
      seen = (seen + chunk).slice(-200_000);
      if (!/^\s+\d+ (passing|failing)/m.test(seen)) return;
      overdue ??= setTimeout(() => {
        console.log(`\nThe tests left something running for ${LINGER_MS / 1000} s after their end: that is a failure.`);
        lingered = true;
        stop();
      }, LINGER_MS);
    });
    child.on('close', (code) => {
      clearTimeout(overdue);
      const count = (word) => Number(seen.match(new RegExp(`^\\s+(\\d+) ${word}`, 'm'))?.[1] ?? 0);
      totals.passed += count('passing');
      totals.skipped += count('pending');
      const failures = count('failing');
      totals.failed += code === 0 ? 0 : Math.max(failures + Number(lingered), 1);
      resolve();
    });
  });
}

const suites = (ending) =>
  ['packages', 'apps'].map((dir) => `${dir}/*/test/**/*.${ending}`).concat(`test/**/*.${ending}`);

if (!e2e && only.length === 0) for (const [name, command] of CHECKS) check(name, command);
if (e2e) await mocha(['--timeout', '600000', ...(only.length ? only : suites('e2e.ts'))]);
else await mocha(only.length ? only : suites('test.ts'));

const skipped = totals.skipped ? `, ${totals.skipped} skipped` : '';
const summary = `${totals.passed} passed, ${totals.failed} failed${skipped}`;
mkdirSync(join(root, '.artifacts'), { recursive: true });
writeFileSync(join(root, '.artifacts', 'summary.txt'), `${summary}\n`);
console.log(`\n${summary}`);
process.exit(totals.failed === 0 && totals.passed > 0 ? 0 : 1);
