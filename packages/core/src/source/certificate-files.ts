import { isDeepStrictEqual } from 'node:util';
import type { Learned, LearnedProblem } from '../learned.ts';
import type { Logger } from '../logger.ts';
import type { Metrics } from '../metrics.ts';
import type { ResourceKey } from '../resource.ts';
import type { SslFiles } from '../schema/ssl-config.ts';
import type { SecretValue } from '../snapshot.ts';
import { createBreath, stampOf } from './listing.ts';
import { readCertificateFiles, type ReadFiles } from './read-certificates.ts';

/** Polling interval in milliseconds. A file must be unchanged between two polls before it is read. */
const POLL_MS = 500;
/** Milliseconds that files must be unchanged before an invalid combination is reported: a pair is written one file after the other. */
const SETTLE_MS = 2000;
/** Milliseconds after which files that keep changing are read anyway. */
const RESTLESS_MS = 3000;

/** Reads, validates and watches the certificate files of resources. The last valid content stays in use. */
export interface CertificateFiles {
  /** Returns the last valid content of the files, the same object until it changes; `undefined` before there was any. */
  get(files: SslFiles): SecretValue | undefined;
  /** Sets the files of a resource, and reads new ones. `undefined` for none. */
  follow(key: ResourceKey, files: SslFiles | undefined): void;
  /** Returns the problems of the files of a resource, and the number of replacements. */
  learnedOf(key: ResourceKey): Learned | undefined;
  /** Drops files that no resource refers to, except those for which `isServed` returns true. */
  prune(isServed: (files: SslFiles) => boolean): void;
  close(): void;
}

export interface CertificateFilesOptions {
  /** Called with the resources whose files were replaced, or whose problems changed. */
  onChange(keys: ReadonlySet<ResourceKey>): void;
  readonly log: Logger;
  readonly metrics: Metrics;
}

interface Entry {
  readonly files: SslFiles;
  readonly users: Set<ResourceKey>;
  stamp: string;
  secret: SecretValue | undefined;
  problem: LearnedProblem | undefined;
  /** Number of replacements of the content. */
  revision: number;
  /** Time of the first and the last change that is not read yet. */
  pending: { readonly since: number; last: number } | undefined;
}

const FIELDS = ['tlsCert', 'tlsKey', 'rootCa'] as const;

const keyOfFiles = (files: SslFiles): string => JSON.stringify(FIELDS.map((field) => files[field]));
const stampsOf = (files: SslFiles): string =>
  FIELDS.map((field) => (files[field] ? stampOf(files[field]) : '')).join('|');

/** Creates a watch without files. Polling also detects replaced links in any parent folder, as in mounted Secrets. */
export function createCertificateFiles({ onChange, log, metrics }: CertificateFilesOptions): CertificateFiles {
  const entries = new Map<string, Entry>();
  const followed = new Map<ResourceKey, string>();
  const stats = createStats(metrics);
  let timer: NodeJS.Timeout | undefined;
  let closed = false;

  function create(files: SslFiles): Entry {
    const stamp = stampsOf(files);
    const read = readCertificateFiles(files);
    const entry: Entry = { files, users: new Set(), stamp, ...outcome(read), revision: 0, pending: undefined };
    entries.set(keyOfFiles(files), entry);
    schedule();
    return entry;
  }

  function schedule(): void {
    if (timer || closed || entries.size === 0) return;
    timer = setTimeout(() => void look().finally(schedule), POLL_MS).unref();
  }

  async function look(): Promise<void> {
    const breathe = createBreath();
    const changed = new Set<ResourceKey>();
    for (const entry of entries.values()) {
      if (isReplaced(entry, performance.now())) for (const key of entry.users) changed.add(key);
      await breathe();
    }
    timer = undefined;
    stats.unusable.value = [...entries.values()].filter(({ problem }) => problem).length;
    if (changed.size > 0 && !closed) onChange(changed);
  }

  /** Reads files that changed and are stable. Returns true if their content or their problem changed. */
  function isReplaced(entry: Entry, now: number): boolean {
    const stamp = stampsOf(entry.files);
    if (stamp !== entry.stamp) {
      entry.stamp = stamp;
      entry.pending = { since: entry.pending?.since ?? now, last: now };
      if (now - entry.pending.since < RESTLESS_MS) return false;
    }
    if (!entry.pending) return false;
    const read = readCertificateFiles(entry.files);
    const isStable = stampsOf(entry.files) === entry.stamp;
    if (read.problem) return isStable && now - entry.pending.last >= SETTLE_MS && reject(entry, read.problem);
    if (!isStable && now - entry.pending.since < RESTLESS_MS) return false;
    return accept(entry, read);
  }

  function reject(entry: Entry, problem: LearnedProblem): boolean {
    entry.pending = undefined;
    const { severity, message, path } = entry.secret ? stillServing(problem) : problem;
    const now = { severity, message, path };
    if (isDeepStrictEqual(now, entry.problem)) return false;
    stats.rejected.value++;
    entry.problem = now;
    return true;
  }

  function accept(entry: Entry, { secret }: ReadFiles): boolean {
    entry.pending = undefined;
    const isSame = isDeepStrictEqual(secret, entry.secret);
    if (isSame && !entry.problem) return false;
    entry.problem = undefined;
    if (isSame) return true;
    stats.accepted.value++;
    entry.secret = secret;
    entry.revision++;
    log.info({ files: FIELDS.flatMap((field) => entry.files[field] ?? []) }, 'certificate files replaced');
    return true;
  }

  return {
    get: (files) => entries.get(keyOfFiles(files))?.secret,
    follow(key, files) {
      const id = files && keyOfFiles(files);
      const before = followed.get(key);
      if (id === before) return;
      if (before !== undefined) entries.get(before)?.users.delete(key);
      if (!files || id === undefined) return void followed.delete(key);
      followed.set(key, id);
      (entries.get(id) ?? create(files)).users.add(key);
    },
    learnedOf(key) {
      const { problem, revision = 0 } = entries.get(followed.get(key) ?? '') ?? {};
      if (!problem && revision === 0) return undefined;
      return { problems: problem ? [problem] : [], notes: [], filesRevision: revision };
    },
    prune(isServed) {
      for (const [id, { users, files }] of entries) if (users.size === 0 && !isServed(files)) entries.delete(id);
    },
    close() {
      closed = true;
      clearTimeout(timer);
    },
  };
}

function outcome({ secret, problem }: ReadFiles): Pick<Entry, 'secret' | 'problem'> {
  return { secret, problem };
}

function stillServing(problem: LearnedProblem): LearnedProblem {
  return { ...problem, severity: 'warning', message: `${problem.message}; the previous content stays in use` };
}

function createStats(metrics: Metrics) {
  const name = (path: string) => ({ path: `certificate_files.${path}`, metric: `gw_certificate_files_${path}` });
  return {
    accepted: metrics.counter(name('update_success')),
    rejected: metrics.counter(name('update_rejected')),
    unusable: metrics.gauge(name('unusable')),
  };
}
