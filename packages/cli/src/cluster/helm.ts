import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { text as readAll } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { cliError } from '../error-codes.ts';
import { PACKAGE_FOLDER, type Io } from '../io.ts';
import type { ClusterFlags } from './open-cluster.ts';

/** The chart in a clone of the repository, and in an installed package. */
const CHARTS = ['../../deploy/helm/edge-gateway', 'chart'] as const;

/** Returns the folder of the chart: that of the flag, else the one that belongs to this version. */
export function chartOf(io: Io, file: string | undefined): string {
  if (file !== undefined) return resolve(io.cwd, file);
  const found = CHARTS.map((path) => fileURLToPath(new URL(path, PACKAGE_FOLDER))).find((path) => existsSync(path));
  if (found !== undefined) return found;
  throw cliError('ERR_CLI_FILE', 'this installation has no chart; name one with --file');
}

/** Runs helm, and returns what it prints. Throws `ERR_CLI_HELM` if it is missing or fails. */
export async function helm(
  io: Io,
  { kubeconfig, kubeContext }: ClusterFlags,
  args: readonly string[],
): Promise<string> {
  const cluster = [
    ...(kubeconfig === undefined ? [] : ['--kubeconfig', resolve(io.cwd, kubeconfig)]),
    ...(kubeContext === undefined ? [] : ['--kube-context', kubeContext]),
  ];
  const child = spawn('helm', [...args, ...cluster], {
    cwd: io.cwd,
    env: io.env as NodeJS.ProcessEnv,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const closed = once(child, 'close') as Promise<[code: number | null]>;
  const [stdout, stderr, [code]] = await Promise.all([readAll(child.stdout), readAll(child.stderr), closed]).catch(
    (error: NodeJS.ErrnoException) => {
      const why = error.code === 'ENOENT' ? 'it is not on the PATH; install Helm 3' : error.message;
      throw cliError('ERR_CLI_HELM', `helm could not be started: ${why}`, error);
    },
  );
  if (code === 0) return stdout;
  // Notes about links in the chart of a clone.
  const lines = stderr.split('\n').filter((line) => line !== '' && !line.startsWith('walk.go:'));
  throw cliError(
    'ERR_CLI_HELM',
    `helm ${args[0]}: ${lines.join('\n').replace(/^Error: /, '') || `exit status ${code}`}`,
  );
}
