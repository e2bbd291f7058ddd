// Which files `npm test` and `npm run test:e2e` run: test files, and pages of the documentation.
import { globSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { canCreateNetworks } from '../test/docs/network.ts';
import { pagesWithCommands } from '../test/docs/page-suite.ts';

const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** Tests that use the default ports, or write into the packages: one at a time. */
const ALONE = 'test/*.test.ts';
/** Tests that start processes: before the others, because they are the longest. */
const WITH_PROCESSES = ['test/*/**/*.test.ts', 'apps/*/test/**/*.test.ts'];
/** The longest of them and of the pages, the longest first: they begin first, so that no process runs one alone at the end. */
export const LONGEST: readonly string[] = [
  'docs/gatewayctl.md',
  'apps/gateway/test/workers/serving.test.ts',
  'test/envoy/envoy.test.ts',
  'apps/gateway/test/planes/planes.test.ts',
  'test/browser/separate-planes.test.ts',
  'apps/gateway/test/planes/accepted.test.ts',
  'test/browser/login.test.ts',
  'apps/gateway/test/main.test.ts',
].map((file) => join(root, file));
const IN_PROCESS = 'packages/*/test/**/*.test.ts';
const E2E = ['packages/*/test/**/*.e2e.ts', 'apps/*/test/**/*.e2e.ts', 'test/**/*.e2e.ts'];

/** What `runFiles` runs. */
export interface Plan {
  /** Files of which only one may run at a time. */
  readonly alone: readonly string[];
  readonly others: readonly string[];
  readonly processes: number;
}

export interface PlanOptions {
  /** Patterns of files, instead of all. */
  readonly only?: readonly string[];
  readonly e2e?: boolean;
  readonly hasNetworks?: boolean;
}

function filesOf(...patterns: readonly string[]): string[] {
  return globSync(patterns, { cwd: root })
    .toSorted()
    .map((file) => resolve(root, file));
}

/** Returns the files of all patterns. Throws if one of them matches none: its tests would seem to have passed. */
function givenFiles(patterns: readonly string[]): string[] {
  const missing = patterns.filter((pattern) => filesOf(pattern).length === 0);
  if (missing.length > 0) throw new Error(`no file matches ${missing.join(', ')}`);
  return filesOf(...patterns);
}

/**
 * Returns which files run, and in how many processes: two more than cores, because tests also wait. Pages use the default ports: each in a
 * network of its own, or else never two at the same time.
 */
export function planOf({ only = [], e2e = false, hasNetworks = canCreateNetworks() }: PlanOptions = {}): Plan {
  if (only.length) return { alone: [], others: givenFiles(only), processes: 1 };
  if (e2e) return { alone: [], others: filesOf(...E2E), processes: 1 };
  const pages = pagesWithCommands().map((page) => join(root, page));
  const alone = [...(hasNetworks ? [] : pages), ...filesOf(ALONE)];
  const others = [...(hasNetworks ? pages : []), ...filesOf(...WITH_PROCESSES), ...filesOf(IN_PROCESS)];
  return {
    alone,
    others: [...LONGEST.filter((file) => others.includes(file)), ...others.filter((file) => !LONGEST.includes(file))],
    processes: availableParallelism() + 2,
  };
}
