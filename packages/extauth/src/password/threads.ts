import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import type { ThreadJob } from './thread.ts';

/** Most jobs that wait for a thread. */
export const MAX_WAITING = 64;
/** Most jobs of one client address that wait or run, so that one client cannot block all others. */
export const MAX_PER_CLIENT = 16;
/** A job that has waited longer than this is rejected unchecked, in milliseconds. */
const MAX_WAIT_MS = 5_000;
/** A thread without work ends after this time, in milliseconds. */
const IDLE_MS = 30_000;
/** One core is reserved for requests. */
const MAX_THREADS = Math.max(1, Math.min(4, availableParallelism() - 1));

/** `busy`: too many jobs wait. `tooMany`: too many of this client do. */
export type Rejection = 'busy' | 'tooMany';

/** Resolves with the result of each check of a job, or with why it was rejected. Rejects when its thread fails. */
export type RunJob = (job: ThreadJob, client: string) => Promise<readonly boolean[] | Rejection>;

interface Waiting {
  readonly client: string;
  readonly job: ThreadJob;
  readonly since: number;
  readonly settle: PromiseWithResolvers<readonly boolean[] | Rejection>;
}

interface Thread {
  readonly worker: Worker;
  current: Waiting | undefined;
  idleTimer: NodeJS.Timeout | undefined;
}

/** Creates the threads of one context, which are started when there is work; `now` is in milliseconds. */
export function createThreads(now: () => number = () => performance.now()): RunJob {
  const waiting: Waiting[] = [];
  const threads = new Set<Thread>();
  const byClient = new Map<string, number>();

  function start(): Thread {
    const file = import.meta.url.endsWith('.ts') ? './thread.ts' : './thread.js';
    const worker = new Worker(new URL(file, import.meta.url), { execArgv: [] });
    const thread: Thread = { worker, current: undefined, idleTimer: undefined };
    worker.on('message', (results: readonly boolean[]) => {
      thread.current?.settle.resolve(results);
      thread.current = undefined;
      next();
    });
    const fail = (error: unknown): void => {
      threads.delete(thread);
      thread.current?.settle.reject(error);
      thread.current = undefined;
    };
    worker.on('error', fail);
    worker.on('exit', () => {
      fail(new Error('the password thread ended'));
      next();
    });
    // After the listeners: a message listener would keep the process alive again.
    worker.unref();
    threads.add(thread);
    return thread;
  }

  function next(): void {
    while (waiting.length > 0) {
      const free = [...threads].find(({ current }) => !current) ?? (threads.size < MAX_THREADS ? start() : undefined);
      if (!free) return;
      const task = waiting.shift()!;
      if (now() - task.since > MAX_WAIT_MS) {
        task.settle.resolve('busy');
        continue;
      }
      clearTimeout(free.idleTimer);
      free.current = task;
      // oxlint-disable-next-line require-post-message-target-origin
      free.worker.postMessage(task.job);
    }
    for (const thread of threads) if (!thread.current) endWhenIdle(thread);
  }

  function endWhenIdle(thread: Thread): void {
    clearTimeout(thread.idleTimer);
    thread.idleTimer = setTimeout(() => {
      if (thread.current) return;
      threads.delete(thread);
      void thread.worker.terminate();
    }, IDLE_MS).unref();
  }

  /** Drops the newest job of the client with the most jobs in favour of a client with fewer. Returns false if none has more. */
  function makeRoom(mine: number): boolean {
    const counts = new Map<string, number>();
    for (const { client } of waiting) counts.set(client, (counts.get(client) ?? 0) + 1);
    const [client, most] = [...counts].reduce((a, b) => (b[1] > a[1] ? b : a));
    if (most <= mine + 1) return false;
    const newest = waiting.findLastIndex((each) => each.client === client);
    waiting.splice(newest, 1)[0]!.settle.resolve('tooMany');
    return true;
  }

  function release(client: string): void {
    const left = byClient.get(client)! - 1;
    if (left > 0) byClient.set(client, left);
    else byClient.delete(client);
  }

  return async (job, client) => {
    const mine = byClient.get(client) ?? 0;
    if (mine >= MAX_PER_CLIENT) return 'tooMany';
    if (waiting.length >= MAX_WAITING && !makeRoom(mine)) return 'busy';
    byClient.set(client, mine + 1);
    const task: Waiting = { client, job, since: now(), settle: Promise.withResolvers() };
    waiting.push(task);
    try {
      next();
      return await task.settle.promise;
    } finally {
      release(client);
    }
  };
}
