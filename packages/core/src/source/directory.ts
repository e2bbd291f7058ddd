import { realpathSync, statSync } from 'node:fs';
import { basename, normalize, relative, sep } from 'node:path';
import { GatewayError } from '../errors.ts';
import { libraryLoggers, type Logger } from '../observe/logger.ts';
import { MAX_FILE_BYTES } from '../parse/source-text.ts';
import { unreadableUnit } from '../parse/parse.ts';
import type { Kind } from '../resource/resource.ts';
import { identityOf, isResourceFile, kindOf, listDirectory, type Listing } from './listing.ts';
import { fromNamespaceLayout } from './namespace-layout.ts';
import { KnownFiles } from './known-files.ts';
import { createPending, type Pending } from './pending.ts';
import { documentsOf } from './read-kinds.ts';
import { readUnit, SLOW_BYTES } from './read-unit.ts';
import type { Source, SourceChange, WrittenResource } from './source.ts';
import { createFolderWatch, type FolderWatch } from './watch.ts';
import { createYielder } from '../time/slices.ts';
import { startTimer } from '../time/timer.ts';

/** Interval between checks for changes that no watcher reports, in milliseconds. */
const POLL_MS = 500;
/** Default interval between complete listings, in milliseconds. */
const REFRESH_MS = 60_000;
/** Pause after a delivery, as a multiple of the time that it took: files that change without end are delivered together, and leave time for other work. */
const PAUSE_FACTOR = 4;
/** Longest pause after a delivery, in milliseconds. */
const MAX_PAUSE_MS = 200;

const MISSING_ROOT = {
  code: 'UNREADABLE',
  offset: 0,
  message: 'the directory cannot be found: its last resources stay in use',
} as const;

/** Options of {@link directorySource}. */
export interface DirectoryOptions {
  /** Whether changes are followed. Default true; false reads once. */
  readonly watch?: boolean;
  /** How long a file must rest before it is read, in milliseconds. Default 20. */
  readonly debounceMs?: number;
  /** Maximum size of a file in bytes; larger files are rejected unread. Default 16 MiB. */
  readonly maxFileBytes?: number;
  /** Kinds to read; documents of other kinds are ignored. Default: all. */
  readonly kinds?: ReadonlySet<Kind> | undefined;
  /** Default: warnings and errors, to standard error. */
  readonly log?: Logger;
}

/**
 * Returns a source that reads `*.yaml`, `*.yml` and `*.json` below a directory, with several documents per file, and follows every change.
 * Names that start with a dot are ignored; links are followed. An unreadable file is one issue and affects nothing else. A file
 * `<plural>/<namespace>/<name>.yaml` may leave out `kind` and `spec`, see `fromNamespaceLayout`.
 * `start` throws `ERR_CORE_DIRECTORY_UNREADABLE` when there is no such directory.
 *
 * @example
 * const controlPlane = createControlPlane({ source: directorySource('./resources') });
 */
export function directorySource(directory: string, options: DirectoryOptions = {}): Source {
  return new DirectorySource(normalize(directory), options);
}

class DirectorySource implements Source {
  readonly name: string;
  readonly kinds: ReadonlySet<Kind> | undefined;
  readonly #root: string;
  readonly #watch: boolean;
  readonly #debounceMs: number;
  readonly #maxFileBytes: number;
  readonly #log: Logger;
  readonly #pending: Pending;
  /** Delivered files with their stamps. */
  readonly #known = new KnownFiles();
  #linked: Listing['linked'] = new Map();
  /** Folders that were unreadable in the last listing. */
  #unreadable: ReadonlySet<string> = new Set();
  #deliver: ((change: SourceChange) => void) | undefined;
  #stale = false;
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> | undefined;
  #nextPoll = 0;
  #nextDelivery = 0;
  #refreshMs = REFRESH_MS;
  #listedAt = 0;
  #folders: FolderWatch | undefined;
  #pollTimer: NodeJS.Timeout | undefined;
  #identity = '';
  #isClosed = false;

  constructor(root: string, options: DirectoryOptions) {
    this.name = `directory ${root}`;
    this.#root = root;
    this.kinds = options.kinds;
    this.#watch = options.watch ?? true;
    this.#debounceMs = options.debounceMs ?? 20;
    this.#maxFileBytes = options.maxFileBytes ?? MAX_FILE_BYTES;
    this.#log = options.log ?? libraryLoggers.get('config');
    this.#pending = createPending(this.#debounceMs, (path) => this.#read(path, 'change'));
  }

