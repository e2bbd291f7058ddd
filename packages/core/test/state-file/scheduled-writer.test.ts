import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { fakeTime, type FakeTime } from '../../../../test/parts/fake-time.ts';
import { until } from '../../../../test/parts/until.ts';
import { createLoggers } from '../../src/index.ts';
import {
  createScheduledWriter,
  type ScheduledWriter,
  type ScheduledWriterOptions,
} from '../../src/state-file/scheduled-writer.ts';

const HOUR_MS = 3_600_000;

describe('a scheduled writer', () => {
  let directory: string;
  let written: string[];
  const opened: ScheduledWriter<string>[] = [];

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'scheduled-'));
    written = [];
  });
  afterEach(async () => {
    for (const each of opened.splice(0)) await each.close();
    rmSync(directory, { recursive: true });
  });

  function create(name: string, delays: { delayMs: number; firstDelayMs?: number }): ScheduledWriter<string> {
    const writer = createScheduledWriter<string>({
      path: join(directory, name),
      ...delays,
      retryMs: HOUR_MS,
      write: async (value) => void written.push(value),
      log: createLoggers({ destination: { write() {} } }).get('config'),
      level: 'warn',
      texts: { failed: 'failed', again: 'again' },
      failures: { value: 0 },
    });
    opened.push(writer);
    return writer;
  }

  it('writes its first value after a delay of its own, the others after the usual one', async () => {
    const late = create('late', { delayMs: 1, firstDelayMs: HOUR_MS });
    const other = create('other', { delayMs: 1 });
    late.write('late');
    for (const value of ['first', 'second']) {
      other.write(value);
      await until(() => written.includes(value));
    }
    expect(written).to.deep.equal(['first', 'second']);
    await late.close();
    expect(written.at(-1)).to.equal('late');
  });

  it('writes the newest value after a failed write, not the one that failed', async () => {
    let release!: () => void;
    const attempts: string[] = [];
    const writer = createScheduledWriter<string>({
      path: join(directory, 'failing'),
      delayMs: 1,
      retryMs: 1,
      async write(value) {
        attempts.push(value);
        if (attempts.length > 1) return;
        await new Promise<void>((resolve) => (release = resolve));
        throw new Error('the disk is full');
      },
      log: createLoggers({ destination: { write() {} } }).get('config'),
      level: 'warn',
      texts: { failed: 'failed', again: 'again' },
      failures: { value: 0 },
    });
    opened.push(writer);
    writer.write('old');
    await until(() => attempts.length === 1);
    writer.write('new');
    release();
    await until(() => attempts.length === 2);
    expect(attempts).to.deep.equal(['old', 'new']);
  });

  it('uses the delay of the first value only once', async () => {
    const early = create('early', { delayMs: HOUR_MS, firstDelayMs: 1 });
    const other = create('other', { delayMs: 1 });
    early.write('early');
    await until(() => written.includes('early'));
    early.write('later');
    for (const value of ['first', 'second']) {
      other.write(value);
      await until(() => written.includes(value));
    }
    expect(written).to.deep.equal(['early', 'first', 'second']);
    early.write('newest');
    await early.close();
    expect(written.at(-1)).to.equal('newest');
    expect(written).to.not.include('later');
  });
});

