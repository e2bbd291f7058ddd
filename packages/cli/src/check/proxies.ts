import { setTimeout as wait } from 'node:timers/promises';
import type { Connection } from '../connection.ts';
import { reportsOf } from '../status.ts';
import type { StatusObject } from '../objects.ts';
import type { Check, CheckInput } from './check.ts';
import { missesListener } from './components.ts';
import { statusProblems } from './statuses.ts';

const INTERVAL_MS = 500;
const REFUSALS = /^\S*(?:update_rejected|update_failure)$/;

/** The states of the proxies, and whether the running one is ready and takes what it is sent. */
export const proxies: Check = {
  name: 'Proxies',
  excludedBy: 'proxies',
  kind: 'Proxy',
  async run(input) {
    const { proxies: found, connection, readOnly, excluded, note } = input;
    if (excluded.has('deployments')) {
      note('Skipping proxies because deployments were excluded');
      return [];
    }
    const untold = found.filter((proxy) => !isTold(proxy, input));
    const problems = statusProblems(untold, { kind: 'Proxy', noun: 'proxy' });
    if (readOnly) {
      note('Warning: the proxy itself was not asked, because of --read-only');
      return problems;
    }
    const live = await liveProblems(connection);
    return [...problems, ...live.filter((problem) => !(missesListener(input) && problem.includes('INITIALIZING')))];
  },
};

/** True when a proxy only warns of what resources or listeners tell themselves. */
function isTold(proxy: StatusObject, { everything, components = [] }: CheckInput): boolean {
  const told = [
    ...everything.flatMap((object) => reportsOf(object).map(({ reason }) => reason)),
    ...components.map(({ reason }) => reason),
  ].join('\n');
  const reports = reportsOf(proxy);
  const lines = reports.flatMap(({ reason }) => reason.split('\n')).map((line) => line.trim().replace(HOLDER, ''));
  const problems = lines.filter((line) => line !== '' && !HEADING.test(line));
  return (
    problems.length > 0 &&
    reports.every(({ state }) => state === 'Warning') &&
    problems.every((line) => told.includes(line))
  );
}

/** The resource in front of a problem. */
const HOLDER = /^[a-z0-9-]+\.[a-z0-9.-]+: /;
/** What is no problem itself: the heading of a list, and how many a status leaves out. */
const HEADING = /^(?:warning:|… and \d+ more problems?)$/;

async function liveProblems(connection: Connection): Promise<string[]> {
  try {
    const ready = (await connection.proxy('/ready')).trim();
    if (ready !== 'LIVE') return [`The proxy at ${connection.proxyAdmin.origin} is not ready: ${ready}`];
    return await refusals(connection);
  } catch (error) {
    return [(error as Error).message];
  }
}

/** What a proxy with a remote control plane counts: whether it is connected, and whether it refuses updates now. */
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
    .map(([name]) => `The proxy at ${connection.proxyAdmin.origin} refuses updates: ${name} is rising`);
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
