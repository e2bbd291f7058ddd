import { constants, lstatSync, readdirSync, realpathSync, statSync, type Dirent, type Stats } from 'node:fs';
import { join, sep } from 'node:path';
import type { TextProblem } from '../parse/source-text.ts';
import { createYielder } from '../time/slices.ts';
import { UnusableFile } from './read-file.ts';

/** The resource files of a directory at one time. */
export interface Listing {
  /** Stamps by path, which change with the file; see {@link stampOf}. */
  readonly stamps: Map<string, string>;
  /** Unreadable folders, by path. */
  readonly problems: Map<string, TextProblem>;
  /** Paths of files by the real target of a link in their path. */
  readonly linked: Map<string, string[]>;
}

const EXTENSIONS = /\.(?:yaml|yml|json)$/;

/** Returns whether a file with this name is read: `*.yaml`, `*.yml`, `*.json`, without a leading dot. */
export function isResourceFile(name: string): boolean {
  return EXTENSIONS.test(name) && !name.startsWith('.');
}

/** What {@link listDirectory} needs to know. */
export interface ListedDirectory {
  /** Called before a folder is read, with its identity, which differs from another folder at the same path. */
  enter?(folder: string, identity: string): void;
  /** Returns true for a path that was a file before: a folder in its place is listed as well, as an unreadable file. */
  wasFile?(path: string): boolean;
  /** A link that leads to more folders is not followed. Default: 10,000. */
  readonly maxLinkedFolders?: number;
}

/** Links that lead to more folders are not followed: a link to `/` would never be read completely. */
const MAX_LINKED_FOLDERS = 10_000;

/**
 * Lists a directory recursively. Links are followed, without loops, to at most 10,000 folders each; yields to other work every 20 ms. Pipes, sockets and devices with the name of a
 * resource file are listed, but not opened.
 */
export async function listDirectory(root: string, options: ListedDirectory = {}): Promise<Listing> {
  const { enter, wasFile, maxLinkedFolders = MAX_LINKED_FOLDERS } = options;
  const listing: Listing = { stamps: new Map(), problems: new Map(), linked: new Map() };
  const yieldIfDue = createYielder();
  const open: Folder[] = [{ path: root, real: realpathSync(root), link: undefined, above: new Set() }];
  for (let folder = open.pop(); folder; folder = open.pop()) {
    if (folder.link && ++folder.link.folders > maxLinkedFolders) {
      leaveOut(folder.link, maxLinkedFolders, listing);
      continue;
    }
    enter?.(folder.path, identityOf(folder.path));
    for (const entry of entriesOf(folder, listing)) {
      const found = look(folder, entry, listing);
      if (found) open.push(found);
      if (found && wasFile?.(found.path)) listing.stamps.set(found.path, stampOf(found.path));
      await yieldIfDue();
    }
  }
  return listing;
}

interface Folder {
  readonly path: string;
  readonly real: string;
  /** The outermost link in its path: behind it, the watcher does not see the files. */
  readonly link: Link | undefined;
  readonly above: ReadonlySet<string>;
}

interface Link {
  readonly path: string;
  /** Number of folders behind it that were read. */
  folders: number;
}

/** Lists a link as an unreadable folder. */
function leaveOut({ path }: Link, max: number, { problems, stamps, linked }: Listing): void {
  if (problems.has(path)) return;
  const isBelow = (each: string): boolean => each.startsWith(join(path, sep));
  for (const each of [...problems.keys()].filter(isBelow)) problems.delete(each);
  for (const each of [...stamps.keys()].filter(isBelow)) stamps.delete(each);
  for (const [real, paths] of linked) {
    const kept = paths.filter((each) => !isBelow(each));
    if (kept.length > 0) linked.set(real, kept);
    else linked.delete(real);
  }
  const message = `the link leads to more than ${max} folders`;
  problems.set(path, { code: 'UNREADABLE', offset: 0, message });
}

function entriesOf(folder: Folder, listing: Listing): Dirent[] {
  try {
    return readdirSync(folder.path, { withFileTypes: true });
  } catch (error) {
    listing.problems.set(folder.path, unreadable(error));
    return [];
  }
}

