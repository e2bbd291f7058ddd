import { watch, type FSWatcher } from 'node:fs';
import { basename, join } from 'node:path';
import type { Logger } from '../observe/logger.ts';

/**
 * Number of events in one turn after which some may have been lost: half of the queue of the system (16,384 on Linux),
 * which does not report dropped events.
 */
const MANY_EVENTS = 8192;

export interface WatchListener {
  changed(paths: ReadonlySet<string>): void;
  /** Called after an event that requires a full listing. */
  unknown(): void;
}

/** Watches folders, each without its subfolders. Does not keep the process alive. */
export interface FolderWatch {
  /** False after the system failed to watch a folder, until the next complete round. */
  readonly complete: boolean;
  /** Begins a round, in which each folder to watch is passed to `add` before `finish`. */
  begin(): void;
  /** Watches a folder; `identity` distinguishes it from another folder at the same path. */
  add(folder: string, identity: string): void;
  /** Ends a round: folders that were not part of it are no longer watched. */
  finish(): void;
  close(): void;
}

export function createFolderWatch(listener: WatchListener, log: Logger): FolderWatch {
  const watchers = new Map<string, { readonly identity: string; readonly watcher: FSWatcher }>();
  let round = new Set<string>();
  let refused = '';
  let changed = new Set<string>();
  let events = 0;

  function received(folder: string, name: string | null): void {
    if (events++ === 0) setImmediate(deliver);
    // A folder that is deleted or moved reports its own name.
    if (name === null || name === basename(folder)) events = MANY_EVENTS;
    else changed.add(join(folder, name));
  }

  function deliver(): void {
    const paths = changed;
    const many = events >= MANY_EVENTS;
    changed = new Set();
    events = 0;
    if (watchers.size === 0) return;
    if (many) listener.unknown();
    listener.changed(paths);
  }

  function drop(folder: string): void {
    watchers.get(folder)?.watcher.close();
    watchers.delete(folder);
  }

  return {
    get complete() {
      return refused === '';
    },
    begin() {
      round = new Set();
    },
    add(folder, identity) {
      round.add(folder);
      if (watchers.get(folder)?.identity === identity) return;
      drop(folder);
      try {
        const watcher = watch(folder, { persistent: false }, (_, name) => received(folder, name));
        watcher.on('error', () => {
          drop(folder);
          listener.unknown();
        });
        watchers.set(folder, { identity, watcher });
      } catch (error) {
        const { code = '' } = error as NodeJS.ErrnoException;
        if (code === 'ENOENT' || code === 'EACCES') return;
        if (code !== refused) log.warn({ folder, reason: code }, 'cannot watch a folder, polling instead');
        refused = code;
      }
    },
    finish() {
      for (const folder of watchers.keys()) if (!round.has(folder)) drop(folder);
      if ([...round].every((folder) => watchers.has(folder))) refused = '';
    },
    close() {
      for (const folder of watchers.keys()) drop(folder);
    },
  };
}
