import { constants } from 'node:fs';
import { open, rm, type FileHandle } from 'node:fs/promises';
import type { Logger } from '../../observe/logger.ts';
import type { Metrics } from '../../observe/metrics.ts';
import type { StoreState } from '../../resource/stored.ts';
import { createYielder } from '../../time/slices.ts';
import type { SourceChange } from '../../source/source.ts';
import { mustBeOwn, readStateFile } from '../../state-file/read-state-file.ts';
import { replaceFile } from '../../state-file/replace-file.ts';
import { writeAll } from '../../state-file/write-all.ts';
import { createScheduledWriter } from '../../state-file/scheduled-writer.ts';
import type { ValidatedDocuments } from '../claim.ts';
import { createLineWriter, readLines, type LineWriter } from './lines.ts';
import { recordsBetween } from './records.ts';
import { restoringChanges } from './restore.ts';

/** Time from a change to its write, in milliseconds. */
const DELAY_MS = 20;
/** The same for the first write, which contains everything: a gateway that starts opens its listeners first. */
const FIRST_DELAY_MS = 1000;
const RETRY_MS = 1000;
/** Longest time without yielding to requests that the same process serves, in milliseconds. */
const SLICE_MS = 4;
/** A file is rewritten when what was appended exceeds this and the size of the rest. */
const MIN_APPENDED_BYTES = 1024 * 1024;
const MAX_BYTES = 256 * 1024 * 1024;

type Stored = StoreState['stored'];

/** Options of {@link acceptedFile}. */
export interface AcceptedFileOptions {
  readonly path: string;
  /** Encrypts resources with secret values, and authenticates the file. Default: these resources are not saved. */
  readonly key?: Uint8Array | undefined;
  readonly log: Logger;
  readonly metrics: Metrics;
}

/** The accepted versions of resources in a file, for the next start of a control plane. */
export interface AcceptedFile {
  /**
   * Returns the changes that lead from nothing to the saved state, and from there to what the source contains. `undefined` if there is no usable file; the log says
   * why. `validated` contains the results of validating what the source contains; documents whose content was saved are then used as they are.
   */
  read(listed: SourceChange, validated?: ValidatedDocuments): readonly SourceChange[] | undefined;
  /** Schedules a write of the states that produced what is served; the last one is the newest. */
  write(states: readonly Stored[]): void;
  /** Writes what is pending; resolves at the latest after two seconds. */
  close(): Promise<void>;
}

/** What the file contains: the digest chain, and the state at its end. */
interface Written {
  readonly lines: LineWriter;
  readonly states: ReadonlySet<Stored>;
  readonly newest: Stored;
  readonly baseBytes: number;
  readonly appendedBytes: number;
}

const NOTHING: Stored = new Map();

/**
 * Keeps accepted versions in a file that only its owner can read. Changes are appended; the file is rewritten atomically when it has grown. If it cannot be
 * written, it is removed, because an older version must not be restored, and written again with exponential backoff.
 *
 * @example
 * const accepted = acceptedFile({ path: 'state/resources.accepted', log: log.get('config'), metrics });
 * const controlPlane = createControlPlane({ source: directorySource('resources'), accepted });
 */
