import { readFileSync, readlinkSync } from 'node:fs';
import { open, rename, rm, stat, utimes } from 'node:fs/promises';
import { hostname } from 'node:os';
import { dirname } from 'node:path';
import { readRegularFile } from '../source/read-file.ts';
import { createFolder } from './create-folder.ts';
import { temporaryPath } from './replace-file.ts';

/** How often a lock is renewed, in milliseconds. */
const RENEW_MS = 10_000;
/** Age of a lock of another machine or container that its process no longer holds, in milliseconds. */
const STALE_MS = 3 * RENEW_MS;
const MAX_BYTES = 1024;

/** Another process has the lock of a file. */
export class FileInUse extends Error {}

/** A file that only one process may write. */
export interface FileLock {
  /**
   * Acquires the lock, or confirms that this process still has it. Throws {@link FileInUse}, which names the process that has it, and errors of
   * the file system.
   */
  acquire(): Promise<void>;
  /** Releases the lock for other processes. */
  release(): Promise<void>;
}

/** The process that has a lock. */
interface Holder {
  readonly host: string;
  readonly pid: number;
  /** Distinguishes processes that had the same id one after the other; empty where it is unknown. */
  readonly started: string;
  /** Where process ids are unique: containers may have the same host name and the same ids. Empty where it is unknown. */
  readonly space: string;
}

/**
 * Creates the lock of a file: `<path>.lock`, which names the process that has it. The lock of a process that has ended is taken over: at once if
 * it ran on this machine, in the same container, otherwise when it was not renewed for half a minute.
 */
export function createFileLock(path: string): FileLock {
  const lock = `${path}.lock`;
  const own = `${JSON.stringify({ host: hostname(), pid: process.pid, started: startOf(process.pid), space: ownSpace() } satisfies Holder)}\n`;
  let timer: NodeJS.Timeout | undefined;
  let isHeld = false;

  async function acquire(): Promise<void> {
    const written = await readLock(lock);
    if (isHeld && written === own) return;
    isHeld = false;
    if (written !== undefined) {
      await removeStale(lock, written);
      await removeUnfinished(path, written);
    }
    await createFolder(dirname(path));
    await create(lock, own);
    isHeld = true;
    clearInterval(timer);
    timer = setInterval(() => void renew(), RENEW_MS).unref();
  }

  async function renew(): Promise<void> {
    const now = new Date();
    await utimes(lock, now, now).catch(() => {});
  }

  return {
    acquire,
    async release() {
      clearInterval(timer);
      if (isHeld && (await readLock(lock).catch(() => undefined)) === own) await rm(lock, { force: true });
      isHeld = false;
    },
  };
}

async function readLock(lock: string): Promise<string | undefined> {
  try {
    return readRegularFile(lock, MAX_BYTES).toString('utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

async function create(lock: string, own: string): Promise<void> {
  let file;
  try {
    file = await open(lock, 'wx', 0o600);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    // Another process was faster.
    throw inUse(await readLock(lock));
  }
  try {
    await file.writeFile(own);
  } catch (error) {
    await rm(lock, { force: true });
    throw error;
  } finally {
    await file.close();
  }
}

/** Removes the lock of a process that has ended. Throws {@link FileInUse} if it may still run. */
async function removeStale(lock: string, written: string): Promise<void> {
  const holder = readHolder(written);
  if (holder ? await isAlive(holder, lock) : await isRecent(lock)) throw inUse(written);
  const removed = `${lock}.${process.pid}`;
  try {
    await rename(lock, removed);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    throw inUse(await readLock(lock));
  }
  // Another process may have taken it over in between.
  if ((await readLock(removed)) !== written) {
    await rename(removed, lock);
    throw inUse(await readLock(lock));
  }
  await rm(removed, { force: true });
}

/** Removes what the process was writing when it was killed: it may be large, and no other process would ever replace it. */
async function removeUnfinished(path: string, written: string): Promise<void> {
  const holder = readHolder(written);
  if (holder) await rm(temporaryPath(path, holder.pid), { force: true });
}

async function isAlive({ host, pid, started, space }: Holder, lock: string): Promise<boolean> {
  if (host !== hostname() || space !== ownSpace()) return isRecent(lock);
  if (pid === process.pid) return false;
  try {
    process.kill(pid, 0);
  } catch (error) {
    // EPERM: a process of another user.
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false;
  }
  const now = startOf(pid);
  return started === '' || now === '' || started === now;
}

async function isRecent(lock: string): Promise<boolean> {
  const { mtimeMs } = await stat(lock);
  return Date.now() - mtimeMs < STALE_MS;
}

function readHolder(written: string): Holder | undefined {
  try {
    const { host, pid, started, space = '' } = JSON.parse(written) as Partial<Holder>;
    const isHolder = typeof host === 'string' && Number.isInteger(pid) && pid! > 0 && typeof started === 'string';
    return isHolder ? { host, pid: pid!, started, space } : undefined;
  } catch {
    return undefined;
  }
}

function inUse(written: string | undefined): FileInUse {
  const holder = readHolder(written ?? '');
  const who = holder ? `process ${holder.pid} of ${holder.host}` : 'another process';
  return new FileInUse(`it is in use by ${who}: use another --state-dir`);
}

/** Returns the boot of the system and the namespace of its process ids; empty where they are unknown. */
function ownSpace(): string {
  try {
    return `${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()} ${readlinkSync('/proc/self/ns/pid')}`;
  } catch {
    return '';
  }
}

/** Returns when a process of this machine started, in ticks since the boot; empty where that is unknown. */
function startOf(pid: number): string {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name, in parentheses, may contain spaces.
    return text.slice(text.lastIndexOf(')') + 2).split(' ')[19] ?? '';
  } catch {
    return '';
  }
}
