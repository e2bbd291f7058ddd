import { execFile } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { skip } from './skip.ts';

const run = promisify(execFile);
const INSTALL_TIMEOUT_MS = 300_000;
/** apt fails at once if another process holds its lock; test processes take turns by this one. */
const LOCK = join(tmpdir(), 'edge-gateway-apt.lock');
let updated: Promise<unknown> | undefined;

/** Returns the path of a program, `undefined` if it is not on the `PATH`. */
export function findProgram(name: string): string | undefined {
  const directories = (process.env.PATH ?? '').split(delimiter);
  return directories
    .map((directory) => join(directory, name))
    .find((file) => {
      try {
        accessSync(file, constants.X_OK);
        return true;
      } catch {
        return false;
      }
    });
}

function apt(args: readonly string[]): Promise<unknown> {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  return run('flock', [LOCK, 'apt-get', ...args], { timeout: INSTALL_TIMEOUT_MS, env });
}

/**
 * Returns the path of a program, after installing its Debian package if it is missing. Throws if that is impossible;
 * tests that can be skipped use `skipWithout`.
 */
export async function installed(program: string, packageName = program): Promise<string> {
  const found = findProgram(program);
  if (found) return found;
  updated ??= apt(['update', '-qq']);
  await updated;
  await apt(['install', '-y', '-qq', '--no-install-recommends', packageName]);
  const path = findProgram(program);
  if (!path) throw new Error(`${packageName} is installed but has no ${program}`);
  return path;
}

/** True as root on Debian: what is missing there was not installed because of a failure. */
const canInstall = (): boolean => process.geteuid?.() === 0 && findProgram('apt-get') !== undefined;

/** Returns the path of a program like `installed`. Skips a suite and prints the reason if this machine or user cannot install Debian packages. */
export async function skipWithout(test: Mocha.Context, program: string, packageName = program): Promise<string> {
  test.timeout(INSTALL_TIMEOUT_MS);
  try {
    return await installed(program, packageName);
  } catch (error) {
    if (canInstall()) throw error;
    return skip(test, `${program} cannot be installed: ${(error as Error).message.split('\n', 1)[0]}`);
  }
}
