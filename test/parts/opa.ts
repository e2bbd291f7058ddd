import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import { freePort } from './free-port.ts';
import { skipWithoutGoProgram } from './go-program.ts';

const MODULE = 'github.com/open-policy-agent/opa@v1.22.2';
const START_MS = 30_000;

/**
 * Returns the path of the program `opa`, see {@link skipWithoutGoProgram}; its folder is added to the `PATH`.
 */
export function skipWithoutOpa(test: Mocha.Context): Promise<string> {
  return skipWithoutGoProgram(test, 'opa', MODULE);
}

/** A real OPA server. */
export interface OpaServer {
  /** `host:port`. */
  readonly address: string;
  freeze(): void;
  thaw(): void;
  close(): Promise<void>;
}

/** Starts `opa run --server` with a module on a free port of 127.0.0.1. */
export async function startOpa(program: string, module: string): Promise<OpaServer> {
  const port = await freePort();
  const address = `127.0.0.1:${port}`;
  const child = spawn(program, ['run', '--server', '--addr', address, '--disable-telemetry'], { stdio: 'ignore' });
  const close = async (): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, 'exit');
    child.kill('SIGKILL');
    await gone;
  };
  const put = { method: 'PUT', body: module, headers: { 'content-type': 'text/plain' } };
  for (const giveUp = performance.now() + START_MS; ; await wait(20)) {
    const response = await fetch(`http://${address}/v1/policies/test`, put).catch(() => undefined);
    if (response?.ok) break;
    if (performance.now() < giveUp && !response) continue;
    await close();
    throw new Error(`opa does not start: ${await response?.text()}`);
  }
  return { address, freeze: () => void child.kill('SIGSTOP'), thaw: () => void child.kill('SIGCONT'), close };
}
