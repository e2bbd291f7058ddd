import { constants, realpathSync } from 'node:fs';
import { isAbsolute, relative, resolve, sep } from 'node:path';
import { readRegularFile, UnusableFile } from '@edge-gateway/core';

/** Largest descriptor set in a file, in bytes. */
export const MAX_DESCRIPTOR_BYTES = 10 * 1024 * 1024;
const FIELD = 'protoDescriptor';

/**
 * Reads a file below a directory; a relative path starts there. Throws an `Error` for a path outside the directory, by `..`,
 * an absolute path or a symbolic link, and if it is not a file of at most 10 MiB.
 */
export function readDescriptorFile(path: string, root: string): Buffer {
  const base = realpathSync(root);
  const wanted = resolve(root, path);
  // Checked before `realpath`, so that the error does not reveal whether a path outside exists.
  if (!isBelow(resolve(root), wanted) && !isBelow(base, wanted)) throw outside(path);
  const real = realPath(wanted, path);
  if (!isBelow(base, real)) throw outside(path);
  try {
    return readRegularFile(real, MAX_DESCRIPTOR_BYTES, constants.O_NOFOLLOW);
  } catch (error) {
    if (error instanceof UnusableFile) throw new Error(`${FIELD}: '${path}' ${error.message}`, { cause: error });
    throw error;
  }
}

function realPath(wanted: string, path: string): string {
  try {
    return realpathSync(wanted);
  } catch (cause) {
    throw new Error(`${FIELD}: '${path}' does not exist in the configuration directory`, { cause });
  }
}

function isBelow(base: string, path: string): boolean {
  const way = relative(base, path);
  return way !== '' && way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

function outside(path: string): Error {
  return new Error(`${FIELD}: '${path}' is outside the configuration directory`);
}
