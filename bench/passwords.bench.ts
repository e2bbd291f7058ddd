import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { Pool } from 'undici';

export const name = 'wrong passwords: latency of another route of the same process while 200 of them arrive a second';

const SECONDS = 10;
const OPEN_PER_SECOND = 200;
const WRONG_PER_SECOND = 200;

interface Figures {
  /** Milliseconds of each request to the open route. */
  readonly latencies: number[];
  readonly statuses: Map<number, number>;
}

/** Calls `send` at a fixed rate, whether or not earlier calls have ended; resolves when all have ended. */
async function atRate(perSecond: number, seconds: number, send: (i: number) => Promise<void>): Promise<void> {
  const sent: Promise<void>[] = [];
  const start = performance.now();
  while (sent.length < perSecond * seconds) {
    const due = ((performance.now() - start) / 1000) * perSecond;
    while (sent.length < Math.min(due, perSecond * seconds)) sent.push(send(sent.length));
    await wait(1);
  }
  await Promise.all(sent);
}

async function measure(url: string, wrongPerSecond: number): Promise<Figures> {
  const pools = [new Pool(url, { connections: 16 }), new Pool(url, { connections: 256 })] as const;
  const latencies: number[] = [];
  const statuses = new Map<number, number>();
  const open = atRate(OPEN_PER_SECOND, SECONDS, async () => {
    const start = performance.now();
    await (await pools[0].request({ method: 'GET', path: '/open' })).body.dump();
    latencies.push(performance.now() - start);
  });
  const wrong = atRate(wrongPerSecond, SECONDS, async (i) => {
    const authorization = `Basic ${Buffer.from(`alice:guess-${i}`).toString('base64')}`;
    const { statusCode, body } = await pools[1].request({ method: 'GET', path: '/staff', headers: { authorization } });
    await body.dump();
    statuses.set(statusCode, (statuses.get(statusCode) ?? 0) + 1);
  });
  await Promise.all([open, wrong]);
  await Promise.all(pools.map((pool) => pool.destroy()));
  return { latencies, statuses };
}

function percentile(values: readonly number[], share: number): string {
  const sorted = values.toSorted((a, b) => a - b);
  return `${sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]!.toFixed(1)} ms`;
}

export async function run(): Promise<void> {
  for (const hash of ['apr1', 'bcrypt']) {
    const child = fork(join(import.meta.dirname, 'passwords-server.ts'), [hash], { execArgv: ['--conditions=source'] });
    const [{ port }] = (await once(child, 'message')) as [{ port: number }];
    await measure(`http://127.0.0.1:${port}`, 1);
    for (const rate of [0, WRONG_PER_SECOND]) {
      const { latencies, statuses } = await measure(`http://127.0.0.1:${port}`, rate);
      const answers = [...statuses].map(([status, count]) => `${count} × ${status}`).join(', ');
      console.log(
        `  ${hash.padEnd(7)} ${String(rate).padStart(3)} wrong passwords a second: median ${percentile(latencies, 0.5)}, ` +
          `99 % below ${percentile(latencies, 0.99)}, longest ${percentile(latencies, 1)}${answers && `; ${answers}`}`,
      );
    }
    child.kill();
  }
}

if (process.argv[1] === import.meta.filename) {
  console.log(name);
  await run();
}
