/**
 * Skips a test, or in a hook all tests of its block, and prints the reason. `npm test` counts what is skipped: a test that cannot run on a
 * machine is never left out silently.
 */
export function skip(test: Mocha.Context, reason: string): never {
  console.log(`      skipped: ${reason}`);
  return test.skip();
}