export function acceptedFile({ path, key, log, metrics }: AcceptedFileOptions): AcceptedFile {
  const failures = metrics.counter({ path: 'accepted_file.write_failures', metric: 'gw_accepted_file_write_failures' });
  let written: Written | undefined;

  async function write(states: readonly Stored[]): Promise<void> {
    const known = written;
    written = undefined;
    try {
      written = await (known ? append(states, known) : rewrite(states));
    } catch (error) {
      await rm(path, { force: true }).catch(() => {});
      throw error;
    }
  }

  async function append(states: readonly Stored[], known: Written): Promise<Written> {
    const { lines, newest, baseBytes, appendedBytes } = known;
    const size = baseBytes + appendedBytes;
    const file = await openOwn(path, size);
    if (!file) return rewrite(states);
    try {
      const fresh = states.filter((each, i) => i === states.length - 1 || !known.states.has(each));
      // The state at the end of the file has become one on which others depend.
      const isKept = states.slice(0, -1).includes(newest);
      const texts = isKept ? [lines.next({ keep: true })] : [];
      for await (const text of textsOf(isKept ? fresh.filter((each) => each !== newest) : fresh, newest, lines))
        texts.push(text);
      const bytes = Buffer.from(texts.join(''), 'utf8');
      if (bytes.length === 0) return known;
      if (appendedBytes + bytes.length > Math.max(MIN_APPENDED_BYTES, baseBytes)) return await rewrite(states);
      await writeAll(file, bytes, size);
      await file.datasync();
      return { ...writtenOf(states, lines), baseBytes, appendedBytes: appendedBytes + bytes.length };
    } finally {
      await file.close();
    }
  }

  async function rewrite(states: readonly Stored[]): Promise<Written> {
    const lines = createLineWriter(key);
    let baseBytes = 0;
    await replaceFile(path, async (file: FileHandle) => {
      const add = async (text: string): Promise<void> => {
        baseBytes += Buffer.byteLength(text);
        if (baseBytes > MAX_BYTES) throw new Error(`larger than ${MAX_BYTES / 1024 / 1024} MiB`);
        await writeAll(file, Buffer.from(text, 'utf8'));
      };
      await add(lines.header);
      for await (const text of textsOf(states, NOTHING, lines)) await add(text);
    });
    return { ...writtenOf(states, lines), baseBytes, appendedBytes: 0 };
  }

  /** Returns the lines from one state through others. */
  async function* textsOf(states: readonly Stored[], from: Stored, lines: LineWriter): AsyncGenerator<string> {
    const yieldIfDue = createYielder(SLICE_MS);
    let before = from;
    for (const [i, state] of states.entries()) {
      // Hold each record back until it is known whether it is the last one.
      let last: object | undefined;
      for (const record of recordsBetween(before, state, key)) {
        if (last) yield lines.next(last);
        last = record;
        await yieldIfDue();
      }
      if (last) yield lines.next({ ...last, end: true });
      if (i < states.length - 1) yield lines.next({ keep: true });
      before = state;
    }
  }

  const writer = createScheduledWriter({
    path,
    delayMs: DELAY_MS,
    firstDelayMs: FIRST_DELAY_MS,
    retryMs: RETRY_MS,
    write,
    log,
    level: 'warn',
    texts: {
      failed: 'failed to save accepted versions of resources: a restart would not restore them',
      again: 'accepted versions of resources are saved again',
    },
    failures,
  });

  return {
    read(listed, validated) {
      try {
        const bytes = readStateFile(path, MAX_BYTES);
        if (!bytes) return undefined;
        const { records, isCut } = readLines(bytes.toString('utf8'), key);
        if (isCut) log.warn({ file: path }, 'the last write of the accepted versions was interrupted');
        return restoringChanges(records, listed, { key, validated });
      } catch (error) {
        log.error({ file: path, reason: (error as Error).message }, 'file of accepted versions ignored');
        return undefined;
      }
    },
    write: writer.write,
    close: writer.close,
  };
}

function writtenOf(states: readonly Stored[], lines: LineWriter): Pick<Written, 'states' | 'newest' | 'lines'> {
  return { lines, states: new Set(states), newest: states.at(-1)! };
}

/**
 * Opens the file as this process left it; `undefined` if it was replaced, also by a link, or if other users may have written to it since.
 */
async function openOwn(path: string, size: number): Promise<FileHandle | undefined> {
  let file: FileHandle;
  try {
    file = await open(path, constants.O_RDWR | constants.O_NONBLOCK | (constants.O_NOFOLLOW ?? 0));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ELOOP' || code === 'ENOENT') return undefined;
    throw error;
  }
  const found = await file.stat();
  try {
    mustBeOwn(found);
    if (found.isFile() && found.nlink === 1 && found.size === size) return file;
  } catch {
    // Its permissions or its owner have changed.
  }
  await file.close();
  return undefined;
}
