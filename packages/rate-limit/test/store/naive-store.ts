import { windowAt, type Charge, type Count } from '@edge-gateway/rate-limit';

/** A charge that was counted. */
interface Counted {
  readonly key: string;
  readonly atMs: number;
  readonly cost: number;
}

/** Counts by looking at everything that happened, in whole numbers of any size. Times must not go back. */
export function createNaiveStore() {
  const counted = new Map<string, Counted[]>();
  const buckets = new Map<string, { taken: bigint; atMs: number }>();

  function fixed({ key, limit, cost }: Charge, nowMs: number): Pick<Count, 'isOver' | 'remaining'> {
    const { startMs } = windowAt(limit.unit, nowMs);
    const count = eventsOf(key).reduce((sum, each) => sum + (each.atMs >= startMs ? each.cost : 0), cost);
    eventsOf(key).push({ key, atMs: nowMs, cost });
    return { isOver: count > limit.requests, remaining: Math.max(0, limit.requests - count) };
  }

  function sliding({ key, limit, cost }: Charge, nowMs: number): Pick<Count, 'isOver' | 'remaining'> {
    const { startMs, endMs } = windowAt(limit.unit, nowMs);
    const before = windowAt(limit.unit, startMs - 1);
    const sum = (from: number, to: number): bigint =>
      BigInt(eventsOf(key).reduce((all, each) => all + (each.atMs >= from && each.atMs < to ? each.cost : 0), 0));
    const length = BigInt(endMs - startMs);
    const used = sum(before.startMs, startMs) * BigInt(endMs - nowMs) + sum(startMs, endMs) * length;
    const isOver = used + BigInt(cost) * length > BigInt(limit.requests) * length;
    if (!isOver) eventsOf(key).push({ key, atMs: nowMs, cost });
    const left = BigInt(limit.requests) * length - used - (isOver ? 0n : BigInt(cost) * length);
    return { isOver, remaining: left < 0n ? 0 : Number(left / length) };
  }

  function bucket({ key, limit, cost }: Charge, nowMs: number): Pick<Count, 'isOver' | 'remaining'> {
    const unit = BigInt(limit.unitMs);
    const capacity = limit.requests === 0 ? 0n : BigInt(limit.burst) * unit;
    const last = buckets.get(key) ?? { taken: 0n, atMs: nowMs };
    let taken = last.taken - BigInt(nowMs - last.atMs) * BigInt(limit.requests);
    if (taken < 0n) taken = 0n;
    const isOver = taken + BigInt(cost) * unit > capacity;
    if (!isOver) taken += BigInt(cost) * unit;
    buckets.set(key, { taken, atMs: nowMs });
    return { isOver, remaining: taken > capacity ? 0 : Number((capacity - taken) / unit) };
  }

  function eventsOf(key: string): Counted[] {
    const known = counted.get(key) ?? [];
    counted.set(key, known);
    return known;
  }

  const algorithms = { FIXED_WINDOW: fixed, SLIDING_WINDOW: sliding, TOKEN_BUCKET: bucket };
  return (charge: Charge, nowMs: number): Pick<Count, 'isOver' | 'remaining'> =>
    algorithms[charge.limit.algorithm](charge, nowMs);
}