  async start(onChange: (change: SourceChange) => void): Promise<void> {
    mustBeDirectory(this.#root);
    this.#identity = identityOf(this.#root);
    if (this.#watch) {
      const listener = {
        changed: (paths: ReadonlySet<string>) => this.#changed(paths),
        unknown: () => this.#listAgain(),
      };
      this.#folders = createFolderWatch(listener, this.#log);
      this.#pollTimer = setInterval(() => this.#poll(), POLL_MS);
    }
    const reading = this.#readAll();
    this.#running = reading.then(ignore, ignore);
    const change = await reading;
    this.#running = undefined;
    if (this.#isClosed) return;
    onChange(change);
    this.#deliver = onChange;
    this.#schedule();
  }

  /** Lists the directory at least this often: no watcher reports changes that other machines make on a network file system. */
  refreshEvery(ms: number): void {
    this.#refreshMs = ms;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#deliver = undefined;
    clearTimeout(this.#timer);
    clearInterval(this.#pollTimer);
    await this.#running;
    this.#folders?.close();
  }

  /** Reads a file, or one that changed while its resources are served. */
  async #read(path: string, when: 'start' | 'change'): Promise<readonly WrittenResource[]> {
    const threadBytes = when === 'change' ? SLOW_BYTES : undefined;
    return this.#inUsualForm(path, await readUnit(path, this.#maxFileBytes, threadBytes));
  }

  #inUsualForm(path: string, written: readonly WrittenResource[]): readonly WrittenResource[] {
    return documentsOf(fromNamespaceLayout(written, relative(this.#root, path)), this.kinds);
  }

  async #readAll(): Promise<SourceChange> {
    const listing = await this.#list();
    const change = new Map<string, readonly WrittenResource[]>();
    const yieldIfDue = createYielder();
    for (const path of listing.stamps.keys()) {
      if (this.#isClosed) break;
      change.set(path, await this.#read(path, 'start'));
      await yieldIfDue();
    }
    this.#takeProblems(listing, change);
    this.#known.replace(listing.stamps);
    return change;
  }

  /** Lists everything. Each folder is watched before it is read, so that no change is missed. */
  async #list(): Promise<Listing> {
    this.#stale = false;
    const began = performance.now();
    this.#folders?.begin();
    const listing = await listDirectory(this.#root, {
      enter: (folder, identity) => this.#folders?.add(folder, identity),
      wasFile: (path) => isResourceFile(basename(path)) && this.#known.has(path) && !this.#unreadable.has(path),
    });
    this.#folders?.finish();
    this.#listedAt = performance.now();
    this.#nextPoll = this.#listedAt + 20 * (this.#listedAt - began);
    return listing;
  }

  /** Reports unreadable folders. The resources below them are kept. */
  #takeProblems(listing: Listing, change: Map<string, readonly WrittenResource[]>): void {
    this.#linked = listing.linked;
    for (const folder of this.#unreadable) {
      if (listing.problems.has(folder)) continue;
      this.#known.delete(folder);
      change.set(folder, []);
    }
    this.#unreadable = new Set(listing.problems.keys());
    for (const [folder, problem] of listing.problems) {
      if (this.#known.get(folder) !== problem.message) change.set(folder, [unreadableUnit(folder, problem)]);
      for (const [path, stamp] of this.#known.stamps) if (isBelow(path, folder)) listing.stamps.set(path, stamp);
      listing.stamps.set(folder, problem.message);
    }
  }

  #changed(paths: ReadonlySet<string>): void {
    const now = performance.now();
    for (const path of paths) {
      // A link elsewhere in the tree may point to any file.
      if (this.#linked.size > 0) this.#stale = true;
      const files = this.#filesAt(path);
      if (files) for (const file of files) this.#pending.touch(file, now);
      else if (this.#mayHoldFiles(path)) this.#stale = true;
    }
    this.#schedule();
  }

  /** Returns the files affected by a change at a path; `undefined` if that requires a full listing. */
  #filesAt(path: string): readonly string[] | undefined {
    if (isHidden(relative(this.#root, path)) || !isResourceFile(basename(path))) return undefined;
    const kind = kindOf(path);
    return kind === 'file' || (kind === 'gone' && this.#known.has(path)) ? [path] : undefined;
  }

  /** Whether an event of something other than a known plain file may have added, changed or removed files. */
  #mayHoldFiles(path: string): boolean {
    if (isHidden(relative(this.#root, path))) return false;
    const kind = kindOf(path);
    if (kind !== 'gone') return kind === 'other';
    return this.#known.has(path) || this.#known.isFolder(path);
  }

  /** Detects what the watcher does not report: another folder at the same path, and files behind links. */
  #poll(): void {
    const identity = identityOf(this.#root);
    if (identity === '') this.#rootVanished();
    else if (identity !== this.#identity) {
      this.#identity = identity;
      this.#listAgain();
    } else if (performance.now() > this.#nextPoll && (this.#isRefreshDue() || this.#needsListings())) {
      this.#listAgain();
    }
  }

  #isRefreshDue(): boolean {
    return performance.now() - this.#listedAt >= this.#refreshMs;
  }

  /** Whether the watcher does not report all changes. */
  #needsListings(): boolean {
    return !this.#folders!.complete || this.#leadsElsewhere();
  }

  /** Whether a link points outside the watched folders. */
  #leadsElsewhere(): boolean {
    if (this.#linked.size === 0) return false;
    const real = realPathOf(this.#root);
    // The directory was removed after the check: the next poll detects that.
    if (real === undefined) return false;
    const root = real + sep;
    return [...this.#linked.keys()].some((real) => !real.startsWith(root) || isHidden(real.slice(root.length)));
  }

  #listAgain(): void {
    this.#stale = true;
    this.#schedule();
  }

  #schedule(): void {
    if (!this.#deliver || this.#timer || this.#running) return;
    if (!this.#stale && this.#pending.size === 0) return;
    const delayMs = Math.max(this.#debounceMs, this.#nextDelivery - performance.now());
    this.#timer = startTimer(() => {
      this.#timer = undefined;
      this.#running = this.#settle().finally(() => {
        this.#running = undefined;
        this.#schedule();
      });
    }, delayMs);
  }

  /** Delivers the files that are stable now. */
  async #settle(): Promise<void> {
    try {
      if (!isDirectory(this.#root)) return this.#rootVanished();
      const change = new Map<string, readonly WrittenResource[]>();
      if (this.#stale) await this.#compare(change);
      for (const [path, { stamp, written }] of await this.#pending.settled(performance.now())) {
        if (stamp === 'gone') this.#known.delete(path);
        else this.#known.set(path, stamp);
        change.set(path, written);
      }
      if (change.size === 0) return undefined;
      const began = performance.now();
      this.#deliver?.(change);
      const now = performance.now();
      this.#nextDelivery = now + Math.min(MAX_PAUSE_MS, (now - began) * PAUSE_FACTOR);
    } catch (error) {
      this.#log.error({ directory: this.#root, reason: (error as Error).message }, 'cannot read the directory');
    }
  }

  /** The directory itself is missing: its resources are kept, and the next poll that finds it lists everything. */
  #rootVanished(): void {
    this.#pending.clear();
    this.#stale = false;
    if (this.#identity === '') return;
    this.#identity = '';
    this.#log.warn({ directory: this.#root }, 'directory disappeared, waiting for it');
    // The next listing removes the problem.
    this.#unreadable = new Set([...this.#unreadable, this.#root]);
    this.#deliver?.(new Map([[this.#root, [unreadableUnit(this.#root, MISSING_ROOT)]]]));
  }

  /** Detects changes by a full listing. */
  async #compare(change: Map<string, readonly WrittenResource[]>): Promise<void> {
    const listing = await this.#list();
    this.#takeProblems(listing, change);
    for (const folder of listing.problems.keys()) this.#known.set(folder, listing.stamps.get(folder)!);
    const now = performance.now();
    for (const [path, stamp] of listing.stamps) {
      if (this.#known.get(path) !== stamp) this.#pending.add(path, stamp, now);
    }
    for (const path of this.#known.stamps.keys()) if (!listing.stamps.has(path)) this.#pending.add(path, 'gone', now);
  }
}

/** Returns true if there is a directory at a path, also behind a link. */
export function isDirectory(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}

function ignore(): void {}

function realPathOf(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    return undefined;
  }
}

function isBelow(path: string, folder: string): boolean {
  const steps = relative(folder, path);
  return steps !== '' && steps !== '..' && !steps.startsWith(`..${sep}`);
}

function isHidden(steps: string): boolean {
  return steps.split(sep).some((step) => step.startsWith('.'));
}

function mustBeDirectory(path: string): void {
  if (isDirectory(path)) return;
  throw new GatewayError(`directory not found: ${path}`, { code: 'ERR_CORE_DIRECTORY_UNREADABLE' });
}
