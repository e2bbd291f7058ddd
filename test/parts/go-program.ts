import { execFile } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { findProgram } from './apt.ts';

const run = promisify(execFile);
/** The first build takes minutes. */
export const BUILD_TIMEOUT_MS = 900_000;
export const ARTIFACTS = join(import.meta.dirname, '..', '..', '.artifacts');
const GO = '/usr/local/go/bin';

/** Returns the path of the Go command. */
export function findGo(): string | undefined {
  return findProgram('go') ?? (existsSync(join(GO, 'go')) ? join(GO, 'go') : undefined);
}

/**
 * Returns the path of a program: that on the `PATH`, or one that is built from a Go module once. Its folder is added to the `PATH`. Skips
 * the suite, with the reason printed, if there is no Go or the build fails, e.g. without a network.
 */
export async function skipWithoutGoProgram(test: Mocha.Context, name: string, module: string): Promise<string> {
  test.timeout(BUILD_TIMEOUT_MS);
  const found = findProgram(name);
  if (found) return found;
  const directory = join(ARTIFACTS, name);
  const file = join(directory, name);
  process.env.PATH = [process.env.PATH, directory].join(delimiter);
  if (existsSync(file)) return file;
  const go = findGo();
  if (!go) {
    console.log(`      skipped: there is neither ${name} nor go`);
    return test.skip();
  }
  mkdirSync(directory, { recursive: true });
  const env = { ...process.env, GOBIN: directory, GOFLAGS: '-ldflags=-s' };
  try {
    await run(go, ['install', module], { env, timeout: BUILD_TIMEOUT_MS });
  } catch (error) {
    console.log(`      skipped: ${name} cannot be built: ${(error as Error).message}`);
    return test.skip();
  }
  return file;
}
