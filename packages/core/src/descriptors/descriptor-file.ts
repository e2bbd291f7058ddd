import { constants, realpathSync } from 'node:fs';
import { isAbsolute, relative, resolve, sep } from 'node:path';
import { readRegularFile, UnusableFile } from '../source/read-file.ts';

const FIELD = 'protoDescriptor';

/** Largest descriptor set in a file, in bytes. */
export const MAX_DESCRIPTOR_BYTES = 10 * 1024 * 1024;

/**
 * Reads a descriptor set of at most 10 MiB below a directory. Throws an `Error` for a path that leaves it, also by a symbolic link.
 *
 * @example
 * const types = messageRegistry(readDescriptorFile('shop.pb', 'resources'));
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
  const relativePath = relative(base, path);
  return (
    relativePath !== '' && relativePath !== '..' && !relativePath.startsWith(`..${sep}`) && !isAbsolute(relativePath)
  );
}

function outside(path: string): Error {
  return new Error(`${FIELD}: '${path}' is outside the configuration directory`);
}
