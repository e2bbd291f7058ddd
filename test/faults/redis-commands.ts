import type { RedisServer } from '../parts/redis.ts';

/** How often a command was run since `CONFIG RESETSTAT`. */
export async function commandsOf(redis: RedisServer, command: string): Promise<number> {
  const stats = await redis.command(['info', 'commandstats']);
  return Number(new RegExp(`cmdstat_${command}:calls=(\\d+)`).exec(stats)?.[1] ?? 0);
}
