import { randomUUID } from 'node:crypto';
import { closeSync, openSync, readFileSync, realpathSync, rmSync, statSync, writeSync } from 'node:fs';
import { hostname } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { cliError, fileError } from '../error-codes.ts';
import type { Io } from '../io.ts';

/** Its name starts with a dot, so that a gateway does not read it. */
const LOCK_FILE = '.gatewayctl.lock';
const WAIT_MS = 10_000;
const POLL_MS = 25;
/** A takeover takes milliseconds; an older takeover file was left by a killed process. */
const TAKEOVER_MS = 5000;
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * Runs work while no other gatewayctl changes the directory. Waits for another one at most 10 seconds, then throws
 * `ERR_CLI_LOCKED`. The lock of a process that no longer exists is taken over. A signal ends the process once the
 * lock is released, so that no file is half-written.
 */
export async function withLock<T>(io: Io, directory: string, work: () => Promise<T>): Promise<T> {
  const file = join(realDirectory(io, directory), LOCK_FILE);
  const token = `${JSON.stringify({ pid: process.pid, host: hostname(), id: randomUUID() })}\n`;
  await acquire(file, token, directory);
  const release = () => releaseOwn(file, token);
  const end = (signal: NodeJS.Signals) => {
    release();
    process.kill(process.pid, signal);
  };
  for (const signal of SIGNALS) process.once(signal, end);
  try {
    return await work();
  } finally {
    for (const signal of SIGNALS) process.off(signal, end);
    release();
  }
}

function realDirectory(io: Io, directory: string): string {
  try {
    const path = realpathSync(resolve(io.cwd, directory));
    if (statSync(path).isDirectory()) return path;
  } catch (error) {
    throw fileError(directory, error);
  }
  throw fileError(directory, { code: 'ENOTDIR' });
}

async function acquire(file: string, token: string, shown: string): Promise<void> {
  const deadline = performance.now() + WAIT_MS;
  for (;;) {
    if (create(file, token, shown)) return;
    const owner = read(file);
    if (owner !== undefined && isGone(owner) && takeOver(file, owner, shown)) continue;
    if (performance.now() > deadline) {
      const who = pidOf(owner);
      const text = `${shown} is locked by another gatewayctl${who}; if none runs, remove ${join(shown, LOCK_FILE)}`;
      throw cliError('ERR_CLI_LOCKED', text);
    }
    await delay(POLL_MS);
  }
}

/** Creates a file with its content; false if it exists. */
function create(file: string, content: string, shown: string): boolean {
  try {
    const descriptor = openSync(file, 'wx', 0o644);
    writeSync(descriptor, content);
    closeSync(descriptor);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw fileError(shown, error);
  }
}

function read(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}

function releaseOwn(file: string, token: string): void {
  if (read(file) === token) rmSync(file, { force: true });
}

interface Owner {
  readonly pid?: number;
  readonly host?: string;
}

function parseOwner(content: string): Owner {
  try {
    return JSON.parse(content) as Owner;
  } catch {
    return {};
  }
}

function pidOf(content: string | undefined): string {
  const { pid, host } = parseOwner(content ?? '');
  return pid === undefined ? '' : ` (process ${pid} on ${host})`;
}

/** True if the owner ran on this host and its process does not exist. */
function isGone(content: string): boolean {
  const { pid, host } = parseOwner(content);
  if (host !== hostname() || !Number.isInteger(pid)) return false;
  try {
    process.kill(pid!, 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH';
  }
}

/** Removes an abandoned lock. A second lock file prevents a race in which one process removes the new lock of another. */
function takeOver(file: string, owner: string, shown: string): boolean {
  const guard = `${file}.takeover`;
  if (!create(guard, '', shown)) {
    const age = Date.now() - (statSync(guard, { throwIfNoEntry: false })?.mtimeMs ?? Infinity);
    if (age > TAKEOVER_MS) rmSync(guard, { force: true });
    return false;
  }
  try {
    if (read(file) === owner) rmSync(file, { force: true });
    return true;
  } finally {
    rmSync(guard, { force: true });
  }
}
