// The reporter of `npm test`: mocha's default one, which also writes each failure (file, title) as a line of JSON into $FAILED_TESTS.
import { appendFileSync } from 'node:fs';
import Mocha from 'mocha';

const target = process.env.FAILED_TESTS;

/** The file of a test or a hook: hooks carry none, their suites do. */
function fileOf(runnable) {
  for (let at = runnable; at; at = at.parent) if (at.file) return at.file;
  return undefined;
}

// oxlint-disable-next-line import/no-default-export -- mocha takes the default export of a reporter
export default class FailedTests extends Mocha.reporters.Spec {
  constructor(runner, options) {
    super(runner, options);
    if (!target) return;
    runner.on(Mocha.Runner.constants.EVENT_TEST_FAIL, (failed) => {
      appendFileSync(target, `${JSON.stringify({ file: fileOf(failed), title: failed.fullTitle() })}\n`);
    });
  }
}
