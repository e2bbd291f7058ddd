import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import promises from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { skip } from '../../../../test/parts/skip.ts';
import { fakeTime } from '../../../../test/parts/fake-time.ts';
import { createFileLock, FileInUse } from '../../src/state-file/file-lock.ts';

const MODULE = join(import.meta.dirname, '../../src/state-file/file-lock.ts');

/** Returns where the ids of processes are unique. */
const spaceOf = (pid: string): string =>
  process.platform === 'linux'
    ? `${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()} ${readlinkSync(`/proc/${pid}/ns/pid`)}`
    : '';

describe('the lock of a file', () => {
  let dir: string;
  let path: string;
  let other: ChildProcess | undefined;
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'lock-'));
    path = join(dir, 'state');
  });
  afterEach(() => {
    other?.kill('SIGKILL');
    other = undefined;
    rmSync(dir, { recursive: true });
  });

  /** Starts another process that acquires the lock and keeps it. */
  async function lockElsewhere(): Promise<ChildProcess> {
    const script = `import(${JSON.stringify(MODULE)}).then(async ({ createFileLock }) => {
      const lock = createFileLock(${JSON.stringify(path)});
      process.on('message', async () => { await lock.release(); process.disconnect(); });
      await lock.acquire();
      process.send('locked');
    })`;
    other = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
    await once(other, 'message');
    return other;
  }
  const failure = async (): Promise<string> => {
    try {
      await createFileLock(path).acquire();
    } catch (error) {
      expect(error).to.be.instanceOf(FileInUse);
      return (error as Error).message;
    }
    throw new Error('the lock was acquired');
  };
  const write = (holder: object | string, ageSeconds = 0): void => {
    writeFileSync(`${path}.lock`, typeof holder === 'string' ? holder : `${JSON.stringify(holder)}\n`);
    const at = Date.now() / 1000 - ageSeconds;
    utimesSync(`${path}.lock`, at, at);
  };

  it('is not acquired while another process has it, whom the error names', async () => {
    const { pid } = await lockElsewhere();
    expect(await failure()).to.equal(`it is in use by process ${pid} of ${hostname()}: use another --state-dir`);
    expect(readFileSync(`${path}.lock`, 'utf8')).to.contain(String(pid));
  });

  it('is acquired when the other process releases it', async () => {
    const child = await lockElsewhere();
    child.send('release');
    await once(child, 'exit');
    expect(existsSync(`${path}.lock`)).to.equal(false);
    const lock = createFileLock(path);
    await lock.acquire();
    await lock.acquire();
    await lock.release();
    expect(readdirSync(dir)).to.deep.equal([]);
  });

  it('is taken over at once from a process that was killed, without what it was writing', async () => {
    const child = await lockElsewhere();
    child.kill('SIGKILL');
    await once(child, 'exit');
    writeFileSync(`${path}.${child.pid}.tmp`, 'unfinished');
    const lock = createFileLock(path);
    await lock.acquire();
    expect(JSON.parse(readFileSync(`${path}.lock`, 'utf8'))).to.include({ pid: process.pid, host: hostname() });
    await lock.release();
    expect(readdirSync(dir)).to.deep.equal([]);
  });

  it('is taken over from a process whose id another one has now', async function () {
    if (process.platform !== 'linux') skip(this, 'the start of a process is known on Linux only');
    const { pid } = await lockElsewhere();
    write({ host: hostname(), pid, started: '1', space: spaceOf('self') });
    await createFileLock(path).acquire();
  });

  for (const [what, pid] of [
    ['the same process id', process.pid],
    ['a process id that exists only there', 2 ** 22 + 1],
  ] as const)
    it(`of another container with the same host name and ${what} counts while it is renewed`, async function () {
      if (process.platform !== 'linux') skip(this, 'namespaces are known on Linux only');
      const holder = { host: hostname(), pid, started: '1', space: 'another boot pid:[1]' };
      write(holder);
      expect(await failure()).to.contain(`process ${pid} of ${hostname()}`);
      write(holder, 31);
      await createFileLock(path).acquire();
    });

  it('is left to a process that took it over in between', async () => {
    write({ host: 'elsewhere', pid: 1, started: '' }, 31);
    const { rename } = promises;
    promises.rename = async (from, to) => {
      promises.rename = rename;
      syncBuiltinESMExports();
      write({ host: 'faster', pid: 7, started: '' });
      await rename(from, to);
    };
    syncBuiltinESMExports();
    try {
      expect(await failure()).to.equal('it is in use by process 7 of faster: use another --state-dir');
    } finally {
      promises.rename = rename;
      syncBuiltinESMExports();
    }
    expect(readdirSync(dir)).to.deep.equal(['state.lock']);
    expect(JSON.parse(readFileSync(`${path}.lock`, 'utf8'))).to.include({ host: 'faster', pid: 7 });
  });

  it('is left to a process that created it in between', async () => {
    const { open } = promises;
    promises.open = async (...args) => {
      promises.open = open;
      syncBuiltinESMExports();
      write({ host: 'faster', pid: 7, started: '' });
      return open(...args);
    };
    syncBuiltinESMExports();
    try {
      expect(await failure()).to.equal('it is in use by process 7 of faster: use another --state-dir');
    } finally {
      promises.open = open;
      syncBuiltinESMExports();
    }
  });

  it('leaves no file if it cannot be written', async () => {
    const { open } = promises;
    const full = Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
    promises.open = async (...args) => {
      const file = await open(...args);
      file.writeFile = () => Promise.reject(full);
      return file;
    };
    syncBuiltinESMExports();
    const lock = createFileLock(path);
    try {
      await lock.acquire().then(
        () => expect.fail('acquired'),
        (error) => expect(error).to.equal(full),
      );
    } finally {
      promises.open = open;
      syncBuiltinESMExports();
    }
    expect(readdirSync(dir)).to.deep.equal([]);
    await lock.acquire();
    await lock.release();
  });

  it('is renewed until it is released', async () => {
    const time = fakeTime();
    try {
      const lock = createFileLock(path);
      await lock.acquire();
      const makeOld = (): void => utimesSync(`${path}.lock`, 1, 1);
      makeOld();
      await time.pass(9000);
      expect(statSync(`${path}.lock`).mtimeMs).to.equal(1000);
      await time.until(() => statSync(`${path}.lock`).mtimeMs > 1000);
      await lock.release();
      write('of another');
      makeOld();
      await time.pass(60_000);
      expect(statSync(`${path}.lock`).mtimeMs).to.equal(1000);
    } finally {
      time.restore();
    }
  });

  it('stays with a process that took it over', async () => {
    const lock = createFileLock(path);
    await lock.acquire();
    const other = { host: 'elsewhere', pid: 7, started: '' };
    write(other);
    await lock.release();
    expect(JSON.parse(readFileSync(`${path}.lock`, 'utf8'))).to.deep.equal(other);
    await lock.acquire().then(
      () => expect.fail('acquired'),
      (error) => expect(error).to.be.instanceOf(FileInUse),
    );
    write(other, 31);
    await lock.acquire();
    expect(JSON.parse(readFileSync(`${path}.lock`, 'utf8'))).to.include({ pid: process.pid });
  });

  it('is not kept open, and no longer renewed after it was lost, acquired again, and released', async () => {
    const time = fakeTime();
    const opened = (): number => (process.platform === 'linux' ? readdirSync('/proc/self/fd').length : 0);
    try {
      const lock = createFileLock(path);
      const before = opened();
      for (let i = 0; i < 3; i++) {
        await lock.acquire();
        rmSync(`${path}.lock`);
      }
      expect(opened()).to.equal(before);
      await lock.acquire();
      await lock.release();
      write('of another', 100);
      const { mtimeMs } = statSync(`${path}.lock`);
      await time.pass(60_000);
      expect(statSync(`${path}.lock`).mtimeMs).to.equal(mtimeMs);
    } finally {
      time.restore();
    }
  });

  it('is lost when another process has it, also to one that acquires it again', async () => {
    const lock = createFileLock(path);
    await lock.acquire();
    write({ host: 'elsewhere', pid: 7, started: '' });
    for (let i = 0; i < 2; i++) {
      const error: unknown = await lock.acquire().catch((reason: unknown) => reason);
      expect(error).to.be.instanceOf(FileInUse);
    }
  });

  it('is acquired again by the same process, e.g. after a restart of a gateway within it', async () => {
    await createFileLock(path).acquire();
    await createFileLock(path).acquire();
    const { pid, started } = JSON.parse(readFileSync(`${path}.lock`, 'utf8')) as { pid: number; started: string };
    expect(pid).to.equal(process.pid);
    if (process.platform !== 'linux') return;
    const start = /\)(?: \S+){19} (\d+) /.exec(readFileSync('/proc/self/stat', 'utf8'))?.[1];
    expect(started).to.equal(start);
  });

  it('of a process that belongs to another user counts', async () => {
    const { pid } = await lockElsewhere();
    const { kill } = process;
    process.kill = () => {
      throw Object.assign(new Error('not permitted'), { code: 'EPERM' });
    };
    try {
      expect(await failure()).to.contain(`process ${pid} of `);
    } finally {
      process.kill = kill;
    }
  });

  it('of a running process counts if nobody knows when it started', async () => {
    const { pid } = await lockElsewhere();
    write({ host: hostname(), pid, started: '', space: spaceOf('self') });
    expect(await failure()).to.contain(`process ${pid} of `);
  });

  it('of another machine with the same process id counts while it is renewed', async () => {
    const { pid } = await lockElsewhere();
    write({ host: 'elsewhere', pid: process.pid, started: '', space: spaceOf('self') });
    expect(await failure()).to.contain(`process ${process.pid} of elsewhere`);
    write({ host: 'elsewhere', pid, started: '', space: spaceOf('self') }, 31);
    await createFileLock(path).acquire();
  });

  it('is not a pipe that blocks', async function () {
    execFileSync('mkfifo', [`${path}.lock`]);
    const error = await createFileLock(path)
      .acquire()
      .catch((reason: Error) => reason);
    expect((error as Error).message).to.equal('is a named pipe');
  });

  it('of another machine is taken over when it is no longer renewed', async () => {
    write({ host: 'elsewhere', pid: 1, started: '' });
    expect(await failure()).to.equal('it is in use by process 1 of elsewhere: use another --state-dir');
    write({ host: 'elsewhere', pid: 1, started: '' }, 31);
    await createFileLock(path).acquire();
  });

  for (const [what, text] of [
    ['is empty', ''],
    ['is not JSON', '{"host":'],
    ['names no process', '{"host":"a","pid":"x","started":""}'],
    ['names a group of processes', '{"host":"a","pid":-1,"started":""}'],
    ['names the group of the reader', '{"host":"a","pid":0,"started":""}'],
    ['names a part of a process', '{"host":"a","pid":1.5,"started":""}'],
    ['names no host', '{"host":1,"pid":1,"started":""}'],
    ['does not say since when', '{"host":"a","pid":1}'],
    ['is no object', 'null'],
  ] as const)
    it(`that ${what} counts while it is recent`, async () => {
      write(text);
      expect(await failure()).to.equal('it is in use by another process: use another --state-dir');
      write(text, 31);
      await createFileLock(path).acquire();
    });

  it('is acquired by one of several processes that take it over at the same time', async () => {
    write({ host: hostname(), pid: 2 ** 22 + 1, started: '1', space: spaceOf('self') });
    const script = `process.on('message', () => {}); import(${JSON.stringify(MODULE)}).then(({ createFileLock }) =>
      createFileLock(${JSON.stringify(path)}).acquire().then(() => 'locked', (error) => error.message || 'failed').then((text) => process.send(text)))`;
    const children = Array.from({ length: 4 }, () =>
      spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] }),
    );
    const results = await Promise.all(children.map(async (child) => String((await once(child, 'message'))[0])));
    for (const child of children) child.kill('SIGKILL');
    expect(results.filter((text) => text === 'locked')).to.have.length(1);
  });
});
