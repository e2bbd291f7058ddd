import { randomBytes } from 'node:crypto';
import {
  RECORDING_HEADER,
  REDACTED,
  redactPath,
  type RecordedStep,
  type RequestRecording,
  type RequestRecordings,
} from '@edge-gateway/core';
import type { RequestRecord } from '../format/record.ts';
import { findHeader, removeHeader } from '../http1/flat-headers.ts';
import type { AttemptOutcome } from '../upstream/attempt.ts';

const LIFETIME_MS = 60_000;
const MAX_TOKENS = 16;
/** Steps of one request; retries and changed routes may have many. */
const MAX_STEPS = 200;

interface Entry {
  readonly expiresAt: number;
  recording: RequestRecording | undefined;
  /** A token records one request only. */
  isUsed: boolean;
}

/** The part of the recordings that requests use. */
export interface RecordingSource {
  /** False without a token; requests then cost nothing. */
  readonly isArmed: boolean;
  /** Begins a recording if the headers contain a token; removes it. */
  begin(headers: string[]): RecordedRequest | undefined;
}

/** The recordings of one process, which another process may lead. */
export interface Recordings extends RequestRecordings, RecordingSource {
  create(): string | undefined;
  /** Records one request for a token of the leading process. */
  expect(token: string): void;
  /** Keeps what another process has recorded. */
  keep(token: string, recording: RequestRecording): void;
}

/** Options of {@link createRecordings}. */
export interface RecordingsOptions {
  /** Milliseconds since the epoch. Default: `Date.now`. */
  readonly now?: () => number;
  /** Receives each recording instead of `take`. Default: they are kept. */
  readonly onRecorded?: (token: string, recording: RequestRecording) => void;
}

/**
 * Creates recordings of single requests, for `createRouter({ recordings })`. They are kept in memory for a minute, at most 16 at a time.
 *
 * @example
 * const recordings = createRecordings();
 * const router = createRouter({ recordings });
 * const token = recordings.create()!;
 * // A client sends the token in the header `x-gateway-trace`; afterwards:
 * const recording = recordings.take(token);
 */
export function createRecordings({ now = Date.now, onRecorded }: RecordingsOptions = {}): Recordings {
  const entries = new Map<string, Entry>();
  const expire = (): void => {
    for (const [token, { expiresAt }] of entries) if (expiresAt <= now()) entries.delete(token);
  };
  function add(token: string): void {
    entries.set(token, { expiresAt: now() + LIFETIME_MS, recording: undefined, isUsed: false });
  }
  return {
    get isArmed() {
      return entries.size > 0;
    },
    create() {
      expire();
      if (entries.size >= MAX_TOKENS) return undefined;
      const token = randomBytes(16).toString('hex');
      add(token);
      return token;
    },
    expect: add,
    keep(token, recording) {
      const entry = entries.get(token);
      if (entry) entry.recording = recording;
    },
    begin(headers) {
      // Otherwise a token that nobody uses would keep it armed.
      expire();
      const token = findHeader(headers, RECORDING_HEADER);
      if (token === undefined) return undefined;
      // Also a token that is unknown must not reach an upstream: it may be that of another proxy.
      removeHeader(headers, RECORDING_HEADER);
      const entry = entries.get(token);
      if (!entry || entry.isUsed) return undefined;
      entry.isUsed = true;
      return new RecordedRequest((recording) => {
        entry.recording = recording;
        if (!onRecorded) return;
        entries.delete(token);
        onRecorded(token, recording);
      });
    },
    take(token) {
      expire();
      const entry = entries.get(token);
      if (!entry) return undefined;
      if (!entry.recording) return 'pending';
      entries.delete(token);
      return entry.recording;
    },
  };
}

/** One request that is recorded. */
export class RecordedRequest {
  readonly #start = performance.now();
  readonly #steps: RecordedStep[] = [];
  readonly #deliver: (recording: RequestRecording) => void;
  #stage: { readonly name: string; readonly startMs: number } | undefined;

  constructor(deliver: (recording: RequestRecording) => void) {
    this.#deliver = deliver;
  }

  beginStage(name: string): void {
    this.#stage = { name, startMs: this.#now() };
  }

  endStage(): void {
    const stage = this.#stage;
    this.#stage = undefined;
    if (stage) this.#add({ ...stage, durationMs: this.#now() - stage.startMs });
  }

  attempted({ host, attempt, status, reason, elapsedMs }: AttemptOutcome): void {
    const why = reason ? reason.flags || 'failed' : String(status);
    const startMs = Math.max(0, this.#now() - elapsedMs);
    this.#add({ name: `attempt ${attempt}`, startMs, durationMs: elapsedMs, result: `${host.name}: ${why}` });
  }

  finish({ head, route, result }: RequestRecord, listener: string): void {
    // A concern that responds does not call the next one.
    this.endStage();
    this.#deliver({
      method: head.method,
      host: head.authority,
      path: redactPath(head.originalPath, REDACTED),
      listener,
      virtualHost: route.virtualHost,
      route: route.routeName,
      upstream: route.upstream,
      steps: this.#steps,
      status: result.status,
      flags: result.flags,
      details: result.details,
      durationMs: result.durationMs,
    });
  }

  #now(): number {
    return performance.now() - this.#start;
  }

  #add(step: RecordedStep): void {
    if (this.#steps.length < MAX_STEPS) this.#steps.push(step);
  }
}
