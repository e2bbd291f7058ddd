import { close, constants, fstat, fstatSync, open, openSync, stat, write, writeSync, type Stats } from 'node:fs';
import { promisify } from 'node:util';
import { isMainThread } from 'node:worker_threads';
import type { Counter } from './metrics.ts';
import { startTimer } from '../time/timer.ts';

/** Lines on their way to a file, a pipe or a standard stream. */
export interface LineSink {
  /** Queues a line. Never throws or blocks; if the queue is full, the line is dropped and counted. */
  write(line: string): void;
  /** Number of queued bytes. */
  readonly queued: number;
  /** True while lines are queued and none could be written for `stalledMs`. */
  readonly stalled: boolean;
  /** Writes the queued lines and closes the file. Lines for a stalled reader are dropped. */
  close(): Promise<void>;
}

/** Options and callbacks of a {@link LineSink}. */
export interface LineSinkOptions {
  /** Longest queue in bytes. Default 16 MiB. */
  readonly maxQueue?: number;
  /** Milliseconds without a written byte after which the reader counts as stalled. Default 5,000. */
  readonly stalledMs?: number;
  /** Counts dropped lines. */
  readonly dropped?: Counter;
  /** Called once per incident, when nothing can be written. */
  readonly onFailure?: (reason: string) => void;
  /** Called with the number of dropped lines when lines are written again. */
  readonly onDropped?: (lines: number) => void;
  /** Called after each write. */
  readonly onProgress?: () => void;
}

const MAX_QUEUE = 16 * 1024 * 1024;
const FILE_CHUNK = 64 * 1024;
/** Number of chunks whose memory is kept: as many as are gathered under load. */
const MAX_SPARE = 4;
/** Longest encoding of one character of a text. */
const MAX_UTF8_BYTES = 3;
/** A write to a pipe up to this size (`PIPE_BUF`) is not mixed with those of other processes. */
const PIPE_CHUNK = 4_096;
/** How often the path of a file is checked for rotation, and how long to wait after a failure. */
const REOPEN_MS = 1_000;
/** Bytes to write before yielding to the event loop. */
const TURN_BYTES = 256 * 1024;
/** Longest pause between two attempts to write to a full pipe. */
const MAX_BUSY_MS = 16;
/** How long lines are collected before a write: a write for each line would be too expensive. */
const GATHER_MS = 10;
const STALLED_MS = 5_000;
/** How often dropped lines are reported while more are dropped. */
const REPORT_MS = 10_000;
/** How long all sinks together may still write when the process exits without closing them. */
const EXIT_MS = 1_000;
/** Opening a pipe without a reader must not block the thread. */
const OPEN_FLAGS = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_NONBLOCK;

const DESCRIPTORS: Readonly<Record<string, 1 | 2>> = { '/dev/stdout': 1, '/dev/stderr': 2 };

const openFile = promisify(open);
const closeFile = promisify(close);
const statPath = promisify(stat);
const statFile = promisify(fstat) as (descriptor: number) => Promise<Stats>;
const writeTo = promisify(write) as (descriptor: number, data: Buffer) => Promise<{ bytesWritten: number }>;

/**
 * Creates a sink that opens `path` at the first line, and again when the file was rotated; `/dev/stdout` and `/dev/stderr` are the standard streams.
 * Lines are written in large chunks, off the event loop or without blocking. Lines that are still queued when the process exits, also
 * after an uncaught error, are written then.
 *
 * @example
 * const sink = createLineSink('/var/log/gateway.log');
 * sink.write('started\n');
 * await sink.close();
 */
export function createLineSink(path: string, options: LineSinkOptions = {}): LineSink {
  if (openSinks.size === 0) process.on('exit', flushAtExit);
  const sink = new FileSink(path, options);
  openSinks.add(sink);
  return sink;
}

const openSinks = new Set<FileSink>();

function flushAtExit(): void {
  const deadline = performance.now() + EXIT_MS;
  for (const sink of openSinks) sink.flushSync(deadline);
}

/** Encoded lines that are written together. */
interface Chunk {
  readonly bytes: Buffer;
  readonly lines: number;
}

class FileSink implements LineSink {
  readonly #path: string;
  readonly #standard: 1 | 2 | undefined;
  readonly #options: LineSinkOptions;
  readonly #maxQueue: number;
  /**
   * Lines of the next chunk, encoded one by one: a string of many parts, as lines are, would be copied by each garbage collection
   * until it is written.
   */
  #bytes: Buffer | undefined;
  #filled = 0;
  #lines = 0;
  #chunks: Chunk[] = [];
  /** The chunk that is being written, and the rest of it. */
  #current: Chunk | undefined;
  #rest: Buffer | undefined;
  /** Memory of chunks that were written, for others. */
  readonly #spare: Buffer[] = [];
  #queued = 0;
  #dropped = 0;
  #descriptor: number | undefined;
  #chunkSize = FILE_CHUNK;
  /** True for a pipe or socket: a write is partial if the buffer is full, and never blocks. */
  #polled = false;
  #inFlight = false;
  #lookedAt = 0;
  #progressAt = 0;
  #reportedAt = -REPORT_MS;
  #failing = false;
  #closing = false;
  #draining: Promise<void> | undefined;
  #wake: (() => void) | undefined;

