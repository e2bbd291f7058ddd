import { setTimeout as wait } from 'node:timers/promises';
import type { Connection } from '../gateway/connection.ts';

const INTERVAL_MS = 500;
const REJECTIONS = /^\S*(?:update_rejected|update_failure)$/;

/** Returns whether the running proxy is not ready, not connected, or rejects updates now. */
export async function proxyProblems(connection: Connection): Promise<string[]> {
  const proxy = `The proxy at ${connection.proxyAdmin.origin}`;
  try {
    const ready = (await connection.proxy('/ready')).trim();
    if (ready !== 'LIVE') return [`${proxy} is not ready: ${ready}`];
    const before = await counters(connection);
    if (before.get('control_plane.connected_state') === 0) return [`${proxy} is not connected to its control plane`];
    const counted = [...before].filter(([name]) => REJECTIONS.test(name));
    if (!counted.some(([, value]) => value > 0)) return [];
    await wait(INTERVAL_MS);
    const after = await counters(connection);
    return counted
      .filter(([name, value]) => (after.get(name) ?? value) > value)
      .map(([name]) => `${proxy} rejects updates: ${name} is rising`);
  } catch (error) {
    return [(error as Error).message];
  }
}

async function counters(connection: Connection): Promise<Map<string, number>> {
  const lines = (await connection.proxy('/stats')).matchAll(/^(\S+): (\d+)$/gm);
  return new Map([...lines].map(([, name, value]) => [name!, Number(value)]));
}
