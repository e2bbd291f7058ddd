import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { until } from '../../../../test/parts/until.ts';
import { createLoggers } from '../../src/index.ts';
import { createScheduledWriter, type ScheduledWriter } from '../../src/state-file/scheduled-writer.ts';

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
