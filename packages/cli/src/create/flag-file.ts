import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { cliError, fileError } from '../error-codes.ts';
import type { Io } from '../io.ts';

/** Files that flags name are at most this long, in bytes. */
const MAX_BYTES = 1_048_576;

/** A file that a flag names; `ERR_CLI_FILE` when it cannot be read, `ERR_CLI_USAGE` when it is empty or too long. */
export function readFlagFile(io: Io, flag: string, path: string): Buffer {
  let content: Buffer;
  try {
    content = readFileSync(resolve(io.cwd, path));
  } catch (error) {
    throw fileError(path, error);
  }
  if (content.length === 0) throw cliError('ERR_CLI_USAGE', `--${flag}: ${path} is empty`);
  if (content.length > MAX_BYTES)
    throw cliError('ERR_CLI_USAGE', `--${flag}: ${path} is larger than ${MAX_BYTES} bytes`);
  return content;
}

/** Returns the value of a flag, or of the file of `--<flag>-file`, without its last line break. One of them is required. */
export function valueOf(io: Io, flag: string, given: { readonly value?: string; readonly file?: string }): string {
  const { value, file } = given;
  if (value !== undefined && file !== undefined) {
    throw cliError('ERR_CLI_USAGE', `--${flag} and --${flag}-file exclude each other`);
  }
  const text =
    file === undefined
      ? value
      : readFlagFile(io, `${flag}-file`, file)
          .toString('utf8')
          .replace(/\r?\n$/, '');
  if (text === undefined || text === '') throw cliError('ERR_CLI_USAGE', `missing --${flag} or --${flag}-file`);
  return text;
}
