import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { skip } from './skip.ts';
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
 * the suite, with the reason printed, if there is no Go.
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
  if (!go) return skip(test, `there is neither ${name} nor go`);
  mkdirSync(directory, { recursive: true });
  const env = { ...process.env, GOBIN: directory, GOFLAGS: '-ldflags=-s' };
  await run(go, ['install', module], { env, timeout: BUILD_TIMEOUT_MS });
  return file;
}

/** Skips the suite, with the reason printed, if there is no Go. */
export function skipWithoutGo(test: Mocha.Context): void {
  if (!findGo()) skip(test, 'there is no go');
}

/** What is built from Go sources of this repository. */
export interface GoSources {
  /** Folder of the artifacts. */
  readonly name: string;
  readonly sources: string;
  /** All files of the sources; a change of one is another build. */
  readonly files: readonly string[];
  /** Arguments of `go` before those for the output. */
  readonly args: readonly string[];
  readonly timeoutMs: number;
}

/** Builds a program into the artifacts, once for each content of its sources. Throws if that is impossible, e.g. without Go or a network. */
export async function buildGoSources({ name, sources, files, args, timeoutMs }: GoSources): Promise<string> {
  const hash = createHash('sha256');
  for (const file of files) hash.update(readFileSync(join(sources, file)));
  const directory = join(ARTIFACTS, name);
  const program = join(directory, `${name.split('-', 1)[0]}-${hash.digest('hex').slice(0, 16)}`);
  if (existsSync(program)) return program;
  const go = findGo();
  if (!go) throw new Error('there is no go');
  mkdirSync(directory, { recursive: true });
  // Test processes that build at the same time do not see each other's half-written file.
  const own = `${program}.${process.pid}`;
  const env = { ...process.env, CGO_ENABLED: '0' };
  await run(go, [...args, '-o', own, '.'], { cwd: sources, env, timeout: timeoutMs, maxBuffer: 2 ** 26 });
  renameSync(own, program);
  return program;
}
