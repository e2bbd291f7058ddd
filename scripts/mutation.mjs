// `npm run mutation [-- AREA...]`: seeds faults into the sources of an area, one at a time, and lists those that its tests do not notice. Not part
// of `npm test`: an area takes minutes to hours.
import { globSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Stryker } from '@stryker-mutator/core';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const OUTPUT = '.artifacts/mutation';

/** Sources of each area, and the tests that must notice faults in them. */
const AREAS = {
  'state-file': {
    // The cache of compiled code works in programs of its own, where nothing is counted.
    sources: 'packages/core/src/state-file/!(compile-cache).ts',
    tests: 'packages/core/test/state-file/**/*.test.ts',
  },
  source: { sources: 'packages/core/src/source/**/*.ts', tests: 'packages/core/test/source/**/*.test.ts' },
  workers: {
    sources: 'apps/gateway/src/workers/**/*.ts',
    tests: 'apps/gateway/test/workers/**/*.test.ts',
    // Most of it runs in other processes, where nothing is counted: every mutant needs all tests.
    coverageAnalysis: 'off',
  },
  upstream: { sources: 'packages/routing/src/upstream/**/*.ts', tests: 'packages/routing/test/upstream/**/*.test.ts' },
  session: { sources: 'packages/oidc/src/session/**/*.ts', tests: 'packages/oidc/test/session/**/*.test.ts' },
  'rate-limit': { sources: 'packages/rate-limit/src/**/*.ts', tests: 'packages/rate-limit/test/**/*.test.ts' },
};

const isArea = (word) => Object.hasOwn(AREAS, word);
const given = process.argv.slice(2);
/** Files of one area, instead of all: `npm run mutation -- state-file file-lock.ts`. */
const files = given.filter((word) => word.endsWith('.ts'));
const unknown = given.filter((word) => !isArea(word) && !word.endsWith('.ts'));
const areas = given.some(isArea) ? given.filter(isArea) : Object.keys(AREAS);
if (unknown.length > 0 || (files.length > 0 && given.filter(isArea).length !== 1)) {
  console.error(
    `usage: npm run mutation [-- AREA... | -- AREA FILE...], with the areas ${Object.keys(AREAS).join(', ')}`,
  );
  process.exit(2);
}

/** Runs the mutants of an area and returns how many of them its tests detect. */
async function run(area) {
  const { sources, tests, coverageAnalysis = 'perTest' } = AREAS[area];
  const all = globSync(sources, { cwd: root });
  const mutate = files.length > 0 ? all.filter((file) => files.some((name) => file.endsWith(`/${name}`))) : all;
  if (mutate.length === 0) throw new Error(`no file of ${area} is named ${files.join(' or ')}`);
  const results = await new Stryker({
    mutate,
    plugins: [join(root, 'scripts', 'mutation-runner.mjs')],
    testRunner: 'mocha',
    // Packages import the sources of each other.
    testRunnerNodeArgs: ['--conditions=source'],
    mochaOptions: { spec: globSync(tests, { cwd: root }) },
    coverageAnalysis,
    concurrency: 1,
    // A mutant that waits for ever ends after three times the time of its tests and this.
    timeoutMS: 10_000,
    timeoutFactor: 3,
    // Stryker would rewrite tsconfig.json with functions that TypeScript 7 does not have, although nothing is compiled.
    tsconfigFile: 'none',
    disableTypeChecks: false,
    checkers: [],
    reporters: ['clear-text', 'html', 'progress-append-only'],
    clearTextReporter: { logTests: false, reportTests: false, reportMutants: true, allowColor: process.stdout.isTTY },
    htmlReporter: { fileName: `${OUTPUT}/${area}.html` },
    tempDirName: `${OUTPUT}/tmp`,
    // Links to folders cannot be copied, and the tests of the areas need none of these.
    ignorePatterns: ['.artifacts', 'dist', 'deploy', 'docs', 'bench', 'examples', 'packed'],
    allowEmpty: true,
    thresholds: { high: 90, low: 80, break: null },
  }).runMutationTest();
  const count = (...statuses) => results.filter(({ status }) => statuses.includes(status)).length;
  const detected = count('Killed', 'Timeout');
  const undetected = count('Survived', 'NoCoverage');
  return { detected, total: detected + undetected };
}

process.chdir(root);
const lines = [];
for (const area of areas) {
  const { detected, total } = await run(area);
  lines.push(
    `${area.padEnd(12)} ${((100 * detected) / total).toFixed(1).padStart(5)} %  ${detected} of ${total} mutants detected`,
  );
}
console.log(`\n${lines.join('\n')}`);
console.log(`\nReports: ${areas.map((area) => relative(process.cwd(), join(OUTPUT, `${area}.html`))).join(', ')}`);
