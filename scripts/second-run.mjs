import { runFiles } from './test-files.mjs';

/** Longest time for the second run of all files, in milliseconds. */
const LIMIT_MS = 600_000;

/**
 * Runs files with failed tests once more, one after the other with the machine to themselves, for ten minutes at most. Returns the titles of the tests
 * that pass then: they depend on the load of the machine, on time or on another test. `failures` contains the titles of failed tests by file.
 */
export async function findUnstable(failures, { timeout, limitMs = LIMIT_MS, write }) {
  const unstable = [];
  const end = performance.now() + limitMs;
  for (const [file, titles] of failures) {
    const leftMs = Math.ceil(end - performance.now());
    if (leftMs <= 0) {
      write(`\n> no time for a second run of ${file}\n`);
      continue;
    }
    write(`\n> second run of ${file}\n`);
    let again = titles;
    const crashes = await runFiles({
      others: [file],
      timeout,
      limitMs: leftMs,
      report(result) {
        write(result.output);
        again = result.failures;
      },
    });
    if (crashes === 0) unstable.push(...titles.filter((title) => !again.includes(title)));
  }
  return unstable;
}
