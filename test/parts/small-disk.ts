import { execFile } from 'node:child_process';
import { mkdtempSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** A file system of a few megabytes. */
export interface SmallDisk {
  readonly path: string;
  /** Leaves no free block. */
  fill(): void;
  /** Frees what `fill` used. */
  free(): void;
  close(): Promise<void>;
}

/** Mounts a file system in memory; `undefined` without the permission to mount. */
export async function mountSmallDisk(megabytes: number): Promise<SmallDisk | undefined> {
  const path = mkdtempSync(join(tmpdir(), 'disk-'));
  const file = join(path, '.filler');
  try {
    await run('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', path]);
  } catch {
    rmdirSync(path);
    return undefined;
  }
  return {
    path,
    fill() {
      // Large pieces first, then what remains.
      for (const size of [65_536, 4096, 1]) {
        const piece = Buffer.alloc(size);
        try {
          for (;;) writeFileSync(file, piece, { flag: 'a' });
        } catch (error) {
          if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
        }
      }
    },
    free: () => rmSync(file, { force: true }),
    async close() {
      await run('umount', ['--lazy', path]);
      rmdirSync(path);
    },
  };
}
