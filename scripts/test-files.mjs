// Runs test files in several processes at the same time.
import { fork } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
/** Maximum time for a process to exit after its last file. */
const LINGER_MS = 60_000;
/** More crashes than this have a common cause. */
const MAX_CRASHES = 3;

/** Maximum time for the processes to end what their tests started, after a signal. */
const STOP_MS = 5000;

/** The processes, which run in process groups of their own, with the files that they run. */
const running = new Map();
let isStopping = false;
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, stopAll);

/** Ends the processes: each notices that this one is gone, ends what its tests started, and then itself. */
function stopAll() {
  // A terminal sends its signal to every process, and their parents pass theirs on.
  if (isStopping) return;
  isStopping = true;
  for (const [child, file] of running) {
    console.log(`\nstopped while ${file ?? 'no file'} was running`);
    if (child.connected) child.disconnect();
    else kill(child);
  }
  if (running.size === 0) process.exit(1);
  setTimeout(() => {
    for (const child of running.keys()) kill(child);
  }, STOP_MS);
}

/** Ends the processes that are not done in time. */
function abandon(limitMs) {
  for (const [child, file] of running) {
    console.log(`\n${file ?? 'a process of the tests'} was not done in ${Math.round(limitMs / 1000)} s`);
    kill(child);
  }
}

function kill(child) {
  process.kill(-child.pid, 'SIGKILL');
}

/**
 * Hands out files: those of `alone` one after the other and never two at the same time, with priority because they are the longest sequence; the
 * other files to every process that asks.
 */
class Queue {
  #alone;
  #others;
  #isTaken = false;

  constructor(alone, others) {
    this.#alone = [...alone];
    this.#others = [...others];
  }

  take() {
    const file = this.#isTaken ? undefined : this.#alone.shift();
    this.#isTaken ||= file !== undefined;
    if (file) return { file, release: () => (this.#isTaken = false) };
    return { file: this.#others.shift(), release: () => {} };
  }

  get isEmpty() {
    return this.#alone.length + this.#others.length === 0;
  }
}

/** Runs files in one process until the queue has none for it, or until the process crashes; resolves with whether it crashed. */
function runWorker(queue, { flags, report }) {
  return new Promise((done) => {
    const child = fork(join(root, 'scripts', 'test-worker.mjs'), flags, {
      cwd: root,
      execArgv: ['--conditions=source'],
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      detached: true,
    });
    running.set(child, undefined);
    let current;
    let overdue;
    let lingered = false;
    child.on('message', (result) => {
      if (isStopping) return;
      if (result.file) report(result);
      current?.release();
      current = queue.take();
      running.set(child, current.file);
      child.send({ file: current.file });
      if (current.file) return;
      overdue = setTimeout(() => {
        console.log(`\nThe tests left something running for ${LINGER_MS / 1000} s after their end: that is a failure.`);
        lingered = true;
        kill(child);
      }, LINGER_MS);
    });
    child.on('exit', () => {
      running.delete(child);
      if (isStopping && running.size === 0) process.exit(1);
    });
    child.on('close', (code, signal) => {
      if (isStopping) return;
      clearTimeout(overdue);
      const crashed = code !== 0 || current?.file !== undefined;
      if (crashed && !lingered) {
        const during = current?.file ? `while ${current.file} was running` : 'after its last file';
        console.log(
          `\nA process of the tests ended ${during} (${signal ?? `exit status ${code}`}): that is a failure.`,
        );
      }
      current?.release();
      done(crashed);
    });
  });
}

/**
 * Runs test files in a number of processes. `alone` are files of which only one may run at a time. Calls `report` with the result of each file; resolves with
 * the number of processes that crashed or did not exit, which counts as a failure: their tests may not have run. Processes that run for longer than `limitMs`
 * are ended.
 */
export async function runFiles({ alone = [], others = [], processes = 1, timeout, limitMs, report }) {
  const queue = new Queue(alone, others);
  const flags = [String(timeout), ...(processes > 1 ? ['buffered'] : [])];
  let crashes = 0;
  let isLate = false;
  const overdue =
    limitMs &&
    setTimeout(() => {
      isLate = true;
      abandon(limitMs);
    }, limitMs);
  /** Continues with another process after a crash, so that the other files run. */
  async function work() {
    while (await runWorker(queue, { flags, report })) {
      crashes++;
      if (isLate || queue.isEmpty || crashes > MAX_CRASHES) return;
    }
  }
  await Promise.all(Array.from({ length: processes }, work));
  clearTimeout(overdue);
  return crashes;
}
