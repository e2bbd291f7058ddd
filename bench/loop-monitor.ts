// Measures the event loop of a process that a benchmark forked with `--import loop-monitor.ts`: `reset` starts, `report` sends the figures.
import { monitorEventLoopDelay } from 'node:perf_hooks';

/** Figures of a process since the last `reset`. */
export interface LoopFigures {
  /** Longest turn of the event loop in milliseconds, in which other requests wait. */
  readonly longestTurnMs: number;
  /** Greatest CPU time of this thread in one turn, which other processes affect less. */
  readonly longestTurnCpuMs: number;
  /** The same by `monitorEventLoopDelay`. */
  readonly longestDelayMs: number;
  /** CPU time of the process in milliseconds. */
  readonly cpuMs: number;
  readonly rssMb: number;
}

const delays = monitorEventLoopDelay({ resolution: 1 });
let longestTurn = 0;
let longestTurnCpu = 0;
let last = performance.now();
let lastCpu = threadCpuMs();
/** Before the first `reset`: the CPU time of the whole process. */
let since: NodeJS.CpuUsage | undefined;
let watching = false;

function threadCpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

function turn(): void {
  const now = performance.now();
  longestTurn = Math.max(longestTurn, now - last);
  last = now;
  const cpu = threadCpuMs();
  longestTurnCpu = Math.max(longestTurnCpu, cpu - lastCpu);
  lastCpu = cpu;
  if (watching) setImmediate(turn);
}

process.on('message', (message) => {
  if (message !== 'reset' && message !== 'busy' && message !== 'report') return;
  if (message === 'report') {
    const { user, system } = process.cpuUsage(since);
    watching = false;
    delays.disable();
    process.send!({
      longestTurnMs: longestTurn,
      longestTurnCpuMs: longestTurnCpu,
      longestDelayMs: delays.max / 1e6,
      cpuMs: (user + system) / 1000,
      rssMb: process.memoryUsage().rss / 1e6,
    } satisfies LoopFigures);
    return;
  }
  longestTurn = 0;
  longestTurnCpu = 0;
  lastCpu = threadCpuMs();
  last = performance.now();
  delays.reset();
  since = process.cpuUsage();
  if (message === 'reset') return;
  // A loop that never sleeps: every turn is measured, but CPU time is not.
  delays.enable();
  watching = true;
  setImmediate(turn);
});
process.channel?.unref();
