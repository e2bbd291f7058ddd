import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as wait } from 'node:timers/promises';
import { expect } from 'chai';
import { until } from '../../apps/gateway/test/gateway-process.ts';
import type { Kind } from './answer-kind.ts';

/** One kind of request that is sent again and again. */
export interface Flow {
  readonly name: string;
  /** At most: no more are under way than a fifth of it, so that machines may be slow. */
  readonly perSecond: number;
  /** What its answers are while nothing is wrong. */
  readonly usual: readonly Kind[];
  send(): Promise<Kind>;
  /** Lets go of what it keeps open. */
  stop?(): Promise<void>;
}

/** How one flow fared in one phase; requests count where they began. */
export interface Tally {
  sent: number;
  readonly kinds: Map<Kind, number>;
  readonly tookMs: number[];
}

export interface Report {
  /** By phase, then flow; empty for what was not sent. */
  tally(phase: string, flow: string): Tally;
  /** The longest this process itself kept everybody waiting. */
  readonly ownLagMs: number;
}

/** What may be answered from now on, by flow; flows that are not named answer as usual. */
export type Expected = Readonly<Record<string, readonly Kind[]>>;
export type SetPhase = (name: string, expected?: Expected) => void;

/** Below this many requests nothing is proved: traffic goes on until then. */
const LEAST_SENT = 300;
/** Of one flow, at any speed. */
const LEAST_UNDER_WAY = 4;
const SHOWN_LOSSES = 5;
const SEPARATOR = '/';
/** Begins the kind of what was never answered. */
const NONE = 'none: ';

interface Phase {
  readonly name: string;
  readonly expected: Expected;
}

/**
 * Sends all flows while `fault` runs, which says in which phase the world is, and may look at how they fare so far. Prints
 * how they fared, and fails for any answer that was not to be expected in the phases it lived through, and for none.
 */
export async function underTraffic(
  title: string,
  flows: readonly Flow[],
  fault: (phase: SetPhase, soFar: Report) => Promise<void>,
): Promise<Report> {
  const phases: Phase[] = [{ name: 'before', expected: {} }];
  const tallies = new Map<string, Tally>();
  const lost: string[] = [];
  const wrong: string[] = [];
  const open = new Set<Promise<void>>();
  const state = { running: true };
  const delay = monitorEventLoopDelay({ resolution: 5 });
  delay.enable();
  const began = performance.now();
  const tallyOf = (phase: string, flow: string): Tally => {
    const key = phase + SEPARATOR + flow;
    const tally = tallies.get(key) ?? { sent: 0, kinds: new Map<Kind, number>(), tookMs: [] };
    tallies.set(key, tally);
    return tally;
  };

  async function one(flow: Flow): Promise<void> {
    const first = phases.length - 1;
    const tally = tallyOf(phases[first]!.name, flow.name);
    const from = performance.now();
    tally.sent++;
    const kind = await flow.send().catch((error: Error & { code?: string }) => NONE + (error.code ?? error.message));
    const tookMs = performance.now() - from;
    tally.tookMs.push(tookMs);
    tally.kinds.set(kind, (tally.kinds.get(kind) ?? 0) + 1);
    const lived = phases.slice(first);
    if (lived.some(({ expected }) => (expected[flow.name] ?? flow.usual).includes(kind))) return;
    const during = lived.map(({ name }) => name).join(' to ');
    (kind.startsWith(NONE) ? lost : wrong).push(`${flow.name}, ${during}: ${kind}, after ${Math.round(tookMs)} ms`);
  }

  const loops = flows.map(async (flow) => {
    const most = Math.max(LEAST_UNDER_WAY, flow.perSecond / 5);
    let underWay = 0;
    while (state.running) {
      if (underWay < most) {
        underWay++;
        const sent = one(flow).finally(() => {
          underWay--;
          open.delete(sent);
        });
        open.add(sent);
      }
      await wait(1000 / flow.perSecond);
    }
  });
  const report: Report = {
    tally: tallyOf,
    get ownLagMs() {
      return delay.max / 1e6;
    },
  };
  let seconds = 0;
  try {
    await fault((name, expected = {}) => phases.push({ name, expected }), report);
    await until(() => sentOf(tallies.values()) >= LEAST_SENT, 'enough traffic');
  } finally {
    state.running = false;
    await Promise.all(loops);
    seconds = (performance.now() - began) / 1000;
    await Promise.all(open);
    for (const flow of flows) await flow.stop?.();
    delay.disable();
    print(title, {
      tallies,
      lost: lost.length,
      wrong: wrong.length,
      seconds,
      usual: new Set(flows.flatMap(({ usual }) => usual)),
    });
  }
  const unexpected = [...lost, ...wrong];
  expect(unexpected.slice(0, SHOWN_LOSSES), `${lost.length} lost, ${wrong.length} wrong`).to.deep.equal([]);
  return report;
}

