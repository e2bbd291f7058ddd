import { spawn, type ChildProcessByStdio, type SpawnOptions } from 'node:child_process';
import type { Readable } from 'node:stream';
import { GATEWAYCTL } from '../../../../test/parts/programs.ts';

/** Starts gatewayctl as a process of its own. */
export function start(argv: string[], more: SpawnOptions = {}) {
  const env = { ...process.env, NODE_OPTIONS: '' };
  const child = spawn(process.execPath, [...GATEWAYCTL, ...argv], {
    ...more,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  }) as ChildProcessByStdio<null, Readable, Readable>;
  const printed = { stdout: '', stderr: '' };
  child.stdout.on('data', (chunk) => (printed.stdout += String(chunk)));
  child.stderr.on('data', (chunk) => (printed.stderr += String(chunk)));
  const ended = new Promise<{ code: number | null; stdout: string; stderr: string }>((resolve) => {
    child.on('close', (code) => resolve({ code, ...printed }));
  });
  return { child, ended };
}