describe('a scheduled writer, over time', () => {
  let time: FakeTime;
  let directory: string;
  let path: string;
  let lines: { level: number; msg: string; reason?: string }[];
  let failures: { value: number };
  /** What each write does: undefined succeeds. */
  let results: (Error | Promise<void> | undefined)[];
  let attempts: { value: string; at: number }[];
  let writer: ScheduledWriter<string>;

  beforeEach(() => {
    time = fakeTime();
    directory = mkdtempSync(join(tmpdir(), 'scheduled-'));
    path = join(directory, 'state');
    [lines, results, attempts, failures] = [[], [], [], { value: 0 }];
  });
  afterEach(async () => {
    await writer.close();
    time.restore();
    rmSync(directory, { recursive: true });
  });

  function create(options: Partial<ScheduledWriterOptions<string>> = {}): void {
    writer = createScheduledWriter<string>({
      path,
      delayMs: 100,
      retryMs: 1000,
      async write(value) {
        attempts.push({ value, at: performance.now() });
        const result = results.shift();
        if (result instanceof Error) throw result;
        await result;
      },
      log: createLoggers({ destination: { write: (line) => void lines.push(JSON.parse(line)) } }).get('config'),
      level: 'warn',
      texts: { failed: 'failed', again: 'works again' },
      failures,
      ...options,
    });
  }
  // Times of the fake clock are sums of fractions.
  const pauses = (): number[] => attempts.slice(1).map(({ at }, i) => Math.round(at - attempts[i]!.at));
  const attempted = (count: number): Promise<void> => time.until(() => attempts.length === count);

  it('tries a failed write again, each time after twice the time, with the same value', async () => {
    create();
    const full = new Error('the disk is full');
    results = [full, full, full, undefined];
    writer.write('a');
    await attempted(4);
    expect(attempts.map(({ value }) => value)).to.deep.equal(['a', 'a', 'a', 'a']);
    for (const [i, pause] of pauses().entries()) expect(pause).to.be.at.least(1000 * 2 ** i);
    expect(failures.value).to.equal(3);
  });

  it('logs each reason once, and when a write succeeds again', async () => {
    create();
    results = [new Error('full'), new Error('full'), Object.assign(new Error('no'), { code: 'EACCES' }), undefined];
    writer.write('a');
    await attempted(4);
    await time.until(() => lines.length === 3);
    expect(lines.map(({ msg, reason }) => [msg, reason])).to.deep.equal([
      ['failed', 'full'],
      ['failed', 'EACCES'],
      ['works again', undefined],
    ]);
    results = [undefined, new Error('full')];
    writer.write('b');
    await attempted(5);
    writer.write('c');
    await time.until(() => lines.length === 4);
    expect(lines[3]).to.include({ msg: 'failed', reason: 'full' });
  });

  it('writes nothing while another process has the file, and tries again', async () => {
    const holder = { host: 'elsewhere', pid: 7, started: '' };
    writeFileSync(`${path}.lock`, JSON.stringify(holder));
    create();
    writer.write('a');
    await time.until(() => failures.value === 2);
    expect(attempts).to.deep.equal([]);
    expect(lines.map(({ reason }) => reason)).to.deep.equal([
      'it is in use by process 7 of elsewhere: use another --state-dir',
    ]);
    rmSync(`${path}.lock`);
    await attempted(1);
  });

  it('pauses after a long write, for at most ten seconds', async () => {
    create({ maxShare: 0.2 });
    for (const [durationMs, pauseMs] of [
      [1000, 4000],
      [60_000, 10_000],
    ] as const) {
      attempts.length = 0;
      const { promise, resolve } = Promise.withResolvers<void>();
      results = [promise];
      writer.write('long');
      await attempted(1);
      writer.write('next');
      await time.pass(durationMs);
      expect(attempts).to.have.length(1);
      resolve();
      await attempted(2);
      expect(pauses()[0]).to.be.within(durationMs + pauseMs, 2 * (durationMs + pauseMs));
    }
  });

  it('writes at once what is pending when it is closed, but waits for no write longer than two seconds', async () => {
    create({ delayMs: HOUR_MS });
    writer.write('pending');
    await writer.close();
    expect(attempts.map(({ value }) => value)).to.deep.equal(['pending']);

    create();
    results = [new Promise(() => {})];
    writer.write('stuck');
    const began = performance.now();
    let ended = 0;
    void writer.close().then(() => (ended = performance.now()));
    await time.until(() => ended > 0);
    expect(attempts.at(-1)!.value).to.equal('stuck');
    expect(ended - began).to.be.at.least(2000);
    create();
  });

  it('releases the file for other processes when it is closed', async () => {
    create();
    writer.write('a');
    await attempted(1);
    await writer.close();
    expect(() => writeFileSync(`${path}.lock`, hostname(), { flag: 'wx' })).not.to.throw();
    rmSync(`${path}.lock`);
  });

  it('writes nothing when it is closed without a pending value, and leaves no timer', async () => {
    create();
    await writer.close();
    expect([attempts, failures.value, existsSync(`${path}.lock`)]).to.deep.equal([[], 0, false]);
    time.restore();
    const timers = (): number => process.getActiveResourcesInfo().filter((type) => type === 'Timeout').length;
    const before = timers();
    create();
    writer.write('a');
    await writer.close();
    expect(timers()).to.equal(before);
  });

  it('writes although the lock cannot be acquired for another reason than another process', async () => {
    mkdirSync(`${path}.lock`);
    create();
    writer.write('a');
    await attempted(1);
    expect([failures.value, lines]).to.deep.equal([0, []]);
  });
});
