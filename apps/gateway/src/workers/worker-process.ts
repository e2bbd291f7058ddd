import { fork, type ChildProcess } from 'node:child_process';
import type { Readable } from 'node:stream';
import type { HostState, ProxyRejection, RequestRecording } from '@edge-gateway/core';
import type { ChargedBatch, CountedBatch } from '@edge-gateway/rate-limit';
import { ALIVE_MS } from './messages.ts';
import type { ListeningReport, SharedPorts, StatsReport, ToParent, ToWorker, WorkerSetup } from './messages.ts';
import type { EncodedState } from './state-encoder.ts';
import { youngGenerationFlags } from '../process/young-generation.ts';
import { within } from './within.ts';

/** How long a worker may take to end after it was told to, in milliseconds. */
const CLOSE_MS = 6_000;
/** How long a worker that does not respond may take. */
const SILENT_CLOSE_MS = 1_000;
/** How long after the drain limit its response is waited for. */
const DRAINED_MS = 1_000;
/** A worker whose event loop gives no sign of life in so many intervals does not respond. */
const MAX_SILENT = 3;
/** A worker that is silent for this long hangs. Long, because a stopped debugger or a slow disk also silences a worker. */
const HUNG_MS = 30_000;
/** Until the first sign of life: a worker loads its modules before, and all workers do so at the same time. */
const HUNG_STARTING_MS = 60_000;
/** While a worker applies a state: reading a large one takes long turns of its event loop. */
const HUNG_APPLYING_MS = 180_000;
/** How long its last lines are waited for after its end. */
const LAST_LINES_MS = 1_000;

/** What the parent does with the messages of a worker. */
export interface WorkerEvents {
  /** A state was applied to new requests. */
  onApplied(worker: WorkerProcess): void;
  onListening(): void;
  onCharges(batch: ChargedBatch): CountedBatch;
  onRecorded(token: string, recording: RequestRecording): void;
  onStats(worker: WorkerProcess, report: StatsReport): void;
  /** The process has ended, for whatever reason. */
  onEnd(worker: WorkerProcess, how: WorkerEnd): void;
}

/** How a worker ended. */
export interface WorkerEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** Why it could not be started, or was killed. */
  readonly error?: Error;
}

/** How long a worker may be silent before it is killed, in milliseconds. Default: 30 s, 60 s at its start, and 180 s while it applies a state. */
export interface SilenceLimits {
  readonly hungMs: number;
  readonly hungStartingMs: number;
  readonly hungApplyingMs: number;
}

/** A worker, as its parent sees it. */
export class WorkerProcess {
  readonly setup: WorkerSetup;
  readonly startedAt = performance.now();
  /** The last report about its listeners. */
  listening: ListeningReport | undefined;
  /** The parts of its state that it cannot compile. */
  rejections: readonly ProxyRejection[] = [];
  /** True once its listeners were open, or had failed. */
  isServing = false;
  /** True once it was told to end. */
  isClosing = false;
  hasEnded = false;
  /** True once it has given a sign of life. */
  #hasStarted = false;
  /** Missed heartbeats. */
  #silent = 0;
  readonly #silenceTimer = setInterval(() => this.#countSilence(), ALIVE_MS).unref();
  readonly #limits: SilenceLimits;
  readonly #child: ChildProcess;
  readonly #events: WorkerEvents;
  /** The state that it has, the one that it is applying, and a newer one. */
  #applied: EncodedState | undefined;
  #sent: EncodedState | undefined;
  #next: EncodedState | undefined;
  readonly #ended = Promise.withResolvers<void>();
  readonly #lastLines = Promise.withResolvers<void>();
  #drained: PromiseWithResolvers<void> | undefined;
  #hosts: PromiseWithResolvers<ReadonlyMap<string, readonly HostState[]>> | undefined;
  #stats: PromiseWithResolvers<void> | undefined;
  /** By token. */
  readonly #expected = new Map<string, () => void>();

  /** Why it was killed. */
  #killed: Error | undefined;

