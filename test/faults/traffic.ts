import { setTimeout as wait } from 'node:timers/promises';
import type { Answered } from './person.ts';

/** One kind of request that is sent again and again; `judge` says whether an answer is one that may come now. */
export interface Flow {
  readonly name: string;
  send(): Promise<Answered>;
  judge(answered: Answered): boolean;
}

export interface Count {
  sent: number;
  answered: number;
  lost: number;
  readonly statuses: Map<number, number>;
  slowestMs: number;
}

const PAUSE_MS = 10;

/** Sends all flows side by side, over and over, until `stop`; prints how they fared, by name. */
export function startTraffic(title: string, flows: readonly Flow[]): { stop(): Promise<ReadonlyMap<string, Count>> } {
  const counts = new Map<string, Count>();
  const state = { running: true };
  const loops = flows.map(async (flow) => {
    const count = counts.get(flow.name) ?? { sent: 0, answered: 0, lost: 0, statuses: new Map(), slowestMs: 0 };
    counts.set(flow.name, count);
    while (state.running) {
      await once(flow, count);
      await wait(PAUSE_MS);
    }
  });
  return {
    async stop() {
      state.running = false;
      await Promise.all(loops);
      for (const [name, { sent, answered, lost, statuses, slowestMs }] of counts) {
        const kinds = [...statuses].map(([status, times]) => `${status} × ${times}`).join(', ');
        console.log(
          `      ${title}, ${name}: sent ${sent}, answered ${answered}, lost ${lost} (${kinds}; slowest ${Math.round(slowestMs)} ms)`,
        );
      }
      return counts;
    },
  };
}

async function once(flow: Flow, count: Count): Promise<void> {
  count.sent++;
  const from = performance.now();
  try {
    const answered = await flow.send();
    count.slowestMs = Math.max(count.slowestMs, performance.now() - from);
    count.statuses.set(answered.status, (count.statuses.get(answered.status) ?? 0) + 1);
    if (flow.judge(answered)) count.answered++;
    else count.lost++;
  } catch {
    count.lost++;
  }
}
