import { setTimeout as wait } from 'node:timers/promises';
import { startRedis, type RedisServer } from './redis.ts';

/** How long the sentinels may take to find each other and the replica. */
const DISCOVERY_MS = 30_000;
/** A primary that is silent for this long is replaced. */
const DOWN_AFTER_MS = 1000;

/** A primary with a replica, which three sentinels watch. */
export interface RedisSentinelGroup {
  /** Name of the group. */
  readonly name: string;
  readonly primary: RedisServer;
  readonly replica: RedisServer;
  /** `host:port,host:port` of the sentinels. */
  readonly hosts: string;
  close(): Promise<void>;
}

/** Starts a group with its sentinels on free ports of 127.0.0.1. */
export async function startRedisSentinels(): Promise<RedisSentinelGroup> {
  const name = 'main';
  const primary = await startRedis();
  const replica = await startRedis({ args: ['--replicaof', '127.0.0.1', String(primary.port)] });
  const config = [
    `sentinel monitor ${name} 127.0.0.1 ${primary.port} 2`,
    `sentinel down-after-milliseconds ${name} ${DOWN_AFTER_MS}`,
    `sentinel failover-timeout ${name} 5000`,
  ].join('\n');
  const sentinels = await Promise.all([1, 2, 3].map(() => startRedis({ config, args: ['--sentinel'] })));
  for (const sentinel of sentinels) {
    await until(async () => {
      const state = (await sentinel.command(['sentinel', 'master', name])).replaceAll(/\$\d+\r\n/g, '');
      return state.includes('num-slaves\r\n1\r\n') && state.includes('num-other-sentinels\r\n2\r\n');
    });
  }
  return {
    name,
    primary,
    replica,
    hosts: sentinels.map(({ host }) => host).join(','),
    async close() {
      await Promise.all([...sentinels, primary, replica].map((server) => server.close()));
    },
  };
}

async function until(isTrue: () => Promise<boolean>): Promise<void> {
  for (const giveUp = performance.now() + DISCOVERY_MS; performance.now() < giveUp; await wait(50))
    if (await isTrue()) return;
  throw new Error('the sentinels do not agree');
}
