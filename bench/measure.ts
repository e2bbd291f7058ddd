import { execFileSync, type ChildProcess } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import type { Pool } from 'undici';

/** Keeps a process with all its threads on these cores (Linux). */
export function pin({ pid }: Pick<ChildProcess, 'pid'>, cores: string): void {
  execFileSync('taskset', ['--all-tasks', '--cpu-list', '--pid', cores, String(pid)], { stdio: 'ignore' });
}

/** Microseconds that all threads of a process have run (Linux). */
export function cpuOf({ pid }: Pick<ChildProcess, 'pid'>): number {
  const tasks = readdirSync(`/proc/${pid}/task`);
  const nanoseconds = tasks.map((task) =>
    Number(readFileSync(`/proc/${pid}/task/${task}/schedstat`, 'utf8').split(' ')[0]),
  );
  return nanoseconds.reduce((sum, each) => sum + each, 0) / 1000;
}

/** What is asked of a server. */
export interface Load {
  readonly path: string;
  readonly headersOf: (i: number) => Record<string, string>;
  readonly amount: number;
  readonly connections: number;
}

/** CPU microseconds of a server per request; every answer has to be 200. */
export async function cpuPerRequest(server: Pick<ChildProcess, 'pid'>, pool: Pool, load: Load): Promise<number> {
  let sent = 0;
  const before = cpuOf(server);
  const ask = async (): Promise<void> => {
    while (sent < load.amount) {
      const headers = load.headersOf(sent++);
      const { statusCode, body } = await pool.request({ method: 'GET', path: load.path, headers });
      await body.dump();
      if (statusCode !== 200) throw new Error(`answered ${statusCode}`);
    }
  };
  await Promise.all(Array.from({ length: load.connections }, ask));
  return (cpuOf(server) - before) / load.amount;
}

export const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!;
