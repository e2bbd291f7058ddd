// Starts a gateway on a directory as a process of its own, with its figures from `loop-monitor.ts`.
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { LoopFigures } from './loop-monitor.ts';

/** `BUILT=1` measures the built packages: Node.js needs more memory and time to load sources. */
const BUILT = process.env['BUILT'] === '1';
const CONDITIONS = BUILT ? [] : ['--conditions=source'];

export interface StartedGateway {
  readonly gateway: ChildProcess;
  readonly port: number;
  readonly readyMs: number;
}

export async function startGateway(directory: string): Promise<StartedGateway> {
  const began = performance.now();
  const ports = ['--http-port', '--https-port', '--admin-port', '--stats-port'].flatMap((flag) => [flag, '0']);
  const execArgv = [...CONDITIONS, '--import', join(import.meta.dirname, 'loop-monitor.ts')];
  if (process.env['PROFILE']) execArgv.push('--cpu-prof', '--cpu-prof-dir', process.env['PROFILE']);
  const main = join(import.meta.dirname, '../apps/gateway', BUILT ? 'bundle/edge-gateway.js' : 'src/main.ts');
  const args = ['--config', directory, ...ports, '--drain-seconds', '0'];
  const gateway = fork(main, args, { execArgv, stdio: ['ignore', 'ignore', 'pipe', 'ipc'] });
  let errors = '';
  gateway.stderr!.on('data', (data: Buffer) => (errors = (errors + data.toString()).slice(-10_000)));
  const exited = once(gateway, 'exit').then(() => Promise.reject(new Error(errors)));
  const [message] = await Promise.race([once(gateway, 'message'), exited]);
  const { ready } = message as { readonly ready: { readonly listeners: readonly { readonly port: number }[] } };
  return { gateway, port: ready.listeners[0]!.port, readyMs: performance.now() - began };
}

export async function report(gateway: ChildProcess): Promise<LoopFigures> {
  const answer = once(gateway, 'message');
  gateway.send('report');
  return ((await answer) as [LoopFigures])[0];
}
