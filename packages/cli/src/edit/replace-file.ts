import { randomUUID } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  closeSync,
  fsyncSync,
  openSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileError } from '../error-codes.ts';

/** Mode of files that may contain secrets. */
export const PRIVATE = 0o600;

/**
 * Writes the whole file or nothing: to a temporary file beside it, which is renamed. Owner and mode of an existing file are
 * kept, unless `mode` is given; of a symbolic link, the file that it leads to is replaced. `shown` names the file in errors.
 */
export function replaceFile(
  path: string,
  content: string | Buffer,
  { shown, mode: wanted }: { readonly shown: string; readonly mode?: number },
): void {
  const target = realPath(path);
  // Its name starts with a dot, so that a gateway does not read it.
  const temporary = join(dirname(target), `.${basename(target)}.${randomUUID()}.tmp`);
  try {
    const before = statSync(target, { throwIfNoEntry: false });
    const mode = wanted ?? (before === undefined ? PRIVATE : before.mode & 0o7777);
    writeSynced(temporary, content, mode);
    if (before !== undefined) keepOwner(temporary, before);
    // The mode of `open` is reduced by the umask, and a change of the owner resets bits.
    chmodSync(temporary, mode);
    renameSync(temporary, target);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw fileError(shown, error);
  }
}

function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

function writeSynced(path: string, content: string | Buffer, mode: number): void {
  const descriptor = openSync(path, 'wx', mode);
  try {
    const bytes = typeof content === 'string' ? Buffer.from(content) : content;
    for (let at = 0; at < bytes.length;) at += writeSync(descriptor, bytes, at);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

function keepOwner(path: string, { uid, gid }: { readonly uid: number; readonly gid: number }): void {
  const now = statSync(path);
  if (now.uid === uid && now.gid === gid) return;
  try {
    chownSync(path, uid, gid);
  } catch {
    // Only root may change the owner of a file.
  }
}
