// `npm test` (format, lint, types, tests with the docs' snippets) and `npm run test:e2e` (the long suites).
// Ends with one line: N passed, N failed.
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findUnstable } from './second-run.mjs';
import { runFiles } from './test-files.mjs';
import { planOf } from './test-plan.ts';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const e2e = process.argv.includes('--e2e');
const only = process.argv.slice(2).filter((arg) => !arg.startsWith('--'));
/** More failed files than this have a common cause; no second run is worth its time. */
const MAX_SECOND_RUNS = 6;
/** Number of files that are listed with their times. */
const SLOWEST = 15;
const timeout = e2e ? 600_000 : JSON.parse(readFileSync(join(root, '.mocharc.json'), 'utf8')).timeout;
const totals = { passed: 0, failed: 0, skipped: 0 };
/** Titles of failed tests, by file. */
const failures = new Map();
/** Milliseconds of wall and CPU time, by file. */
const times = new Map();

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

function report({ file, output, passed, failures: failed, skipped, ms, cpuMs }) {
  process.stdout.write(output);
  totals.passed += passed;
  totals.failed += failed.length;
  totals.skipped += skipped;
  times.set(file, { ms, cpuMs });
  if (failed.length) failures.set(file, failed);
}

/** Runs the files with failures once more and names the tests that pass then. They count as failed all the same: an unstable test is a defect. */
async function printUnstable() {
  if (failures.size === 0 || failures.size > MAX_SECOND_RUNS) return;
  const unstable = await findUnstable(failures, { timeout, write: (text) => process.stdout.write(text) });
  if (unstable.length)
    console.log(`\nUnstable, passed in the second run:\n${unstable.map((title) => `  ${title}\n`).join('')}`);
}

/** Lists the files whose times limit how evenly the processes can share the work. */
function printSlowest() {
  const seconds = (ms) => (ms / 1000).toFixed(1).padStart(6);
  for (const [title, of] of [
    ['Slowest files', ({ ms }) => ms],
    ['Files with the most CPU time', ({ cpuMs }) => cpuMs],
  ]) {
    const most = [...times].sort(([, a], [, b]) => of(b) - of(a)).slice(0, SLOWEST);
    const lines = most.map(([file, time]) => `  ${seconds(of(time))} s  ${file.slice(root.length + 1)}`);
    console.log(`\n${title}:\n${lines.join('\n')}`);
  }
}

mkdirSync(join(root, '.artifacts'), { recursive: true });
// Tests start hundreds of programs, which would compile the same modules again.
process.env.NODE_COMPILE_CACHE ??= join(root, '.artifacts', 'compile-cache');
if (!e2e && only.length === 0) for (const [name, command] of CHECKS) check(name, command);
const crashes = await runFiles({ ...planOf({ only, e2e }), timeout, report });
totals.failed += crashes;
if (only.length === 0) printSlowest();
if (only.length === 0 && crashes === 0) await printUnstable();
if (failures.size && only.length === 0)
  console.log(
    `\nFailed:\n${[...failures.values()]
      .flat()
      .map((title) => `  ${title}\n`)
      .join('')}`,
  );

const skipped = totals.skipped ? `, ${totals.skipped} skipped` : '';
const summary = `${totals.passed} passed, ${totals.failed} failed${skipped}`;
writeFileSync(join(root, '.artifacts', 'summary.txt'), `${summary}\n`);
console.log(`\n${summary}`);
process.exit(totals.failed === 0 && totals.passed > 0 ? 0 : 1);
