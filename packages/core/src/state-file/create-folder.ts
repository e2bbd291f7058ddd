import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';

/**
 * Creates a directory and its missing parents, for its owner only. The `recursive` option of Node.js is not used: it never returns if a parent exists but
 * does not allow new entries and says so with ENOENT, as `/proc` does.
 */
export async function createFolder(folder: string): Promise<void> {
  try {
    await mkdir(folder, { mode: 0o700 });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') return;
    const parent = dirname(folder);
    if (code !== 'ENOENT' || parent === folder) throw error;
    await createFolder(parent);
    await mkdir(folder, { mode: 0o700 });
  }
}
