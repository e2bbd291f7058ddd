import { isDeepStrictEqual } from 'node:util';
import type { ObservedProblem } from '../resource/stored.ts';
import type { LoggerName } from '../observe/log-levels.ts';
import type { Logger, Loggers } from '../observe/logger.ts';
import type { Metrics } from '../observe/metrics.ts';
import type { ResourceKey } from '../resource/resource.ts';
import { createYielder } from '../time/slices.ts';
import { stampOf } from './listing.ts';
import {
  createContentEntries,
  stillServing,
  type ContentEntry,
  type ContentNames,
  type WatchedContent,
} from './named-content.ts';

/** Polling interval in milliseconds. A file must be unchanged between two polls before it is read. */
const POLL_MS = 500;
/** Milliseconds that files must be unchanged before an invalid combination is reported: a pair is written one file after the other. */
const SETTLE_MS = 2000;
/** Milliseconds after which files that keep changing are read anyway. */
const RESTLESS_MS = 3000;

/** The content of the files that a resource names, or the first problem of it. */
export interface FilesRead<Content> {
  readonly content?: Content;
  /** Its path is relative to the field that names the files. */
  readonly problem?: ObservedProblem;
  /** Other files that the content names, to be watched with it. Default: none. */
  readonly paths?: readonly string[];
}

/** Files that resources name and whose content is a part of the configuration: how they are found, read and validated. */
export interface ResourceFiles<Files = unknown, Content = unknown> extends ContentNames<Files, Content> {
  /** Names the files in the log (`certificate files replaced`) and in metrics (`certificate_files.update_success`). */
  readonly name: string;
  readonly logger: LoggerName;
  /** Returns the paths to watch. */
  pathsOf(files: Files): readonly string[];
  /** Reads and validates files. An error that it throws is the problem of the files. */
  read(files: Files): FilesRead<Content>;
}

export interface WatchedContentOptions {
  /** Called with the resources whose files were replaced, or whose problems changed. */
  onChange(keys: ReadonlySet<ResourceKey>): void;
  readonly log: Loggers;
  readonly metrics: Metrics;
}

interface Entry<Files, Content> extends ContentEntry<Files, Content> {
  /** Files that the content names. */
  paths: readonly string[];
  stamp: string;
  /** Time of the first and the last change that is not read yet. */
  pending: { readonly since: number; last: number } | undefined;
}

/** Creates a watch without files. Polling also detects replaced links in any parent folder, as in mounted Secrets. */
export function createWatchedFiles<Files, Content>(
  kind: ResourceFiles<Files, Content>,
  { onChange, log, metrics }: WatchedContentOptions,
): WatchedContent<Files, Content> {
  const reader = createReader(kind, log.get(kind.logger), metrics);
  const content = createContentEntries<Files, Content, Entry<Files, Content>>(kind, reader);
  let timer: NodeJS.Timeout | undefined;
  let closed = false;

  function schedule(): void {
    if (timer || closed || content.entries.size === 0) return;
    timer = setTimeout(() => {
      void look()
        .catch((error: unknown) =>
          log.get(kind.logger).error({ reason: (error as Error).message }, `cannot check ${kind.name} files`),
        )
        .finally(() => {
          timer = undefined;
          schedule();
        });
    }, POLL_MS).unref();
  }

  async function look(): Promise<void> {
    const yieldIfDue = createYielder();
    const changed = new Set<ResourceKey>();
    for (const entry of content.entries) {
      if (reader.isReplaced(entry, performance.now())) for (const key of entry.users) changed.add(key);
      await yieldIfDue();
    }
    reader.unusable.value = [...content.entries].filter(({ problem }) => problem).length;
    if (changed.size > 0 && !closed) onChange(changed);
  }

  return {
    get: content.get,
    follow(key, resource) {
      const isFollowed = content.follow(key, resource);
      schedule();
      return isFollowed;
    },
    observedOf: content.observedOf,
    prune: content.prune,
    close() {
      closed = true;
      clearTimeout(timer);
    },
  };
}

