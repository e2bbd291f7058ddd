import { Agent, request } from 'node:http';
import type { GatewayProcess } from '../gateway-process.ts';

/** A response, read completely. */
export interface Asked {
  readonly status: number;
  readonly text: string;
}

/** Sends a request on a connection of its own, which any worker may accept. Rejects if the response is incomplete. */
export function askOnce(
  url: string,
  headers: Record<string, string> = {},
  agent: Agent | false = false,
): Promise<Asked> {
  return new Promise((resolve, reject) => {
    const req = request(url, { agent, headers }, (res) => {
      let text = '';
      res.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      res.once('error', reject);
      res.once('end', () => resolve({ status: res.statusCode!, text }));
    });
    req.once('error', reject);
    req.end();
  });
}

/** Returns the numbers of a gateway's statistics whose names match. */
export async function numbersOf(gateway: GatewayProcess, filter: string): Promise<Record<string, number>> {
  const text = await (await fetch(`${gateway.admin}/stats?filter=${encodeURIComponent(filter)}`)).text();
  const pairs = text
    .trim()
    .split('\n')
    .filter((line) => line !== '');
  return Object.fromEntries(pairs.map((line) => [line.slice(0, line.indexOf(':')), Number(line.split(': ')[1])]));
}

/** Returns the process ids of the workers that the log names, by their number; the newest of each. */
export function pidsOf({ errors }: GatewayProcess): Map<number, number> {
  const lines = errors.split('\n').filter((line) => line.includes('"worker is serving"'));
  return new Map(
    lines.map((line) => {
      const { worker, pid } = JSON.parse(line) as { worker: number; pid: number };
      return [worker, pid];
    }),
  );
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
