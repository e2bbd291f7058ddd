import { lstatSync, mkdirSync, statSync } from 'node:fs';
import { enableCompileCache } from 'node:module';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';

const WRITABLE_BY_OTHERS = 0o022;
const STICKY = 0o1000;

/**
 * Keeps the compiled code of a program for its next start, in `CACHE_DIRECTORY` of systemd, or else in `edge-gateway` below `XDG_CACHE_HOME` or `~/.cache`.
 * Call it before other modules are imported. Returns the directory, for programs that this one starts. Does nothing if the variables of Node.js enable
 * or disable its cache, or if other users could write to the directory, because the code is executed without a check. A program without a
 * cache only starts slower.
 */
export function keepCompiledCode(env: Readonly<Record<string, string | undefined>>): string | undefined {
  if (env['NODE_COMPILE_CACHE'] !== undefined || env['NODE_DISABLE_COMPILE_CACHE'] !== undefined) return undefined;
  const directory = directoryOf(env);
  if (directory === undefined) return undefined;
  const isOwn = createFolder(dirname(directory)) && createFolder(directory) && onlyThisUserWrites(directory);
  if (!isOwn) return undefined;
  enableCompileCache(directory);
  return directory;
}

function directoryOf(env: Readonly<Record<string, string | undefined>>): string | undefined {
  const [service] = (env['CACHE_DIRECTORY'] ?? '').split(':');
  if (service) return service;
  try {
    return join(env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'edge-gateway');
  } catch {
    // `homedir` throws if the user is not in the password file and HOME is not set, as in containers with an arbitrary user id.
    return undefined;
  }
}

/** Creates a directory for its owner only; returns false if that is not possible. */
function createFolder(path: string): boolean {
  try {
    mkdirSync(path, { mode: 0o700 });
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EEXIST';
  }
}

/** Returns true if no other user can write to a directory, or replace it; root can anyway. */
function onlyThisUserWrites(directory: string): boolean {
  // Directories in the profile of a user of Windows have other permissions.
  const user = process.geteuid?.();
  if (user === undefined) return true;
  // Whoever owns a link can replace it, also in a directory for all users such as `/tmp`.
  const [own, parent] = [lstatSync(directory), statSync(dirname(directory))];
  const keepsEntries = (parent.mode & WRITABLE_BY_OTHERS) === 0 || (parent.mode & STICKY) !== 0;
  return (
    own.isDirectory() &&
    own.uid === user &&
    (own.mode & WRITABLE_BY_OTHERS) === 0 &&
    (parent.uid === user || parent.uid === 0) &&
    keepsEntries
  );
}
