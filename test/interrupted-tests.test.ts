import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { expect } from 'chai';
import { ROOT } from './docs/workspace.ts';

const FENCE = '```';
const NOTE_PID = 'echo $$ >';

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

describe('interrupted tests', () => {
  let folder: string;
  beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), 'interrupted-'))));
  afterEach(() => rmSync(folder, { recursive: true }));

  const pidIn = (name: string): number => {
    const file = join(folder, name);
    return existsSync(file) ? Number(readFileSync(file, 'utf8')) : 0;
  };

  /** Starts the tests as a terminal does, and resolves when the commands run. */
  async function start() {
    const background = `${NOTE_PID} ${folder}/background; echo listening on a port; exec sleep 3600`;
    const command = `${NOTE_PID} ${folder}/command; exec sleep 3600`;
    const page = join(folder, 'page.md');
    writeFileSync(
      page,
      `<!-- docs: background -->\n\n${FENCE}sh\n${background}\n${FENCE}\n\n${FENCE}sh\n${command}\n${FENCE}\n`,
    );
    const env = { ...process.env, REPOSITORY_READY: ROOT };
    const tests = spawn(process.execPath, [join(ROOT, 'scripts', 'run.mjs'), 'test', page], {
      env,
      detached: true,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const closed = once(tests.stdout.resume(), 'close');
    while (pidIn('command') === 0 && tests.exitCode === null) await wait(20);
    return { tests, closed, pids: [pidIn('background'), pidIn('command')] };
  }

  for (const signal of ['SIGINT', 'SIGTERM', 'SIGKILL'] as const)
    it(`end the commands of a page when a terminal sends ${signal}`, async () => {
      const { tests, closed, pids } = await start();
      expect(pids.map(isAlive)).to.deep.equal([true, true]);
      process.kill(-tests.pid!, signal);
      // Each process of the tests has their output open.
      await closed;
      for (const pid of pids) while (isAlive(pid)) await wait(20);
    });
});
