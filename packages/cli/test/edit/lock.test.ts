import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { withLock } from '../../src/edit/lock.ts';

describe('withLock', () => {
  let cwd: string;
  beforeEach(() => (cwd = mkdtempSync(join(tmpdir(), 'lock-'))));
  afterEach(() => rmSync(cwd, { recursive: true }));
  const io = () => ({ stdout: process.stdout, stderr: process.stderr, env: {}, isTTY: false, cwd });
  const file = () => join(cwd, '.gatewayctl.lock');

  it('runs one work after the other, and removes the lock', async () => {
    const running = new Set<number>();
    let most = 0;
    await Promise.all(
      [1, 2, 3, 4].map((n) =>
        withLock(io(), '.', async () => {
          running.add(n);
          most = Math.max(most, running.size);
          await new Promise((done) => setImmediate(done));
          running.delete(n);
        }),
      ),
    );
    expect(most).to.equal(1);
    expect(existsSync(file())).to.equal(false);
  });

  it('removes the lock after an error', async () => {
    const failed = await withLock(io(), '.', () => Promise.reject(new Error('no'))).catch(
      (error: Error) => error.message,
    );
    expect(failed).to.equal('no');
    expect(existsSync(file())).to.equal(false);
  });

  it('leaves a lock of another process that took it over, and no handlers of signals', async () => {
    const handlers = (): number => process.listenerCount('SIGINT') + process.listenerCount('SIGTERM');
    const before = handlers();
    await withLock(io(), '.', async () => {
      expect(handlers()).to.equal(before + 2);
      writeFileSync(file(), 'of another');
    });
    expect([readFileSync(file(), 'utf8'), handlers()]).to.deep.equal(['of another', before]);
  });

  it('takes over the lock of a process that no longer exists, once', async () => {
    const { pid } = spawnSync('true');
    writeFileSync(file(), JSON.stringify({ pid, host: hostname(), id: 'x' }));
    let runs = 0;
    await Promise.all([1, 2, 3].map(() => withLock(io(), '.', async () => void runs++)));
    expect(runs).to.equal(3);
    expect(existsSync(`${file()}.takeover`)).to.equal(false);
  });

  it('keeps the lock of another process that has taken over first', async () => {
    writeFileSync(file(), JSON.stringify({ pid: 1, host: hostname(), id: 'x' }));
    const taken = JSON.stringify({ pid: 1, host: 'elsewhere.example', id: 'y' });
    const { kill } = process;
    // The other process takes over while this one finds out that the owner has ended.
    process.kill = () => {
      process.kill = kill;
      writeFileSync(file(), taken);
      throw Object.assign(new Error('no such process'), { code: 'ESRCH' });
    };
    const order: string[] = [];
    const waiting = withLock(io(), '.', async () => void order.push('this process'));
    setImmediate(() => {
      order.push(existsSync(file()) ? readFileSync(file(), 'utf8') : 'no lock');
      rmSync(file(), { force: true });
    });
    await waiting.finally(() => (process.kill = kill));
    expect(order).to.deep.equal([taken, 'this process']);
  });

  it('waits for a lock that another host holds until it is released', async () => {
    writeFileSync(file(), JSON.stringify({ pid: 1, host: 'elsewhere.example', id: 'x' }));
    const waiting = withLock(io(), '.', async () => 'done');
    setImmediate(() => rmSync(file()));
    expect(await waiting).to.equal('done');
  });

  it('rejects a directory that is missing', async () => {
    const error = await withLock(io(), 'none', async () => {}).catch((caught: Error) => caught);
    expect(error).to.include({ code: 'ERR_CLI_FILE', message: 'none: no such file or directory' });
  });

  it('is not stopped by a takeover that was killed', async () => {
    const { pid } = spawnSync('true');
    writeFileSync(file(), JSON.stringify({ pid, host: hostname(), id: 'x' }));
    writeFileSync(`${file()}.takeover`, '');
    utimesSync(`${file()}.takeover`, 1, 1);
    expect(await withLock(io(), '.', async () => 'done')).to.equal('done');
    expect(existsSync(`${file()}.takeover`)).to.equal(false);
  });

  it('names the process that keeps the lock for too long', async () => {
    writeFileSync(file(), JSON.stringify({ pid: 7, host: 'elsewhere.example', id: 'x' }));
    const { now } = performance;
    let time = 0;
    performance.now = () => (time += 20_000);
    const error = await withLock(io(), '.', async () => {})
      .catch((caught: Error) => caught)
      .finally(() => (performance.now = now));
    expect(error).to.include({ code: 'ERR_CLI_LOCKED' });
    expect((error as Error).message).to.include('another gatewayctl (process 7 on elsewhere.example);');
  });
});
