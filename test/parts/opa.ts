import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';
import { findProgram } from './apt.ts';
import { freePort } from './free-port.ts';

const run = promisify(execFile);
const MODULE = 'github.com/open-policy-agent/opa@v1.22.2';
/** The first build takes minutes. */
const BUILD_TIMEOUT_MS = 900_000;
const START_MS = 30_000;
const DIRECTORY = join(import.meta.dirname, '..', '..', '.artifacts', 'opa');
const GO = '/usr/local/go/bin';

/**
 * Returns the path of the program `opa`: that on the `PATH`, or one that is built with Go once. Its folder is added to the `PATH`. Skips the
 * suite, with the reason printed, if there is no Go or the build fails, e.g. without a network.
 */
export async function skipWithoutOpa(test: Mocha.Context): Promise<string> {
  test.timeout(BUILD_TIMEOUT_MS);
  const found = findProgram('opa');
  if (found) return found;
  const file = join(DIRECTORY, 'opa');
  process.env.PATH = [process.env.PATH, DIRECTORY].join(delimiter);
  if (existsSync(file)) return file;
  const go = findProgram('go') ?? (existsSync(join(GO, 'go')) ? join(GO, 'go') : undefined);
  if (!go) {
    console.log('      skipped: there is neither opa nor go');
    return test.skip();
  }
  mkdirSync(DIRECTORY, { recursive: true });
  const env = { ...process.env, GOBIN: DIRECTORY, GOFLAGS: '-ldflags=-s' };
  try {
    await run(go, ['install', MODULE], { env, timeout: BUILD_TIMEOUT_MS });
  } catch (error) {
    console.log(`      skipped: opa cannot be built: ${(error as Error).message}`);
    return test.skip();
  }
  return file;
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
