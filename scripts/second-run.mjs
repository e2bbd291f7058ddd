import { runFiles } from './test-files.mjs';

/**
 * Runs files with failed tests once more, one after the other with the machine to themselves. Returns the titles of the tests that pass then: they
 * depend on the load of the machine, on time or on another test. `failures` contains the titles of failed tests by file.
 */
export async function findUnstable(failures, { timeout, write }) {
  const unstable = [];
  for (const [file, titles] of failures) {
    write(`\n> second run of ${file}\n`);
    let again = titles;
    const crashes = await runFiles({
      others: [file],
      timeout,
      report(result) {
        write(result.output);
        again = result.failures;
      },
    });
    if (crashes === 0) unstable.push(...titles.filter((title) => !again.includes(title)));
  }
  return unstable;
}
