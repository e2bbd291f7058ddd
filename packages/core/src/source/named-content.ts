import type { Observed, ObservedProblem } from '../resource/stored.ts';
import type { FieldPath } from '../resource/problem.ts';
import type { Kind, Resource, ResourceKey } from '../resource/resource.ts';
import type { Snapshot } from '../contract/snapshot.ts';

/** What a field of a resource names: files, or secrets of a server. */
export interface NamedFiles<Files> {
  readonly files: Files;
  /** Path of the field that names them. */
  readonly at: FieldPath;
}

/** How resources name content outside of them. */
export interface ContentNames<Files = unknown, Content = unknown> {
  /** The kinds that may name such content. */
  readonly kinds: readonly Kind[];
  /** Returns what a resource names, and where. */
  filesOf(resource: Resource): readonly NamedFiles<Files>[];
  /** Returns the same text for the same files. */
  keyOf(files: Files): string;
  /** Returns the content as the resource has it, for the translation. Default: it is not part of the resource. */
  observedOf?(content: Content): Pick<Observed, 'descriptorSet'>;
  /** Returns true if a snapshot still needs files that no resource names any more. Default: false. */
  isServed?(files: Files, snapshot: Snapshot): boolean;
}

/** Content that resources name, kept up to date. The last valid content stays in use. */
export interface WatchedContent<Files, Content> {
  /** Returns the last valid content, the same object until it changes; `undefined` before there was any. */
  get(files: Files): Content | undefined;
  /** Sets the resource of a key, and reads what it names newly. `undefined` for none. Returns true if it may name content. */
  follow(key: ResourceKey, resource: Resource | undefined): boolean;
  /** Returns the content and its problems of a resource, and the number of replacements. */
  observedOf(key: ResourceKey): Observed | undefined;
  /** Drops content that no resource names, and that these snapshots do not need. */
  prune(snapshots: Iterable<Snapshot>): void;
  close(): void;
}

/** The content that one or more resources name. */
export interface ContentEntry<Files, Content> {
  readonly files: Files;
  readonly users: Set<ResourceKey>;
  content: Content | undefined;
  /** Its path is relative to the field that names the content. */
  problem: ObservedProblem | undefined;
  /** Number of replacements of the content. */
  revision: number;
}

interface EntryLife<Files, Entry> {
  open(files: Files): Entry;
  /** Called for a dropped entry. */
  onDrop?(entry: Entry): void;
}

/** Keeps the entries of named content as long as a resource or a snapshot needs them. */
export function createContentEntries<Files, Content, Entry extends ContentEntry<Files, Content>>(
  names: ContentNames<Files, Content>,
  { open, onDrop }: EntryLife<Files, Entry>,
) {
  const entries = new Map<string, Entry>();
  const followed = new Map<ResourceKey, readonly { readonly entry: Entry; readonly at: FieldPath }[]>();

  function create(id: string, files: Files): Entry {
    const entry = open(files);
    entries.set(id, entry);
    return entry;
  }

  return {
    get entries(): Iterable<Entry> & { readonly size: number } {
      return { size: entries.size, [Symbol.iterator]: () => entries.values() };
    },
    get: (files: Files): Content | undefined => entries.get(names.keyOf(files))?.content,
    follow(key: ResourceKey, resource: Resource | undefined): boolean {
      if (!names.kinds.some((each) => key.startsWith(`${each}/`))) return false;
      const before = followed.get(key) ?? [];
      const named = (resource ? names.filesOf(resource) : []).map(({ files, at }) => {
        const id = names.keyOf(files);
        const entry = entries.get(id) ?? create(id, files);
        entry.users.add(key);
        return { entry, at };
      });
      for (const { entry } of before) if (!named.some((other) => other.entry === entry)) entry.users.delete(key);
      if (named.length > 0) followed.set(key, named);
      else followed.delete(key);
      return true;
    },
    observedOf(key: ResourceKey): Observed | undefined {
      const named = followed.get(key) ?? [];
      const problems = named.flatMap(({ entry: { problem }, at }) =>
        problem ? [{ ...problem, path: [...at, ...problem.path] }] : [],
      );
      const filesRevision = named.reduce((sum, { entry }) => sum + entry.revision, 0);
      const own = named.flatMap(({ entry: { content } }) =>
        content === undefined ? [] : (names.observedOf?.(content) ?? []),
      );
      if (own.length === 0 && problems.length === 0 && filesRevision === 0) return undefined;
      return Object.assign({ problems, notes: [], filesRevision }, ...own) as Observed;
    },
    prune(snapshots: Iterable<Snapshot>): void {
      const served = [...snapshots];
      for (const [id, entry] of entries) {
        if (entry.users.size > 0 || served.some((each) => names.isServed?.(entry.files, each))) continue;
        entries.delete(id);
        onDrop?.(entry);
      }
    },
  };
}

/** Returns a problem of newer content while the previous content stays in use. */
export function stillServing(problem: ObservedProblem): ObservedProblem {
  return { ...problem, severity: 'warning', message: `${problem.message}; the previous content stays in use` };
}
