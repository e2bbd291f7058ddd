// `npm test` (format, lint, types, tests with the docs' snippets) and `npm run test:e2e` (the long suites).
// Ends with one line: N passed, N failed.
import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const e2e = process.argv.includes('--e2e');
const only = process.argv.slice(2).filter((arg) => !arg.startsWith('--'));
/** Maximum time for mocha to exit after its summary. */
const LINGER_MS = 60_000;
const totals = { passed: 0, failed: 0, skipped: 0 };
/** Stops of the mocha processes, which run in process groups of their own. */
const running = new Set();
for (const signal of ['SIGINT', 'SIGTERM']) {
  process.once(signal, () => {
    for (const stop of running) stop();
    process.exit(1);
  });
}

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

/**
 * Runs mocha and reads its closing counts; a run that ends without them counts as one failure.
 * Its output is printed once `turn` has resolved, so that two runs do not mix.
 */
function mocha(args, turn = Promise.resolve()) {
  return new Promise((resolve) => {
    const child = spawn('mocha', args, { cwd: root, stdio: ['ignore', 'pipe', 'inherit'], detached: true });
    const stop = () => process.kill(-child.pid, 'SIGKILL');
    running.add(stop);
    let seen = '';
    let overdue;
    let lingered = false;
    let held = [];
    void turn.then(() => {
      for (const chunk of held) process.stdout.write(chunk);
      held = undefined;
    });
    child.stdout.on('data', (chunk) => {
      if (held) held.push(chunk);
      else process.stdout.write(chunk);
      seen = (seen + chunk).slice(-200_000);
      if (!/^\s+\d+ (passing|failing)/m.test(seen)) return;
      overdue ??= setTimeout(() => {
        console.log(`\nThe tests left something running for ${LINGER_MS / 1000} s after their end: that is a failure.`);
        lingered = true;
        stop();
      }, LINGER_MS);
    });
    child.on('close', (code) => {
      running.delete(stop);
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

/** Two halves that need about the same time; only the second one uses fixed ports. */
const HALVES = [['packages/*/test/**/*.test.ts'], ['apps/*/test/**/*.test.ts', 'test/**/*.test.ts']];

/** Runs both halves at the same time if the machine has two cores: most tests wait more than they compute. */
async function runAll() {
  if (availableParallelism() < 2) return mocha(HALVES.flat());
  const first = mocha(HALVES[0]);
  await Promise.all([first, mocha(HALVES[1], first)]);
}

if (!e2e && only.length === 0) for (const [name, command] of CHECKS) check(name, command);
const E2E = ['packages/*/test/**/*.e2e.ts', 'apps/*/test/**/*.e2e.ts', 'test/**/*.e2e.ts'];
if (e2e) await mocha(['--timeout', '600000', ...(only.length ? only : E2E)]);
else if (only.length) await mocha(only);
else await runAll();

const skipped = totals.skipped ? `, ${totals.skipped} skipped` : '';
const summary = `${totals.passed} passed, ${totals.failed} failed${skipped}`;
mkdirSync(join(root, '.artifacts'), { recursive: true });
writeFileSync(join(root, '.artifacts', 'summary.txt'), `${summary}\n`);
console.log(`\n${summary}`);
process.exit(totals.failed === 0 && totals.passed > 0 ? 0 : 1);
