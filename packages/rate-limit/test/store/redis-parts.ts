import { setTimeout as wait } from 'node:timers/promises';
import { silentLoggers, type Logger } from '@edge-gateway/core';
import { createRedisStore, type Limit, type RedisStoreOptions, type Store } from '@edge-gateway/rate-limit';
import { UNIT_MS } from '../../src/rules/limit.ts';

/** Milliseconds of a check in tests that are not about deadlines. */
export const DEADLINE_MS = 5000;

/** A limit of 10 requests, unless the fields say otherwise. */
export function limitOf({
  unit = 'HOUR',
  algorithm = 'FIXED_WINDOW',
  requests = 10,
  burst = requests,
}: Partial<Limit> = {}): Limit {
  return { requests, unit, unitMs: UNIT_MS[unit], algorithm, burst };
}

/** Creates a store that is connected. */
export async function connectedStore(options: Omit<RedisStoreOptions, 'log'> & { log?: Logger }): Promise<Store> {
  const store = createRedisStore({ log: silentLoggers.get('redis'), ...options });
  await untilAvailable(store);
  return store;
}

/** Resolves when a check succeeds; with the milliseconds that it took. */
export async function untilAvailable(store: Store, limitMs = 20_000): Promise<number> {
  const startedAt = performance.now();
  for (;;) {
    try {
      await store.count([{ key: 'probe', limit: limitOf(), cost: 0 }], 500);
      return performance.now() - startedAt;
    } catch (error) {
      if (performance.now() - startedAt > limitMs) throw error;
      await wait(20);
    }
  }
}

/** A logger that keeps warnings and information. */
export function recordingLog(): { readonly log: Logger; readonly lines: string[]; readonly details: unknown[] } {
  const lines: string[] = [];
  const details: unknown[] = [];
  const keep = (each: unknown, message: string): void => {
    lines.push(message);
    details.push(each);
  };
  const ignore = (): void => {};
  return { log: { debug: ignore, info: keep, warn: keep, error: keep, fatal: keep } as Logger, lines, details };
}
