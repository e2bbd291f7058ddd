import { isDeepStrictEqual } from 'node:util';
import type { Observed, ObservedProblem } from '../resource/stored.ts';
import type { Logger, LoggerName, Loggers } from '../observe/logger.ts';
import type { Metrics } from '../observe/metrics.ts';
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
  readonly problem?: ObservedProblem;
}

/** Files that resources name and whose content is a part of the configuration: how they are found, read and validated. */
export interface ResourceFiles<Files = unknown, Content = unknown> {
  /** Names the files in the log (`certificate files replaced`) and in metrics (`certificate_files.update_success`). */
  readonly name: string;
  readonly logger: LoggerName;
  /** The kinds that may name such files. */
  readonly kinds: readonly Kind[];
  /** Returns the files that a resource names; `undefined` for none. */
  filesOf(resource: Resource): Files | undefined;
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
  stamp: string;
  content: Content | undefined;
  problem: ObservedProblem | undefined;
  /** Number of replacements of the content. */
  revision: number;
  /** Time of the first and the last change that is not read yet. */
  pending: { readonly since: number; last: number } | undefined;
}

/** Creates a watch without files. Polling also detects replaced links in any parent folder, as in mounted Secrets. */
export function createWatchedFiles<Files, Content>(
  kind: ResourceFiles<Files, Content>,
  { onChange, log, metrics }: WatchedFilesOptions,
): WatchedFiles<Files, Content> {
  const entries = new Map<string, Entry<Files, Content>>();
  const followed = new Map<ResourceKey, string>();
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
      const files = resource && kind.filesOf(resource);
      const id = files === undefined ? undefined : kind.keyOf(files);
      const before = followed.get(key);
      if (id === before) return true;
      if (before !== undefined) entries.get(before)?.users.delete(key);
      if (files === undefined || id === undefined) {
        followed.delete(key);
        return true;
      }
      followed.set(key, id);
      (entries.get(id) ?? create(id, files)).users.add(key);
      return true;
    },
    observedOf(key) {
      const entry = entries.get(followed.get(key) ?? '');
      return entry && observedOf(kind, entry);
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
  { content, problem, revision }: Entry<Files, Content>,
): Observed | undefined {
  const own = content === undefined ? undefined : kind.observedOf?.(content);
  if (!own && !problem && revision === 0) return undefined;
  return { problems: problem ? [problem] : [], notes: [], filesRevision: revision, ...own };
}

/** Reads files that changed and are stable, and counts the results. */
function createReader<Files, Content>(kind: ResourceFiles<Files, Content>, log: Logger, metrics: Metrics) {
  const { accepted, rejected, unusable } = createStats(kind.name, metrics);
  const stampsOf = (files: Files): string => kind.pathsOf(files).map(stampOf).join('|');

  /** Returns true if the content of the files or their problem changed. */
  function isReplaced(entry: Entry<Files, Content>, now: number): boolean {
    const stamp = stampsOf(entry.files);
    if (stamp !== entry.stamp) {
      entry.stamp = stamp;
      entry.pending = { since: entry.pending?.since ?? now, last: now };
      if (now - entry.pending.since < RESTLESS_MS) return false;
    }
    if (!entry.pending) return false;
    const read = kind.read(entry.files);
    const isStable = stampsOf(entry.files) === entry.stamp;
    if (read.problem) return isStable && now - entry.pending.last >= SETTLE_MS && reject(entry, read.problem);
    if (!isStable && now - entry.pending.since < RESTLESS_MS) return false;
    return accept(entry, read);
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
    log.info({ files: kind.pathsOf(entry.files) }, `${kind.name} files replaced`);
    return true;
  }

  return {
    unusable,
    isReplaced,
    open(files: Files): Entry<Files, Content> {
      const stamp = stampsOf(files);
      const { content, problem } = kind.read(files);
      return { files, users: new Set(), stamp, content, problem, revision: 0, pending: undefined };
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
