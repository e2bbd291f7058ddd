import { spawn, type StdioOptions } from 'node:child_process';
import { once } from 'node:events';
import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, join, resolve } from 'node:path';
import type { Command } from 'commander';
import { cliError } from '../error-codes.ts';
import type { Io } from '../io.ts';
import { didYouMean, namesOf } from './command-help.ts';

/**
 * Runs the program `gatewayctl-<word>` on the PATH if the first word of a call is not a built-in command.
 * Returns its exit status; `undefined` for a built-in command. An unknown word without such a program: `ERR_CLI_USAGE`.
 */
export async function runPlugin(io: Io, program: Command, argv: readonly string[]): Promise<number | undefined> {
  const word = argv[0];
  if (word === undefined || word.startsWith('-')) return undefined;
  const known = namesOf(program);
  if (known.includes(word)) return undefined;
  const file = /^[\w][\w.-]*$/.test(word) ? findOnPath(`gatewayctl-${word}`, io) : undefined;
  if (!file) throw cliError('ERR_CLI_USAGE', `unknown command '${word}'${didYouMean(word, known)}`);
  return start(file, argv.slice(1), io);
}

function findOnPath(name: string, io: Io): string | undefined {
  const directories = (io.env['PATH'] ?? '').split(delimiter).filter(Boolean);
  return directories.map((directory) => resolve(io.cwd, join(directory, name))).find(isProgram);
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}

async function start(file: string, args: readonly string[], io: Io): Promise<number> {
  const isDirect = io.stdout === process.stdout;
  const stdio: StdioOptions = isDirect ? 'inherit' : ['ignore', 'pipe', 'pipe'];
  const child = spawn(file, args, { cwd: io.cwd, env: { ...io.env }, stdio });
  child.stdout?.on('data', (chunk: Buffer) => void io.stdout.write(chunk));
  child.stderr?.on('data', (chunk: Buffer) => void io.stderr.write(chunk));
  try {
    const [code] = (await once(child, 'close')) as [number | null];
    return code ?? 1;
  } catch (error) {
    throw cliError('ERR_CLI_PLUGIN', `${file} could not be started`, error);
  }
}
