import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileError } from '../error-codes.ts';
import type { Io } from '../io.ts';

/** Reads a file relative to the directory of the caller; `ERR_CLI_FILE` if it cannot be read. */
export function readInputFile(io: Io, path: string): Buffer {
  try {
    return readFileSync(resolve(io.cwd, path));
  } catch (error) {
    throw fileError(path, error);
  }
}
