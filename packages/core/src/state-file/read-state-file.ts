import type { Stats } from 'node:fs';
import { readRegularFile, UnusableFile } from '../source/read-file.ts';

/** Write permissions of group and others. */
const WRITABLE_BY_OTHERS = 0o022;

/**
 * Reads a file that only this process should have written; `undefined` if there is none. Throws {@link UnusableFile} if other users may have written it, if it is
 * not a file or too large, or if it cannot be read.
 */
export function readStateFile(path: string, maxBytes: number): Buffer | undefined {
  try {
    return readRegularFile(path, maxBytes, 0, mustBeOwn);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return undefined;
    throw error instanceof UnusableFile ? error : new UnusableFile(`cannot be read: ${code ?? message}`);
  }
}

/** Throws {@link UnusableFile} if other users may have written a file. */
export function mustBeOwn({ mode, uid }: Pick<Stats, 'mode' | 'uid'>): void {
  const own = process.geteuid?.();
  if (own !== undefined && uid !== own && uid !== 0) throw new UnusableFile('belongs to another user');
  if (process.platform === 'win32' || (mode & WRITABLE_BY_OTHERS) === 0) return;
  const shown = (mode & 0o777).toString(8).padStart(4, '0');
  throw new UnusableFile(`can be written by other users (mode ${shown}): remove it, or set its mode to 0600`);
}
