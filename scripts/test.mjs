// `npm test` (format, lint, types, tests with the docs' snippets) and `npm run test:e2e` (the long suites).
// Ends with one line: N passed, N failed.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const e2e = process.argv.includes('--e2e');
const only = process.argv.slice(2).filter((arg) => !arg.startsWith('--'));
/** Maximum time for mocha to exit after its summary. */
const LINGER_MS = 60_000;
/** More failed files than this have a common cause; no second run is worth its time. */
const MAX_SECOND_RUNS = 6;
const FAILED_TESTS = join(root, '.artifacts', 'failed-tests.jsonl');
const totals = { passed: 0, failed: 0, skipped: 0 };
/** True once a mocha process has crashed or hung: a second run of single files cannot make up for the tests that never ran. */
let incomplete = false;
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
    const child = spawn('mocha', ['--reporter', 'scripts/failed-tests.mjs', ...args], {
      cwd: root,
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { ...process.env, FAILED_TESTS },
      detached: true,
    });
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
    child.on('close', (code, signal) => {
      running.delete(stop);
      clearTimeout(overdue);
      const count = (word) => Number(seen.match(new RegExp(`^\\s+(\\d+) ${word}`, 'm'))?.[1] ?? 0);
      totals.passed += count('passing');
      totals.skipped += count('pending');
      const failures = count('failing');
      const ended = /^\s+\d+ passing/m.test(seen);
      if (!ended || lingered) {
        incomplete = true;
        if (!ended)
          console.log(
            `\nThe tests exited without a summary (${signal ?? `exit status ${code}`}): counted as a failure.`,
          );
      }
      totals.failed += code === 0 && ended ? 0 : Math.max(failures + Number(lingered || !ended), 1);
      resolve(code === 0 && ended);
    });
  });
}

/** Two halves that need about the same time; only the second one uses fixed ports. */
const HALVES = [
  ['packages/*/test/**/*.test.ts', 'test/envoy/**/*.test.ts'],
  ['apps/*/test/**/*.test.ts', 'test/*.test.ts', 'test/!(envoy)/**/*.test.ts'],
];

/** Runs both halves at the same time if the machine has two cores: most tests wait more than they compute. */
async function runAll() {
  if (availableParallelism() < 2) return mocha(HALVES.flat());
  const first = mocha(HALVES[0]);
  await Promise.all([first, mocha(HALVES[1], first)]);
}

/** Returns the failures of the last run by file, and forgets them. */
function takeFailures() {
  const failures = new Map();
  if (!existsSync(FAILED_TESTS)) return failures;
  for (const line of readFileSync(FAILED_TESTS, 'utf8').trim().split('\n')) {
    const { file = '', title } = JSON.parse(line);
    failures.set(file, [...(failures.get(file) ?? []), title]);
  }
  rmSync(FAILED_TESTS);
  return failures;
}

/**
 * Runs the files with failures once more, one after the other with the machine to themselves. Tests that pass then count as passed,
 * and are listed as unstable: they depend on the load of the machine and need repair.
 */
async function runFailedAgain(mochaArgs) {
  const failures = takeFailures();
  if (incomplete || failures.size === 0 || failures.size > MAX_SECOND_RUNS || failures.has('')) return;
  const unstable = [];
  for (const [file, titles] of failures) {
    console.log(`\n> second run of ${file}`);
    const before = { ...totals };
    const passed = await mocha([...mochaArgs, file]);
    Object.assign(totals, before);
    if (!passed) continue;
    totals.failed -= titles.length;
    totals.passed += titles.length;
    unstable.push(...titles);
  }
  if (unstable.length)
    console.log(`\nUnstable, passed in the second run:\n${unstable.map((title) => `  ${title}\n`).join('')}`);
}

mkdirSync(join(root, '.artifacts'), { recursive: true });
rmSync(FAILED_TESTS, { force: true });
if (!e2e && only.length === 0) for (const [name, command] of CHECKS) check(name, command);
const E2E = ['packages/*/test/**/*.e2e.ts', 'apps/*/test/**/*.e2e.ts', 'test/**/*.e2e.ts'];
const E2E_ARGS = ['--timeout', '600000'];
if (e2e) await mocha([...E2E_ARGS, ...(only.length ? only : E2E)]);
else if (only.length) await mocha(only);
else await runAll();
if (only.length === 0) await runFailedAgain(e2e ? E2E_ARGS : []);

const skipped = totals.skipped ? `, ${totals.skipped} skipped` : '';
const summary = `${totals.passed} passed, ${totals.failed} failed${skipped}`;
writeFileSync(join(root, '.artifacts', 'summary.txt'), `${summary}\n`);
console.log(`\n${summary}`);
process.exit(totals.failed === 0 && totals.passed > 0 ? 0 : 1);
