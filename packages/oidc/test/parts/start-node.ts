import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { OidcOptions } from '../../src/index.ts';

const PROGRAM = fileURLToPath(new URL('./node.ts', import.meta.url));

export interface RunningNode {
  readonly url: string;
  kill(signal?: NodeJS.Signals): Promise<void>;
}

/** Starts a server behind a login in a process of its own, with sessions in files of a directory if given. */
export async function startNode(options: OidcOptions, directory = ''): Promise<RunningNode> {
  const args = ['--conditions=source', PROGRAM, JSON.stringify(options), directory];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  return {
    url: line.toString().trim(),
    async kill(signal = 'SIGKILL') {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const gone = once(child, 'exit');
      child.kill(signal);
      await gone;
    },
  };
}