const UNREAD = { paths: [], content: undefined, problem: undefined, revision: 0, pending: undefined };

/** Reads files that changed and are stable, and counts the results. */
function createReader<Files, Content>(kind: ResourceFiles<Files, Content>, log: Logger, metrics: Metrics) {
  const { accepted, rejected, unusable } = createContentStats(`${kind.name}_files`, metrics);
  const stampsOf = ({ files, paths }: Pick<Entry<Files, Content>, 'files' | 'paths'>): string =>
    [...kind.pathsOf(files), ...paths].map(stampOf).join('|');

  function readFiles(files: Files): FilesRead<Content> {
    try {
      return kind.read(files);
    } catch (error) {
      return { problem: { severity: 'error', path: [], message: `cannot be read: ${(error as Error).message}` } };
    }
  }

  /** Returns true if the content of the files or their problem changed. */
  function isReplaced(entry: Entry<Files, Content>, now: number): boolean {
    const stamp = stampsOf(entry);
    if (stamp !== entry.stamp) {
      entry.stamp = stamp;
      entry.pending = { since: entry.pending?.since ?? now, last: now };
      if (now - entry.pending.since < RESTLESS_MS) return false;
    }
    if (!entry.pending) return false;
    const read = readFiles(entry.files);
    if (namesOthers(entry, read, now)) return false;
    const isStable = stampsOf(entry) === entry.stamp;
    if (read.problem) return isStable && now - entry.pending.last >= SETTLE_MS && reject(entry, read.problem);
    if (!isStable && now - entry.pending.since < RESTLESS_MS) return false;
    return accept(entry, read);
  }

  /** Returns true if the content names other files than before: it is read once more, now that changes of them are noticed. */
  function namesOthers(entry: Entry<Files, Content>, { paths = [] }: FilesRead<Content>, now: number): boolean {
    if (isDeepStrictEqual(paths, entry.paths)) return false;
    entry.paths = paths;
    entry.stamp = stampsOf(entry);
    entry.pending = { since: entry.pending?.since ?? now, last: now };
    return true;
  }

  function reject(entry: Entry<Files, Content>, problem: ObservedProblem): boolean {
    entry.pending = undefined;
    const { severity, message, path } = entry.content === undefined ? problem : stillServing(problem);
    const now = { severity, message, path };
    if (isDeepStrictEqual(now, entry.problem)) return false;
    rejected.value++;
    entry.problem = now;
    return true;
  }

  function accept(entry: Entry<Files, Content>, { content }: FilesRead<Content>): boolean {
    entry.pending = undefined;
    const isSame = isDeepStrictEqual(content, entry.content);
    if (isSame && !entry.problem) return false;
    entry.problem = undefined;
    if (isSame) return true;
    accepted.value++;
    entry.content = content;
    entry.revision++;
    log.info({ files: [...kind.pathsOf(entry.files), ...entry.paths] }, `${kind.name} files replaced`);
    return true;
  }

  return {
    unusable,
    isReplaced,
    open(files: Files): Entry<Files, Content> {
      const entry: Entry<Files, Content> = {
        ...UNREAD,
        files,
        users: new Set(),
        stamp: stampsOf({ files, paths: [] }),
      };
      const read = readFiles(files);
      entry.content = read.content;
      entry.problem = read.problem;
      namesOthers(entry, read, performance.now());
      return entry;
    },
  };
}

/** Creates the statistics of the content of a kind, e.g. `certificate_files`. */
export function createContentStats(kind: string, metrics: Metrics) {
  const name = (path: string) => ({ path: `${kind}.${path}`, metric: `gw_${kind}_${path}` });
  return {
    accepted: metrics.counter(name('update_success')),
    rejected: metrics.counter(name('update_rejected')),
    unusable: metrics.gauge(name('unusable')),
  };
}
