import { setTimeout as wait } from 'node:timers/promises';
import type { Connection } from '../gateway/connection.ts';
import type { Check } from './contract.ts';
import { isProxyReported } from './components.ts';

const INTERVAL_MS = 500;
const REFUSALS = /^\S*(?:update_rejected|update_failure)$/;

/** The problems of Proxy resources, and whether the running proxy is ready and accepts updates. */
export const proxies: Check = {
  name: 'Proxies',
  excludedBy: 'proxies',
  kind: 'Proxy',
  async run(input, configured) {
    const { connection, readOnly, excluded, note } = input;
    if (excluded.has('deployments')) {
      note('Skipping proxies because deployments were excluded');
      return [];
    }
    if (readOnly) {
      note('Warning: the proxy was not queried because of --read-only');
      return configured;
    }
    return isProxyReported(input) ? configured : [...configured, ...(await liveProblems(connection))];
  },
};

async function liveProblems(connection: Connection): Promise<string[]> {
  try {
    const ready = (await connection.proxy('/ready')).trim();
    if (ready !== 'LIVE') return [`The proxy at ${connection.proxyAdmin.origin} is not ready: ${ready}`];
    return await refusals(connection);
  } catch (error) {
    return [(error as Error).message];
  }
}

/** Reads the counters of a proxy with a remote control plane: whether it is connected, and whether it rejects updates now. */
async function refusals(connection: Connection): Promise<string[]> {
  const before = await counters(connection);
  if (before.get('control_plane.connected_state') === 0) {
    return [`The proxy at ${connection.proxyAdmin.origin} is not connected to its control plane`];
  }
  const counted = [...before].filter(([name]) => REFUSALS.test(name));
  if (!counted.some(([, value]) => value > 0)) return [];
  await wait(INTERVAL_MS);
  const after = await counters(connection);
  return counted
    .filter(([name, value]) => (after.get(name) ?? value) > value)
    .map(([name]) => `The proxy at ${connection.proxyAdmin.origin} rejects updates: ${name} is rising`);
}

async function counters(connection: Connection): Promise<Map<string, number>> {
  const text = await connection.proxy('/stats');
  return new Map(
    text.split('\n').flatMap((line) => {
      const match = /^(\S+): (\d+)$/.exec(line);
      return match ? [[match[1]!, Number(match[2])] as const] : [];
    }),
  );
}
