import { execFile } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const INSTALL_TIMEOUT_MS = 300_000;
let updated: Promise<unknown> | undefined;

/** Where a program is; `undefined` when it is not on the path. */
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

/**
 * Gives the path of a program, after installing its Debian package where it is missing. Throws where that is not
 * possible; a test that can go without says so with `skipWithout`.
 */
export async function installed(program: string, packageName = program): Promise<string> {
  const found = findProgram(program);
  if (found) return found;
  updated ??= run('apt-get', ['update', '-qq'], { timeout: INSTALL_TIMEOUT_MS });
  await updated;
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  await run('apt-get', ['install', '-y', '-qq', '--no-install-recommends', packageName], {
    timeout: INSTALL_TIMEOUT_MS,
    env,
  });
  const path = findProgram(program);
  if (!path) throw new Error(`${packageName} is installed but has no ${program}`);
  return path;
}

/** Skips a suite, with its reason printed, where a program neither is there nor can be installed. */
export async function skipWithout(test: Mocha.Context, program: string, packageName = program): Promise<string> {
  test.timeout(INSTALL_TIMEOUT_MS);
  try {
    return await installed(program, packageName);
  } catch (error) {
    console.log(`      skipped: ${program} cannot be installed: ${(error as Error).message.split('\n', 1)[0]}`);
    return test.skip();
  }
}