  constructor(
    setup: WorkerSetup,
    events: WorkerEvents,
    limits: SilenceLimits = { hungMs: HUNG_MS, hungStartingMs: HUNG_STARTING_MS, hungApplyingMs: HUNG_APPLYING_MS },
  ) {
    this.setup = setup;
    this.#limits = limits;
    this.#events = events;
    // A debugger listens on one port.
    const flags = process.execArgv.filter((option) => !option.startsWith('--inspect'));
    this.#child = fork(PROGRAM, [], {
      serialization: 'advanced',
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      execArgv: [...flags, ...youngGenerationFlags([...flags, process.env['NODE_OPTIONS'] ?? ''])],
    });
    this.#child.on('message', (message) => this.#receive(message as ToParent));
    this.#child.once('exit', (code, signal) =>
      this.#end({ code, signal, ...(this.#killed && { error: this.#killed }) }),
    );
    this.#child.once('close', () => this.#lastLines.resolve());
    this.#child.on('error', (error) => {
      if (this.#child.pid === undefined) this.#end({ code: null, signal: null, error });
    });
    this.send({ type: 'setup', setup });
  }

  get number(): number {
    return this.setup.worker;
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  get stdout(): Readable {
    return this.#child.stdout!;
  }

  get stderr(): Readable {
    return this.#child.stderr!;
  }

  /** Revision of the state that it serves; 0 before the first. */
  get revision(): number {
    return this.#applied?.revision ?? 0;
  }

  /** Revision of the state that it is applying; 0 if there is none. */
  get applying(): number {
    return this.#sent?.revision ?? 0;
  }

  /** False while its event loop is blocked, or the process is stopped. */
  get isResponding(): boolean {
    return this.#silent <= MAX_SILENT;
  }

  send(message: ToWorker): void {
    // The callback prevents an error event for a worker that has just ended; its end is reported separately.
    if (this.#child.connected) this.#child.send(message, () => {});
  }

  /** Lets it apply a state after the one that it is applying; of several, only the newest. */
  offer(state: EncodedState): void {
    this.#next = state;
    this.#sendNext();
  }

  sharePorts(ports: SharedPorts): void {
    this.send({ type: 'ports', ports });
  }

  /** Resolves when the statistics have arrived, or the worker has ended. */
  requestStats(): Promise<void> {
    if (this.hasEnded) return Promise.resolve();
    if (!this.#stats) {
      this.#stats = Promise.withResolvers();
      this.send({ type: 'report', what: 'stats' });
    }
    return this.#stats.promise;
  }

  /** Resolves with the hosts of all upstreams, by the name of the upstream. */
  requestHosts(): Promise<ReadonlyMap<string, readonly HostState[]>> {
    if (this.hasEnded) return Promise.resolve(new Map());
    if (!this.#hosts) {
      this.#hosts = Promise.withResolvers();
      this.send({ type: 'report', what: 'hosts' });
    }
    return this.#hosts.promise;
  }

  /** Makes it record the request with a token. Resolves when it is ready or has ended. */
  record(token: string): Promise<void> {
    if (this.hasEnded) return Promise.resolve();
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#expected.set(token, resolve);
    this.send({ type: 'record', token });
    return promise;
  }

  /** Resolves when its requests are finished, the limit is over, or it does not respond. */
  async drain(limitMs: number): Promise<void> {
    if (this.hasEnded) return;
    this.#drained ??= Promise.withResolvers();
    this.send({ type: 'drain', limitMs });
    if (!this.isResponding) this.#drained.resolve();
    await within(limitMs + DRAINED_MS, [this.#drained.promise]);
  }

  /** Ends it; resolves when it has ended. */
  async close(): Promise<void> {
    this.isClosing = true;
    this.send({ type: 'close' });
    const timer = setTimeout(() => this.kill(), this.isResponding ? CLOSE_MS : SILENT_CLOSE_MS);
    await this.#ended.promise;
    clearTimeout(timer);
    await within(LAST_LINES_MS, [this.#lastLines.promise]);
  }

  /** Ends it without waiting for anything. */
  kill(): void {
    this.#child.kill('SIGKILL');
  }

  #countSilence(): void {
    this.#silent++;
    if (!this.isResponding) this.#drained?.resolve();
    const { hungMs, hungStartingMs, hungApplyingMs } = this.#limits;
    const limitMs = !this.#hasStarted ? hungStartingMs : this.applying > 0 ? hungApplyingMs : hungMs;
    if (this.#killed || this.isClosing || this.#silent * ALIVE_MS < limitMs) return;
    this.#killed = new Error(`no sign of life for ${limitMs / 1000} s`);
    // It has not read the state, so its end says nothing about it.
    if (!this.#hasStarted) this.#sent = undefined;
    this.kill();
  }

  #sendNext(): void {
    if (this.#sent || !this.#next || this.#next === this.#applied) return;
    this.#sent = this.#next;
    this.#next = undefined;
    this.send({ type: 'state', change: this.#sent.changeFrom(this.#applied) });
  }

  #receive(message: ToParent): void {
    this.#silent = 0;
    this.#hasStarted = true;
    switch (message.type) {
      case 'applied':
        this.#applied = this.#sent;
        this.#sent = undefined;
        this.rejections = message.rejections;
        this.#events.onApplied(this);
        return this.#sendNext();
      case 'listening':
        this.listening = message.report;
        return this.#events.onListening();
      case 'charged':
        return this.send({ type: 'counted', batch: this.#events.onCharges(message.batch) });
      case 'stats':
        this.#events.onStats(this, message.report);
        this.#stats?.resolve();
        this.#stats = undefined;
        return undefined;
      case 'hosts':
        this.#hosts?.resolve(message.hosts);
        this.#hosts = undefined;
        return undefined;
      case 'recording':
        this.#expected.get(message.token)?.();
        this.#expected.delete(message.token);
        return undefined;
      case 'recorded':
        return this.#events.onRecorded(message.token, message.recording);
      case 'drained':
        return this.#drained?.resolve();
    }
  }

  #end(how: WorkerEnd): void {
    if (this.hasEnded) return;
    this.hasEnded = true;
    clearInterval(this.#silenceTimer);
    this.#stats?.resolve();
    this.#hosts?.resolve(new Map());
    for (const resolve of this.#expected.values()) resolve();
    this.#drained?.resolve();
    this.#ended.resolve();
    this.#events.onEnd(this, how);
  }
}

/** The program of a worker: beside this file, as TypeScript or compiled. */
const PROGRAM = new URL(import.meta.url.endsWith('.ts') ? './worker-main.ts' : './worker-main.js', import.meta.url);
