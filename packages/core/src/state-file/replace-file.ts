import { open, rename, rm, type FileHandle } from 'node:fs/promises';
import { dirname } from 'node:path';
import { createFolder } from './create-folder.ts';

/** Returns the path at which a process writes what will replace a file. */
export const temporaryPath = (path: string, pid: number): string => `${path}.${pid}.tmp`;

/**
 * Replaces a file atomically; only its owner can read it. `write` writes the content, which is on disk before the old one is replaced. Missing parent
 * directories are created.
 */
export async function replaceFile(path: string, write: (file: FileHandle) => Promise<void>): Promise<void> {
  const folder = dirname(path);
  await createFolder(folder);
  const temporary = temporaryPath(path, process.pid);
  try {
    // Left behind by a process that was killed. A link of this name must not be followed.
    await rm(temporary, { force: true });
    const file = await open(temporary, 'wx', 0o600);
    try {
      await file.chmod(0o600);
      await write(file);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
  const parent = await open(folder, 'r');
  await parent.sync().finally(() => parent.close());
}
