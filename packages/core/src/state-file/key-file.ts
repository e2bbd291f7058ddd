import { coreError } from '../error-codes.ts';
import { readRegularFile, UnusableFile } from '../source/read-file.ts';

const MIN_KEY_BYTES = 32;
const MAX_KEY_BYTES = 4096;

/** Reads a key from a file with at least 32 random bytes, for `deriveKey`. Throws `ERR_CORE_KEY_FILE` if it is unreadable or too short. */
export function readKeyFile(path: string): Uint8Array {
  const bytes = read(path);
  if (bytes.length < MIN_KEY_BYTES) throw keyError(path, `a key must have at least ${MIN_KEY_BYTES} bytes`);
  return bytes;
}

function read(path: string): Buffer {
  try {
    return readRegularFile(path, MAX_KEY_BYTES);
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    if (code === 'ENOENT') throw keyError(path, 'does not exist', cause);
    throw keyError(path, cause instanceof UnusableFile ? message : `cannot be read: ${code ?? message}`, cause);
  }
}

function keyError(path: string, what: string, cause?: unknown) {
  return coreError('ERR_CORE_KEY_FILE', `key file ${path}: ${what}`, { cause });
}
