import { startTimer } from '@edge-gateway/core';
import { Worker } from 'node:worker_threads';
import { UnusableAnswer } from '../chain/failure.ts';
import type { CompiledPolicy } from './compile.ts';
import type { ThreadMessage } from './policy-thread.ts';

/** An evaluation that takes longer is ended with its thread, in milliseconds. */
const EVALUATION_MS = 1000;
/** Maximum time to load a policy, in milliseconds. */
const LOAD_MS = 10_000;
/** A thread without work ends after this time, in milliseconds. */
const IDLE_MS = 30_000;
/** Most evaluations of a policy that wait. */
const MAX_WAITING = 1000;

/** Evaluates one policy in a thread of its own. */
export interface PolicyRunner {
  /** Loads the policy. Rejects with the reason if it cannot be used. */
  load(): Promise<void>;
  /** Resolves with the result; `undefined` if the query is undefined. Rejects if the policy fails, or takes too long. */
  evaluate(input: object, signal?: AbortSignal): Promise<unknown>;
  /** Ends the thread. Waiting evaluations fail. */
  close(): void;
}

export interface PolicyRunnerOptions {
  /** Default 200. */
  readonly evaluationMs?: number;
}

interface Job {
  /** Unset for loading. */
  readonly input?: object;
  readonly settle: PromiseWithResolvers<unknown>;
}

/** Creates a runner. Its thread is started when there is work, and again after it was ended. */
export function createPolicyRunner(
  policy: CompiledPolicy,
  { evaluationMs = EVALUATION_MS }: PolicyRunnerOptions = {},
): PolicyRunner {
  const waiting: Job[] = [];
  let thread: Worker | undefined;
  let current: Job | undefined;
  let timer: NodeJS.Timeout | undefined;

  function start(): void {
    const file = import.meta.url.endsWith('.ts') ? './policy-thread.ts' : './policy-thread.js';
    const worker = new Worker(new URL(file, import.meta.url), {
      workerData: policy,
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: 64 },
      stdout: true,
      stderr: true,
    });
    thread = worker;
    // Modules may print.
    worker.stdout.resume();
    worker.stderr.resume();
    const loading: Job = { settle: Promise.withResolvers() };
    loading.settle.promise.catch(() => undefined);
    begin(loading, LOAD_MS);
    worker.on('message', (message: ThreadMessage) => {
      if (worker !== thread) return;
      const isError = 'error' in message;
      if (isError && !current?.input) fail(worker, message.error);
      else finish((job) => (isError ? job.settle.reject(failure(message.error)) : job.settle.resolve(message.value)));
    });
    worker.on('error', (error: Error) => fail(worker, error.message));
    worker.on('exit', () => fail(worker, 'the thread ended'));
    // After the listeners: a message listener would keep the process alive again.
    worker.unref();
  }

  function begin(job: Job, ms: number): void {
    current = job;
    clearTimeout(timer);
    timer = startTimer(() => thread && fail(thread, `timeout after ${ms} ms`), ms);
  }

  function finish(settle: (job: Job) => void): void {
    clearTimeout(timer);
    const job = current;
    current = undefined;
    if (job) settle(job);
    next();
  }

  /** Ends the thread together with the job that it runs; the next one gets a new thread. */
  function fail(worker: Worker, reason: string): void {
    if (worker !== thread) return;
    stop(worker);
    // A policy that cannot be loaded fails again in the next thread.
    if (!current?.input) for (const job of waiting.splice(0)) job.settle.reject(failure(reason));
    finish((job) => job.settle.reject(failure(reason)));
  }

  function stop(worker: Worker): void {
    if (worker === thread) thread = undefined;
    void worker.terminate();
  }

  function next(): void {
    if (current) return;
    const job = waiting.shift();
    if (!job) return idle();
    if (!thread) {
      waiting.unshift(job);
      return start();
    }
    begin(job, evaluationMs);
    // As JSON, in which numbers keep all of their digits.
    // oxlint-disable-next-line require-post-message-target-origin
    thread.postMessage(JSON.stringify(job.input));
  }

  function idle(): void {
    clearTimeout(timer);
    timer = setTimeout(() => thread && !current && stop(thread), IDLE_MS).unref();
  }

  return {
    async load() {
      if (thread && !current) return;
      if (!thread) start();
      await current?.settle.promise;
    },
    evaluate(input, signal) {
      if (waiting.length >= MAX_WAITING) return Promise.reject(failure('too many requests are waiting'));
      const job: Job = { input, settle: Promise.withResolvers() };
      const drop = (): void => {
        const at = waiting.indexOf(job);
        if (at >= 0) waiting.splice(at, 1);
        job.settle.reject(signal!.reason as Error);
      };
      signal?.addEventListener('abort', drop, { once: true });
      waiting.push(job);
      next();
      return job.settle.promise.finally(() => signal?.removeEventListener('abort', drop));
    },
    close() {
      for (const job of waiting.splice(0)) job.settle.reject(failure('policy replaced'));
      if (thread) fail(thread, 'policy replaced');
      clearTimeout(timer);
    },
  };
}

/** The failure of a policy counts as that of a server. */
function failure(reason: string): UnusableAnswer {
  return new UnusableAnswer(`the policy failed: ${reason}`);
}