  constructor(path: string, options: LineSinkOptions) {
    this.#path = path;
    this.#options = options;
    this.#maxQueue = options.maxQueue ?? MAX_QUEUE;
    this.#standard = DESCRIPTORS[path];
  }

  get queued(): number {
    return this.#queued;
  }

  get stalled(): boolean {
    return this.#queued > 0 && performance.now() - this.#progressAt > (this.#options.stalledMs ?? STALLED_MS);
  }

  write(line: string): void {
    if (this.#queued + line.length > this.#maxQueue) return this.#drop(1);
    if (this.#queued === 0) this.#progressAt = performance.now();
    this.#queued += this.#append(line);
    this.#draining ??= this.#drain();
  }

  async close(): Promise<void> {
    this.#closing = true;
    this.#wake?.();
    await this.#draining;
    if (this.#descriptor !== undefined && this.#standard === undefined)
      await closeFile(this.#descriptor).catch(() => {});
    this.#descriptor = undefined;
    this.#closing = false;
    if (openSinks.delete(this) && openSinks.size === 0) process.off('exit', flushAtExit);
  }

  /** Writes the queued lines synchronously, until `deadline` at most. */
  flushSync(deadline: number): void {
    try {
      if (this.#queued > 0 && this.#descriptor === undefined) {
        this.#use(this.#standard ?? openSync(this.#path, OPEN_FLAGS));
      }
      // A write in progress is completed by its thread.
      if (this.#inFlight) this.#rest = this.#current = undefined;
      while (this.#load()) if (!this.#writeSync(this.#descriptor!) && !nap(deadline)) return;
    } catch {
      // The process is exiting: there is nothing to report to.
    }
  }

  /** Writes until the queue is empty. */
  async #drain(): Promise<void> {
    while (this.#queued > 0) {
      if (!this.#rest && this.#chunks.length === 0) await this.#sleep(GATHER_MS);
      try {
        await this.#writeAll(await this.#opened());
        this.#recovered();
      } catch (error) {
        this.#failed(error);
        if (this.#closing) this.#giveUp();
        else await this.#sleep(REOPEN_MS);
      }
    }
    this.#draining = undefined;
  }

  /** Encodes a line into the next chunk, and returns its length in bytes. */
  #append(line: string): number {
    // Lines are short: most fit however they are encoded.
    const isSure = this.#bytes !== undefined && MAX_UTF8_BYTES * line.length <= this.#chunkSize - this.#filled;
    const length = isSure ? 0 : Buffer.byteLength(line);
    if (length > this.#chunkSize) {
      this.#seal();
      this.#chunks.push({ bytes: Buffer.from(line), lines: 1 });
      return length;
    }
    if (!isSure && this.#filled + length > this.#chunkSize) this.#seal();
    this.#bytes ??= this.#memory();
    const written = this.#bytes.write(line, this.#filled);
    this.#filled += written;
    this.#lines++;
    return written;
  }

  #memory(): Buffer {
    const spare = this.#spare.pop();
    return spare?.length === this.#chunkSize ? spare : Buffer.allocUnsafeSlow(this.#chunkSize);
  }

  #seal(): void {
    if (this.#lines > 0) this.#chunks.push({ bytes: this.#bytes!.subarray(0, this.#filled), lines: this.#lines });
    this.#bytes = undefined;
    this.#filled = this.#lines = 0;
  }

  /** Dequeues the oldest chunk, unless one is in progress. Returns false if the queue is empty. */
  #load(): boolean {
    if (this.#rest) return true;
    if (this.#chunks.length === 0) this.#seal();
    this.#current = this.#chunks.shift();
    this.#rest = this.#current?.bytes;
    return this.#rest !== undefined;
  }

  /**
   * Writes the queued lines, up to a limit that keeps the event loop responsive. Lines that are added meanwhile are gathered first: otherwise
   * a busy process would write a few lines at a time.
   */
  async #writeAll(descriptor: number): Promise<void> {
    let left = Math.min(this.#queued, TURN_BYTES);
    for (let pause = 1; left > 0 && this.#load();) {
      const before = this.#rest!.length;
      if (this.#polled ? this.#writeSync(descriptor) : await this.#writeByThread(descriptor)) {
        left -= before - (this.#rest?.length ?? 0);
        pause = 1;
        continue;
      }
      if (this.#closing && this.stalled) throw new Error('the reader has stalled');
      await this.#sleep(pause);
      pause = Math.min(2 * pause, MAX_BUSY_MS);
    }
    if (this.#polled) await new Promise<void>((resolve) => setImmediate(resolve));
  }

  /** Writes as much as fits. Returns false if nothing does. */
  #writeSync(descriptor: number): boolean {
    try {
      this.#written(writeSync(descriptor, this.#rest!));
      return true;
    } catch (error) {
      if (!isBusy(error)) throw error;
      return false;
    }
  }

  async #writeByThread(descriptor: number): Promise<boolean> {
    this.#inFlight = true;
    try {
      const { bytesWritten } = await writeTo(descriptor, this.#rest!);
      this.#written(bytesWritten);
      return true;
    } catch (error) {
      if (!isBusy(error)) throw error;
      return false;
    } finally {
      this.#inFlight = false;
    }
  }

  #written(length: number): void {
    this.#progressAt = performance.now();
    this.#rest = length < this.#rest!.length ? this.#rest!.subarray(length) : undefined;
    if (this.#rest) return;
    const { bytes } = this.#current!;
    this.#queued -= bytes.length;
    const isReusable = bytes.buffer.byteLength === this.#chunkSize && this.#spare.length < MAX_SPARE;
    if (isReusable) this.#spare.push(Buffer.from(bytes.buffer));
    this.#options.onProgress?.();
  }

  async #opened(): Promise<number> {
    if (this.#standard !== undefined) return this.#descriptor ?? this.#use(this.#standard);
    const now = performance.now();
    if (this.#descriptor !== undefined && now - this.#lookedAt < REOPEN_MS) return this.#descriptor;
    this.#lookedAt = now;
    if (this.#descriptor !== undefined && (await this.#isRotated(this.#descriptor))) {
      await closeFile(this.#descriptor).catch(() => {});
      this.#descriptor = undefined;
    }
    return this.#descriptor ?? this.#use(await openFile(this.#path, OPEN_FLAGS));
  }

  #use(descriptor: number): number {
    const stats = fstatSync(descriptor);
    const isStream = stats.isFIFO() || stats.isSocket();
    this.#polled = isStream && (this.#standard === undefined || unblock(this.#standard));
    if (stats.isFIFO()) this.#chunkSize = PIPE_CHUNK;
    this.#descriptor = descriptor;
    return descriptor;
  }

  async #isRotated(descriptor: number): Promise<boolean> {
    const [there, ours] = await Promise.all([statPath(this.#path).catch(() => undefined), statFile(descriptor)]);
    return there === undefined || there.ino !== ours.ino || there.dev !== ours.dev;
  }

  #drop(lines: number): void {
    this.#dropped += lines;
    if (this.#options.dropped) this.#options.dropped.value += lines;
  }

  #failed(error: unknown): void {
    if (this.#failing) return;
    this.#failing = true;
    this.#options.onFailure?.(error instanceof Error ? error.message : String(error));
  }

  /** Drops all queued lines. */
  #giveUp(): void {
    this.#seal();
    const lost = this.#rest ? [this.#current!, ...this.#chunks] : this.#chunks;
    this.#rest = undefined;
    this.#chunks = [];
    this.#queued = 0;
    this.#drop(lost.reduce((sum, { lines }) => sum + lines, 0));
    this.#recovered();
  }

  #recovered(): void {
    this.#failing = false;
    if (this.#dropped === 0) return;
    const now = performance.now();
    if (this.#queued > 0 && now - this.#reportedAt < REPORT_MS) return;
    this.#reportedAt = now;
    const lines = this.#dropped;
    this.#dropped = 0;
    this.#options.onDropped?.(lines);
  }

  /** Ends early when the sink is closed. */
  #sleep(milliseconds: number): Promise<void> {
    if (this.#closing && milliseconds > MAX_BUSY_MS) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = startTimer(() => this.#wake?.(), milliseconds);
      this.#wake = () => {
        clearTimeout(timer);
        this.#wake = undefined;
        resolve();
      };
    });
  }
}

function isBusy(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'EAGAIN';
}

/**
 * Makes a standard stream that is a pipe non-blocking: Node does so when it creates the stream. A write that
 * waits for the reader would occupy a thread, and the process could not exit.
 */
function unblock(descriptor: 1 | 2): boolean {
  return isMainThread && (descriptor === 1 ? process.stdout : process.stderr).writable;
}

/** Blocks the thread briefly. Returns false once `deadline` has passed. */
function nap(deadline: number): boolean {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2);
  return performance.now() < deadline;
}
