import { execFile } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ROOT } from '../docs/workspace.ts';
import { skipWithoutGoProgram } from './go-program.ts';

const run = promisify(execFile);
const MODULE = 'helm.sh/helm/v3/cmd/helm@v3.22.0';

/** The chart of this repository. */
export const CHART = join(ROOT, 'deploy', 'helm', 'edge-gateway');

/** Runs helm; rejects with its messages if it fails. */
export type Helm = (...args: readonly string[]) => Promise<string>;

/** Returns helm, without any configuration of the user. Skips the suite, with the reason printed, if it cannot be built. */
export async function skipWithoutHelm(test: Mocha.Context): Promise<Helm> {
  const program = await skipWithoutGoProgram(test, 'helm', MODULE);
  const home = mkdtempSync(join(tmpdir(), 'helm-'));
  const own = { HELM_CACHE_HOME: home, HELM_CONFIG_HOME: home, HELM_DATA_HOME: home };
  return async (...args) => {
    const { stdout } = await run(program, args, { env: { ...process.env, ...own }, maxBuffer: 2 ** 26 });
    return stdout;
  };
}
