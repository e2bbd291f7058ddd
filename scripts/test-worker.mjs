// A process of `npm test` (see test-files.mjs): runs the test files that its parent sends, one after the other, and reports each. Its argument
// is the timeout of a test in milliseconds; `buffered` after it means that other processes print too.
import { readFileSync } from 'node:fs';
import { flushCompileCache } from 'node:module';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { format } from 'node:util';
import Mocha from 'mocha';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const { require: setups, 'forbid-only': forbidOnly } = JSON.parse(readFileSync(join(root, '.mocharc.json'), 'utf8'));
const timeout = Number(process.argv[2]);
const { Base, Spec } = Mocha.reporters;

/** Output of the current file, if buffered. The parent prints it as a whole, so that files of several processes do not mix. */
let output = '';
if (process.argv[3] === 'buffered')
  Base.consoleLog = (...values) => {
    output += `${format(...values)}\n`;
  };

/** Mocha's default reporter without the counts at the end of each file. */
class Report extends Spec {
  epilogue() {
    if (this.failures.length) Base.list(this.failures);
  }
}

/** The file of a test or a hook: hooks have none, their suites do. */
function fileOf(runnable) {
  for (let at = runnable; at; at = at.parent) if (at.file) return at.file;
  return undefined;
}

/** Declares the tests of a file, or the one of a page of the documentation. */
async function declareTests(mocha, file) {
  if (!file.endsWith('.md')) {
    mocha.addFile(file);
    return mocha.loadFilesAsync();
  }
  const { describePage } = await import('../test/docs/page-suite.ts');
  mocha.suite.emit(Mocha.Suite.constants.EVENT_FILE_PRE_REQUIRE, globalThis, file, mocha);
  describePage(relative(root, file));
}

/** Returns the CPU time in milliseconds that this process and the ended processes that it started have used. */
function cpuTime() {
  if (process.platform !== 'linux') return process.cpuUsage().user / 1000 + process.cpuUsage().system / 1000;
  // proc(5): fields 14 to 17 after the name in parentheses, in hundredths of a second.
  const fields = readFileSync('/proc/self/stat', 'utf8')
    .replace(/^.*\) /, '')
    .split(' ');
  return 10 * fields.slice(11, 15).reduce((sum, each) => sum + Number(each), 0);
}

async function runFile(file) {
  output = '';
  const began = performance.now();
  const usedBefore = cpuTime();
  const mocha = new Mocha({ timeout, forbidOnly, reporter: Report });
  const failures = [];
  try {
    await declareTests(mocha, file);
  } catch (error) {
    Base.consoleLog(`\n${file} cannot be loaded:\n${format(error)}`);
    return { file, output, passed: 0, failures: [file], skipped: 0, ms: 0, cpuMs: 0 };
  }
  const stats = await new Promise((done) => {
    const runner = mocha.run(() => done(runner.stats));
    runner.on(Mocha.Runner.constants.EVENT_TEST_FAIL, (failed) => {
      const elsewhere = fileOf(failed) === file ? '' : ' (while this file ran)';
      failures.push(`${failed.fullTitle()}${elsewhere}`);
    });
  });
  mocha.dispose();
  const ms = performance.now() - began;
  return { file, output, passed: stats.passes, failures, skipped: stats.pending, ms, cpuMs: cpuTime() - usedBefore };
}

/** Ends this process and its group, after what runs at its exit: tests end there what they started in groups of their own. */
function abort() {
  process.on('exit', () => process.kill(-process.pid, 'SIGKILL'));
  process.exit(1);
}

for (const setup of setups) await import(resolve(root, setup));
// Only a parent that ends does so before the last file.
process.on('disconnect', abort);
process.on('message', async ({ file }) => {
  if (file) {
    process.send(await runFile(file));
    // For programs that tests start: they load the same modules, and most of them are killed before they write the cache.
    flushCompileCache();
  }
  // The process ends by itself unless the tests left something running.
  else {
    process.off('disconnect', abort);
    process.disconnect();
  }
});
process.send({});
