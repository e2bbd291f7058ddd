import { setTimeout as wait } from 'node:timers/promises';
import { freePort } from './free-port.ts';
import { startRedis, type RedisServer } from './redis.ts';

const SLOTS = 16_384;
/** How long the nodes may take to agree. */
const AGREE_MS = 30_000;
/** A primary that is silent for this long is replaced. */
const NODE_TIMEOUT_MS = 1000;

/** A real Redis cluster of one's own. */
export interface RedisCluster {
  /** Primaries with equal shares of the slots, in order. */
  readonly primaries: readonly RedisServer[];
  /** One for each primary, if the cluster was started with replicas. */
  readonly replicas: readonly RedisServer[];
  /** `host:port,host:port` of all nodes. */
  readonly hosts: string;
  close(): Promise<void>;
}

/** Starts a cluster of three primaries on free ports of 127.0.0.1. */
export async function startRedisCluster({ replicas = false } = {}): Promise<RedisCluster> {
  const nodes = await Promise.all(Array.from({ length: replicas ? 6 : 3 }, startNode));
  const servers = nodes.map(({ server }) => server);
  const [first] = servers;
  const primaries = servers.slice(0, 3);
  for (const [i, primary] of primaries.entries()) {
    const from = Math.ceil((i * SLOTS) / 3);
    const to = Math.ceil(((i + 1) * SLOTS) / 3) - 1;
    await primary.command(['cluster', 'addslotsrange', String(from), String(to)]);
  }
  for (const [i, { server, busPort }] of nodes.entries()) {
    await server.command(['cluster', 'set-config-epoch', String(i + 1)]);
    if (i > 0) await first!.command(['cluster', 'meet', '127.0.0.1', String(server.port), String(busPort)]);
  }
  await agreed(servers);
  for (const [i, replica] of servers.slice(3).entries()) {
    const id = /[0-9a-f]{40}/.exec(await primaries[i]!.command(['cluster', 'myid']))![0];
    await replica.command(['cluster', 'replicate', id]);
    await until(async () => (await replica.command(['info', 'replication'])).includes('master_link_status:up'));
  }
  return {
    primaries,
    replicas: servers.slice(3),
    hosts: servers.map(({ host }) => host).join(','),
    async close() {
      await Promise.all(servers.map((server) => server.close()));
    },
  };
}

async function startNode(): Promise<{ readonly server: RedisServer; readonly busPort: number }> {
  const busPort = await freePort();
  const timeout = ['--cluster-node-timeout', String(NODE_TIMEOUT_MS)];
  const args = ['--cluster-enabled', 'yes', '--cluster-port', String(busPort), ...timeout];
  return { server: await startRedis({ args }), busPort };
}

/** Resolves when every node knows all others and the owners of all slots. */
async function agreed(servers: readonly RedisServer[]): Promise<void> {
  for (const server of servers) {
    await until(async () => {
      const info = await server.command(['cluster', 'info']);
      return info.includes('cluster_state:ok') && info.includes(`cluster_known_nodes:${servers.length}\r`);
    });
  }
}

async function until(isTrue: () => Promise<boolean>): Promise<void> {
  for (const giveUp = performance.now() + AGREE_MS; performance.now() < giveUp; await wait(50))
    if (await isTrue()) return;
  throw new Error('the nodes of the cluster do not agree');
}
