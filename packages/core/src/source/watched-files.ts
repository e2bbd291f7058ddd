import { isDeepStrictEqual } from 'node:util';
import type { Observed, ObservedProblem } from '../resource/stored.ts';
import type { Logger, LoggerName, Loggers } from '../observe/logger.ts';
import type { Metrics } from '../observe/metrics.ts';
import type { FieldPath } from '../resource/problem.ts';
import type { Kind, Resource, ResourceKey } from '../resource/resource.ts';
import type { Snapshot } from '../contract/snapshot.ts';
import { createYielder, stampOf } from './listing.ts';

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

/** Files that a resource names. */
export interface NamedFiles<Files> {
  readonly files: Files;
  /** Path of the field that names them. */
  readonly at: FieldPath;
}

/** Files that resources name and whose content is a part of the configuration: how they are found, read and validated. */
export interface ResourceFiles<Files = unknown, Content = unknown> {
  /** Names the files in the log (`certificate files replaced`) and in metrics (`certificate_files.update_success`). */
  readonly name: string;
  readonly logger: LoggerName;
  /** The kinds that may name such files. */
  readonly kinds: readonly Kind[];
  /** Returns the files that a resource names, and where. */
  filesOf(resource: Resource): readonly NamedFiles<Files>[];
  /** Returns the same text for the same files. */
  keyOf(files: Files): string;
  /** Returns the paths to watch. */
  pathsOf(files: Files): readonly string[];
  /** Reads and validates files. Must not throw. */
  read(files: Files): FilesRead<Content>;
  /** Returns the content as the resource has it, for the translation. Default: it is not part of the resource. */
  observedOf?(content: Content): Pick<Observed, 'descriptorSet'>;
  /** Returns true if a snapshot still needs files that no resource names any more. Default: false. */
  isServed?(files: Files, snapshot: Snapshot): boolean;
}

/** Reads, validates and watches the files of resources. The last valid content stays in use. */
export interface WatchedFiles<Files, Content> {
  /** Returns the last valid content of the files, the same object until it changes; `undefined` before there was any. */
  get(files: Files): Content | undefined;
  /** Sets the resource of a key, and reads the files that it names newly. `undefined` for none. Returns true if it may name files. */
  follow(key: ResourceKey, resource: Resource | undefined): boolean;
  /** Returns the content and the problems of the files of a resource, and the number of replacements. */
  observedOf(key: ResourceKey): Observed | undefined;
  /** Drops files that no resource names, and that these snapshots do not need. */
  prune(snapshots: Iterable<Snapshot>): void;
  close(): void;
}

export interface WatchedFilesOptions {
  /** Called with the resources whose files were replaced, or whose problems changed. */
  onChange(keys: ReadonlySet<ResourceKey>): void;
  readonly log: Loggers;
  readonly metrics: Metrics;
}

interface Entry<Files, Content> {
  readonly files: Files;
  readonly users: Set<ResourceKey>;
  /** Files that the content names. */
  paths: readonly string[];
  stamp: string;
  content: Content | undefined;
  problem: ObservedProblem | undefined;
  /** Number of replacements of the content. */
  revision: number;
  /** Time of the first and the last change that is not read yet. */
  pending: { readonly since: number; last: number } | undefined;
}

interface NamedEntry<Files, Content> {
  readonly entry: Entry<Files, Content>;
  readonly at: FieldPath;
}

