// How Stryker (see mutation.mjs) runs the tests of an area: that of its own package does not know Mocha 12.
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import Mocha from 'mocha';

const { EVENT_TEST_PASS, EVENT_TEST_FAIL, EVENT_TEST_PENDING, EVENT_RUN_END } = Mocha.Runner.constants;
/** What instrumented code reads and counts. */
const context = (globalThis.__stryker__ ??= {});
/** The variable that instrumented code in other processes reads. */
const ACTIVE_MUTANT = '__STRYKER_ACTIVE_MUTANT__';
const STATUS = { passed: 0, failed: 1, skipped: 2 };

function setBail(suite, bail) {
  suite.bail(bail);
  for (const child of suite.suites) setBail(child, bail);
}

/** The title of a test identifies it: hooks have the title of their suite before their own. */
function resultOf(runnable, status, error) {
  const title = runnable.fullTitle();
  const failure = error && { failureMessage: error.stack ?? String(error) };
  return { id: title, name: title, timeSpentMs: runnable.duration ?? 0, fileName: runnable.file, status, ...failure };
}

class MochaRunner {
  static inject = ['options'];
  #options;
  #mocha;
  #isLoaded = false;
  #isCounting = false;

  constructor({ mochaOptions }) {
    this.#options = mochaOptions;
  }

  capabilities() {
    return { reloadEnvironment: false };
  }

  async init() {
    const setups = JSON.parse(readFileSync('.mocharc.json', 'utf8')).require;
    for (const setup of setups) await import(resolve(setup));
    // Stryker ends runs that take too long.
    this.#mocha = new Mocha({ timeout: 0, reporter: function silent() {} });
    this.#mocha.cleanReferencesAfterRun(false);
    for (const file of this.#options.spec) this.#mocha.addFile(resolve(file));
    const counted = this;
    this.#mocha.suite.beforeEach(function countForTest() {
      if (counted.#isCounting) context.currentTestId = this.currentTest?.fullTitle();
    });
  }

  async dryRun({ coverageAnalysis }) {
    this.#isCounting = coverageAnalysis === 'perTest';
    const tests = await this.#run({ bail: false });
    this.#isCounting = false;
    context.currentTestId = undefined;
    return { status: 'complete', tests, ...(coverageAnalysis !== 'off' && { mutantCoverage: context.mutantCoverage }) };
  }

  async mutantRun({ activeMutant, testFilter, disableBail, hitLimit, mutantActivation }) {
    context.hitLimit = hitLimit;
    context.hitCount = hitLimit ? 0 : undefined;
    const ids = testFilter?.map((id) => `^${RegExp.escape(id)}$`);
    this.#mocha.grep(new RegExp(ids?.join('|') ?? ''));
    process.env[ACTIVE_MUTANT] = activeMutant.id;
    const tests = await this.#run({
      bail: !disableBail,
      mutant: activeMutant.id,
      isStatic: mutantActivation === 'static',
    });
    delete process.env[ACTIVE_MUTANT];
    if (hitLimit !== undefined && context.hitCount > hitLimit) return { status: 'timeout', reason: 'endless loop' };
    const failed = tests.filter(({ status }) => status === STATUS.failed);
    const nrOfTests = tests.length;
    if (failed.length === 0) return { status: 'survived', nrOfTests };
    return {
      status: 'killed',
      killedBy: failed.map(({ id }) => id),
      failureMessage: failed[0].failureMessage,
      nrOfTests,
    };
  }

  async #run({ bail, mutant, isStatic }) {
    context.activeMutant = isStatic ? mutant : undefined;
    if (!this.#isLoaded) await this.#mocha.loadFilesAsync();
    this.#isLoaded = true;
    context.activeMutant = mutant;
    setBail(this.#mocha.suite, bail);
    const tests = [];
    await new Promise((done) => {
      const runner = this.#mocha.run();
      runner.on(EVENT_TEST_PASS, (test) => tests.push(resultOf(test, STATUS.passed)));
      runner.on(EVENT_TEST_PENDING, (test) => tests.push(resultOf(test, STATUS.skipped)));
      runner.on(EVENT_TEST_FAIL, (test, error) => tests.push(resultOf(test, STATUS.failed, error)));
      runner.on(EVENT_RUN_END, done);
    });
    return tests;
  }

  /** Its process ends; a mutant may never let the tests end. */
  dispose() {}
}

export const strykerPlugins = [{ kind: 'TestRunner', name: 'mocha', injectableClass: MochaRunner }];
/** Lets Stryker pass its option `mochaOptions` on. */
export const strykerValidationSchema = { properties: { mochaOptions: { type: 'object' } } };
