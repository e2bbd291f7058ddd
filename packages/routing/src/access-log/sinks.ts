import { close, fstat, open, stat, write, type Stats } from 'node:fs';
import { promisify } from 'node:util';
import type { Logger } from '@edge-gateway/core';

/** Where lines go. */
export interface Sink {
  /** Queues a line; it is dropped while the sink takes nothing and the queue is full. */
  write(line: string): void;
}

/** Every open sink, by path. They outlive reloads. */
export interface Sinks {
  get(path: string): Sink;
  /** Writes out what is queued and closes the files. */
  close(): Promise<void>;
}

/** Lines that wait take at most this many characters; above it lines are dropped and counted. */
export const MAX_QUEUE = 16 * 1024 * 1024;
/** A write to a pipe up to this size is not mixed with those of others. */
const PIPE_CHUNK = 4_096;
const FILE_CHUNK = 64 * 1024;
/** How often a file's path is looked at, so that a rotated file is opened anew, and how long a failed one rests. */
const REOPEN_MS = 1_000;
const BUSY_MS = 5;
/** How long a line waits for others: a write for each would cost more than the lines. */
const GATHER_MS = 10;

const DESCRIPTORS: Readonly<Record<string, number>> = { '/dev/stdout': 1, '/dev/stderr': 2 };

const openFile = promisify(open);
const closeFile = promisify(close);
const statPath = promisify(stat);
const statFile = promisify(fstat) as (descriptor: number) => Promise<Stats>;
const writeTo = promisify(write) as (descriptor: number, data: Buffer) => Promise<{ bytesWritten: number }>;

/** Makes the sinks of one data plane. Trouble with a file is logged at most once per incident and never reaches a request. */
export function createSinks(log: Logger): Sinks {
  const sinks = new Map<string, FileSink>();
  return {
    get(path) {
      let sink = sinks.get(path);
      if (!sink) sinks.set(path, (sink = new FileSink(path, log)));
      return sink;
    },
    async close() {
      await Promise.all([...sinks.values()].map((sink) => sink.close()));
      sinks.clear();
    },
  };
}

class FileSink implements Sink {
  readonly #path: string;
  readonly #log: Logger;
  readonly #standard: number | undefined;
  #lines: string[] = [];
  #queued = 0;
  #dropped = 0;
  #descriptor: number | undefined;
  #lookedAt = 0;
  #failing = false;
  #draining: Promise<void> | undefined;

  constructor(path: string, log: Logger) {
    this.#path = path;
    this.#log = log;
    this.#standard = DESCRIPTORS[path];
  }

  write(line: string): void {
    if (this.#queued + line.length > MAX_QUEUE) {
      this.#dropped++;
      return;
    }
    this.#lines.push(line);
    this.#queued += line.length;
    this.#draining ??= this.#drain();
  }

  async close(): Promise<void> {
    await this.#draining;
    if (this.#descriptor !== undefined && this.#standard === undefined)
      await closeFile(this.#descriptor).catch(() => {});
    this.#descriptor = undefined;
  }

  /** Writes until nothing waits, as many lines as fit in one write together. */
  async #drain(): Promise<void> {
    const limit = this.#standard === undefined ? FILE_CHUNK : PIPE_CHUNK;
    while (this.#lines.length > 0) {
      if (this.#queued < limit) await new Promise((resolve) => setTimeout(resolve, GATHER_MS));
      const chunk = this.#nextChunk(limit);
      try {
        await this.#writeAll(await this.#opened(), Buffer.from(chunk));
        this.#recovered();
      } catch (error) {
        this.#trouble(error);
      }
    }
    this.#draining = undefined;
  }

  #nextChunk(limit: number): string {
    let chunk = this.#lines[0]!;
    let taken = 1;
    while (taken < this.#lines.length && chunk.length + this.#lines[taken]!.length <= limit)
      chunk += this.#lines[taken++]!;
    this.#lines = this.#lines.slice(taken);
    this.#queued -= chunk.length;
    return chunk;
  }

  async #writeAll(descriptor: number, data: Buffer): Promise<void> {
    let left = data;
    while (left.length > 0) {
      try {
        const { bytesWritten } = await writeTo(descriptor, left);
        left = left.subarray(bytesWritten);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error;
        await new Promise((resolve) => setTimeout(resolve, BUSY_MS));
      }
    }
  }

  async #opened(): Promise<number> {
    if (this.#standard !== undefined) return this.#standard;
    const now = Date.now();
    if (this.#descriptor !== undefined && now - this.#lookedAt < REOPEN_MS) return this.#descriptor;
    if (this.#failing && now - this.#lookedAt < REOPEN_MS) throw new Error('resting');
    this.#lookedAt = now;
    if (this.#descriptor !== undefined && (await this.#isRotated(this.#descriptor))) {
      await closeFile(this.#descriptor).catch(() => {});
      this.#descriptor = undefined;
    }
    this.#descriptor ??= await openFile(this.#path, 'a');
    return this.#descriptor;
  }

  async #isRotated(descriptor: number): Promise<boolean> {
    const [there, ours] = await Promise.all([statPath(this.#path).catch(() => undefined), statFile(descriptor)]);
    return there === undefined || there.ino !== ours.ino || there.dev !== ours.dev;
  }

  #trouble(error: unknown): void {
    this.#dropped++;
    if (this.#failing) return;
    this.#failing = true;
    const reason = error instanceof Error ? error.message : String(error);
    this.#log.warn({ path: this.#path, reason }, 'access log cannot be written');
  }

  #recovered(): void {
    this.#failing = false;
    if (this.#dropped === 0) return;
    this.#log.warn({ path: this.#path, dropped: this.#dropped }, 'access log lines were dropped');
    this.#dropped = 0;
  }
}