function look(folder: Folder, entry: Dirent, listing: Listing): Folder | undefined {
  if (entry.name.startsWith('.')) return undefined;
  const path = join(folder.path, entry.name);
  try {
    if (entry.isDirectory()) return below(folder, path, join(folder.real, entry.name), folder.link);
    if (entry.isFile() && !isResourceFile(entry.name)) return undefined;
    const link = entry.isSymbolicLink();
    const stat = link ? statSync(path) : lstatSync(path);
    const real = link ? realpathSync(path) : join(folder.real, entry.name);
    if (stat.isDirectory()) {
      if (link) note(listing, real, path);
      return below(folder, path, real, folder.link ?? { path, folders: 0 });
    }
    if (!isResourceFile(entry.name)) return undefined;
    if (link || folder.link) note(listing, real, path);
    listing.stamps.set(path, stampFrom(stat, link ? real : ''));
  } catch (error) {
    if (!isResourceFile(entry.name)) {
      // It may be a folder with files.
      if (!isMissing(error) && !entry.isFile()) listing.problems.set(path, unreadable(error));
      return undefined;
    }
    note(listing, `unknown target of ${path}`, path);
    listing.stamps.set(path, stampOfError(error));
  }
  return undefined;
}

/** A folder to read, unless it is one of its own parents. */
function below(folder: Folder, path: string, real: string, link: Link | undefined): Folder | undefined {
  const above = new Set([...folder.above, folder.real]);
  return above.has(real) ? undefined : { path, real, link, above };
}

function note(listing: Listing, real: string, path: string): void {
  const paths = listing.linked.get(real);
  if (paths) paths.push(path);
  else listing.linked.set(real, [path]);
}

/** Returns the stamp of a path, which changes with the file, or what is in its place; `gone` if there is nothing. */
export function stampOf(path: string): string {
  let isLink = false;
  try {
    const own = lstatSync(path);
    isLink = own.isSymbolicLink();
    return isLink ? stampFrom(statSync(path), realpathSync(path)) : stampFrom(own, '');
  } catch (error) {
    // The target of a link may be missing for a moment.
    return isMissing(error) && !isLink ? 'gone' : stampOfError(error);
  }
}

/** Returns true if an error means that there is nothing at a path, and not that it cannot be read. */
function isMissing(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === 'ENOENT' || code === 'ENOTDIR';
}

/** Returns the type of a path, without following links. */
export function kindOf(path: string): 'file' | 'other' | 'gone' {
  try {
    return lstatSync(path).isFile() ? 'file' : 'other';
  } catch {
    return 'gone';
  }
}

function stampFrom(stat: Stats, real: string): string {
  const { mtimeMs, ctimeMs, size, ino, mode } = stat;
  // The times of a folder change with the files in it.
  if (!stat.isFile()) return ['special', mode & constants.S_IFMT, ino, real].join(' ');
  // join() avoids a rope string that pins its parts.
  return [mtimeMs, ctimeMs, size, ino, real].join(' ');
}

function stampOfError(error: unknown): string {
  return `error ${(error as NodeJS.ErrnoException).code}`;
}

/** Returns the identity of a folder; empty if there is none. */
export function identityOf(folder: string): string {
  try {
    const { dev, ino, birthtimeMs } = statSync(folder);
    return `${realpathSync(folder)} ${dev} ${ino} ${birthtimeMs}`;
  } catch {
    return '';
  }
}

const REASONS: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  ELOOP: 'its symbolic links form a loop',
  ENOENT: 'the target of the link does not exist',
};

/** Returns the problem for an error of reading a file. */
export function unreadable(error: unknown): TextProblem {
  if (error instanceof UnusableFile) return { code: 'UNREADABLE', offset: 0, message: `it ${error.message}` };
  const code = (error as NodeJS.ErrnoException).code ?? 'unknown error';
  return { code: 'UNREADABLE', offset: 0, message: REASONS[code] ?? `cannot be read (${code})` };
}