/** Creates a watch without files. Polling also detects replaced links in any parent folder, as in mounted Secrets. */
export function createWatchedFiles<Files, Content>(
  kind: ResourceFiles<Files, Content>,
  { onChange, log, metrics }: WatchedFilesOptions,
): WatchedFiles<Files, Content> {
  const entries = new Map<string, Entry<Files, Content>>();
  const followed = new Map<ResourceKey, readonly NamedEntry<Files, Content>[]>();
  const reader = createReader(kind, log.get(kind.logger), metrics);
  let timer: NodeJS.Timeout | undefined;
  let closed = false;

  function create(id: string, files: Files): Entry<Files, Content> {
    const entry = reader.open(files);
    entries.set(id, entry);
    schedule();
    return entry;
  }

  function schedule(): void {
    if (timer || closed || entries.size === 0) return;
    timer = setTimeout(() => void look().finally(schedule), POLL_MS).unref();
  }

  async function look(): Promise<void> {
    const yieldIfDue = createYielder();
    const changed = new Set<ResourceKey>();
    for (const entry of entries.values()) {
      if (reader.isReplaced(entry, performance.now())) for (const key of entry.users) changed.add(key);
      await yieldIfDue();
    }
    timer = undefined;
    reader.unusable.value = [...entries.values()].filter(({ problem }) => problem).length;
    if (changed.size > 0 && !closed) onChange(changed);
  }

  return {
    get: (files) => entries.get(kind.keyOf(files))?.content,
    follow(key, resource) {
      if (!kind.kinds.some((each) => key.startsWith(`${each}/`))) return false;
      const before = followed.get(key) ?? [];
      const named = (resource ? kind.filesOf(resource) : []).map(({ files, at }) => {
        const id = kind.keyOf(files);
        const entry = entries.get(id) ?? create(id, files);
        entry.users.add(key);
        return { entry, at };
      });
      for (const { entry } of before) if (!named.some((other) => other.entry === entry)) entry.users.delete(key);
      if (named.length > 0) followed.set(key, named);
      else followed.delete(key);
      return true;
    },
    observedOf(key) {
      return observedOf(kind, followed.get(key) ?? []);
    },
    prune(snapshots) {
      const served = [...snapshots];
      for (const [id, { users, files }] of entries) {
        if (users.size === 0 && !served.some((each) => kind.isServed?.(files, each))) entries.delete(id);
      }
    },
    close() {
      closed = true;
      clearTimeout(timer);
    },
  };
}

function observedOf<Files, Content>(
  kind: ResourceFiles<Files, Content>,
  named: readonly NamedEntry<Files, Content>[],
): Observed | undefined {
  const problems = named.flatMap(({ entry: { problem }, at }) =>
    problem ? [{ ...problem, path: [...at, ...problem.path] }] : [],
  );
  const filesRevision = named.reduce((sum, { entry }) => sum + entry.revision, 0);
  const own = named.flatMap(({ entry: { content } }) =>
    content === undefined ? [] : (kind.observedOf?.(content) ?? []),
  );
  if (own.length === 0 && problems.length === 0 && filesRevision === 0) return undefined;
  return Object.assign({ problems, notes: [], filesRevision }, ...own) as Observed;
}

const UNREAD = { paths: [], content: undefined, problem: undefined, revision: 0, pending: undefined };

/** Reads files that changed and are stable, and counts the results. */
function createReader<Files, Content>(kind: ResourceFiles<Files, Content>, log: Logger, metrics: Metrics) {
  const { accepted, rejected, unusable } = createStats(kind.name, metrics);
  const stampsOf = ({ files, paths }: Pick<Entry<Files, Content>, 'files' | 'paths'>): string =>
    [...kind.pathsOf(files), ...paths].map(stampOf).join('|');

  /** Returns true if the content of the files or their problem changed. */
  function isReplaced(entry: Entry<Files, Content>, now: number): boolean {
    const stamp = stampsOf(entry);
    if (stamp !== entry.stamp) {
      entry.stamp = stamp;
      entry.pending = { since: entry.pending?.since ?? now, last: now };
      if (now - entry.pending.since < RESTLESS_MS) return false;
    }
    if (!entry.pending) return false;
    const read = kind.read(entry.files);
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
      const read = kind.read(files);
      entry.content = read.content;
      entry.problem = read.problem;
      namesOthers(entry, read, performance.now());
      return entry;
    },
  };
}

function stillServing(problem: ObservedProblem): ObservedProblem {
  return { ...problem, severity: 'warning', message: `${problem.message}; the previous content stays in use` };
}

function createStats(kind: string, metrics: Metrics) {
  const name = (path: string) => ({ path: `${kind}_files.${path}`, metric: `gw_${kind}_files_${path}` });
  return {
    accepted: metrics.counter(name('update_success')),
    rejected: metrics.counter(name('update_rejected')),
    unusable: metrics.gauge(name('unusable')),
  };
}