function sentOf(tallies: Iterable<Tally>): number {
  return [...tallies].reduce((sum, { sent }) => sum + sent, 0);
}

interface Outcome {
  readonly tallies: ReadonlyMap<string, Tally>;
  readonly lost: number;
  /** Answered in a way that was not to be expected. */
  readonly wrong: number;
  readonly seconds: number;
  readonly usual: ReadonlySet<Kind>;
}

function print(title: string, { tallies, lost, wrong, seconds, usual }: Outcome): void {
  const all = [...tallies.values()];
  const sent = sentOf(all);
  const slowest = all.flatMap(({ tookMs }) => tookMs).reduce((most, each) => Math.max(most, each), 0);
  const rate = `${Math.round(sent / seconds)}/s, slowest ${Math.round(slowest)} ms`;
  const cut = all.reduce((sum, { kinds }) => sum + (kinds.get('cut off') ?? 0), 0);
  const withNode = cut > 0 ? `, cut off with their gateway ${cut}` : '';
  const answered = `answered ${sent - lost - wrong - cut}${withNode}, wrong ${wrong}, lost ${lost}`;
  console.log(`      ${title}: sent ${sent}, ${answered} (${rate})`);
  const lines = new Map<string, string[]>();
  for (const [key, { kinds }] of tallies) {
    if ([...kinds.keys()].every((kind) => usual.has(kind))) continue;
    const [phase = '', flow = ''] = key.split(SEPARATOR);
    const said = [...kinds].map(([kind, times]) => `${times} × ${kind}`).join(', ');
    lines.set(phase, [...(lines.get(phase) ?? []), `${flow} ${said}`]);
  }
  for (const [phase, said] of lines) console.log(`        ${phase}: ${said.join('; ')}`);
}

/** Some flows in one phase. */
export interface Part {
  readonly phase: string;
  readonly flows: readonly string[];
}

/** How many answers of a kind came. */
export function countOf(report: Report, kind: Kind, { phase, flows }: Part): number {
  return flows.reduce((sum, flow) => sum + (report.tally(phase, flow).kinds.get(kind) ?? 0), 0);
}

/** Waits until more than so many answers of a kind came. */
export async function moreThan(count: number, report: Report, kind: Kind, part: Part): Promise<void> {
  await until(() => countOf(report, kind, part) > count, `${count} × ${kind} while ${part.phase}`);
}

/** Waits until all that was sent in a phase is answered. */
export async function allAnswered(report: Report, { phase, flows }: Part): Promise<void> {
  const isAnswered = (flow: string): boolean => {
    const { sent, tookMs } = report.tally(phase, flow);
    return sent === tookMs.length;
  };
  await until(() => flows.every(isAnswered), `every answer to what was sent while ${phase}`);
}

/** What the slowest answer took, in milliseconds. */
export function slowestOf(report: Report, { phase, flows }: Part): number {
  return Math.max(0, ...flows.flatMap((flow) => report.tally(phase, flow).tookMs));
}

/** What an answer took that is neither among the faster nor among the slower half, in milliseconds. */
export function medianOf(report: Report, { phase, flows }: Part): number {
  const took = flows.flatMap((flow) => report.tally(phase, flow).tookMs).toSorted((a, b) => a - b);
  return took[took.length >> 1] ?? 0;
}
