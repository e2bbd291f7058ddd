import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createReadStream, openSync, readFileSync, readSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { createLineSink, type LineSink, type LineSinkOptions } from '../../src/observe/line-sink.ts';
import { until } from '../../../../test/parts/until.ts';

const SOURCE = new URL('../../src/observe/line-sink.ts', import.meta.url).href;

describe('line sink', () => {
  let directory: string;
  let path: string;
  const sinks: LineSink[] = [];

  function open(file: string, options?: LineSinkOptions): LineSink {
    const sink = createLineSink(file, options);
    sinks.push(sink);
    return sink;
  }

  function openPipe(options?: LineSinkOptions): LineSink {
    execFileSync('mkfifo', [path]);
    return open(path, { stalledMs: 100, ...options });
  }

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'line-sink-'));
    path = join(directory, 'log');
  });

  afterEach(async () => {
    await Promise.all(sinks.splice(0).map((sink) => sink.close()));
    await rm(directory, { recursive: true });
  });

  it('writes lines of any length in their order', async () => {
    const sink = open(path);
    const lines = Array.from({ length: 5_000 }, (_, i) => `${i} ${'ä'.repeat(i % 700)}\n`);
    lines[7] = `${'x'.repeat(200_000)}\n`;
    for (const line of lines) sink.write(line);
    expect(sink.queued).to.be.greaterThan(200_000);
    await sink.close();
    expect(sink.queued).to.equal(0);
    expect(await readFile(path, 'utf8')).to.equal(lines.join(''));
  });

  it('writes chunks of characters with one to four bytes', async () => {
    const sink = open(path);
    const lines = Array.from({ length: 4_000 }, (_, i) => `${i} ${['a', 'ä', '€', '😀'][i % 4]!.repeat(60)}\n`);
    for (const line of lines) sink.write(line);
    await sink.close();
    expect(await readFile(path, 'utf8')).to.equal(lines.join(''));
  });

  it('flushes lines without further writes', async () => {
    open(path).write('a\n');
    await until(async () => (await readFile(path, 'utf8').catch(() => '')) === 'a\n');
  });

  it('keeps lines during write errors, and writes them afterwards', async () => {
    const failures: string[] = [];
    const sink = open(join(directory, 'later', 'log'), { onFailure: (reason) => failures.push(reason) });
    sink.write('1\n');
    await until(() => failures.length === 1);
    sink.write('2\n');
    await mkdir(join(directory, 'later'));
    await until(async () => (await readFile(join(directory, 'later', 'log'), 'utf8').catch(() => '')) === '1\n2\n');
    expect(failures).to.have.length(1);
    expect(failures[0]).to.contain('ENOENT');
  });

  it('drops lines beyond the queue and counts them', async () => {
    const dropped = { value: 0 };
    const reports: number[] = [];
    const sink = open(path, { maxQueue: 100, dropped, onDropped: (lines) => reports.push(lines) });
    for (let i = 0; i < 25; i++) sink.write(`line ${String(i).padStart(4)}\n`);
    await sink.close();
    expect((await readFile(path, 'utf8')).split('\n')).to.have.length(11);
    expect(dropped.value).to.equal(15);
    expect(reports).to.deep.equal([15]);
  });

  it('counts the lines that it drops on close', async () => {
    const dropped = { value: 0 };
    const sink = open(join(directory, 'missing', 'log'), { dropped });
    for (let i = 0; i < 30_000; i++) sink.write(`line ${i}\n`);
    await sink.close();
    expect(dropped.value).to.equal(30_000);
  });

  it('continues in a new file after the old one was renamed', async () => {
    const sink = open(path);
    sink.write('1\n');
    await until(async () => (await readFile(path, 'utf8').catch(() => '')) === '1\n');
    await rename(path, `${path}.1`);
    await until(async () => {
      sink.write('2\n');
      return (await readFile(path, 'utf8').catch(() => '')).startsWith('2\n');
    });
  });

  it('waits for a slow reader of a pipe and loses nothing', async () => {
    const sink = openPipe({ stalledMs: 5_000 });
    const reader = createReadStream(path, { highWaterMark: 16_384 });
    let text = '';
    reader.on('data', (chunk) => {
      text += String(chunk);
      reader.pause();
      setTimeout(() => reader.resume(), 2);
    });
    sink.write('first\n');
    await until(() => text !== '');
    const lines = Array.from({ length: 4_000 }, (_, i) => `${i} ${'x'.repeat(i % 900)}\n`);
    for (const line of lines) sink.write(line);
    await sink.close();
    await once(reader, 'end');
    expect(text).to.equal(`first\n${lines.join('')}`);
  });

  it('writes whole lines to a shared pipe', async () => {
    const sink = openPipe();
    const ours = Array.from({ length: 3_000 }, (_, i) => `ours ${i} ${(i % 2 ? 'x' : '\u00fc').repeat(i % 300)}`);
    const reader = createReadStream(path, 'utf8');
    let text = '';
    reader.on('data', (chunk) => {
      text += String(chunk);
      reader.pause();
      setTimeout(() => reader.resume(), 1);
    });
    sink.write('first\n');
    await until(() => text !== '');
    const other = spawn('sh', ['-c', 'for i in $(seq 3000); do echo theirs; done > "$0"', path]);
    for (const line of ours) sink.write(`${line}\n`);
    await Promise.all([sink.close(), once(other, 'close')]);
    await once(reader, 'end');
    const lines = text.split('\n').filter((line) => line !== 'theirs' && line !== '');
    expect(lines).to.deep.equal(['first', ...ours]);
  });

  it('does not wait for a pipe without a reader', async () => {
    const dropped = { value: 0 };
    const sink = openPipe({ dropped });
    sink.write('a\n');
    await sink.close();
    expect(dropped.value).to.equal(1);
  });

  it('reports a stalled reader, and drops its lines on close', async () => {
    const dropped = { value: 0 };
    const sink = openPipe({ dropped });
    const reader = openSync(path, 'r+');
    for (let i = 0; i < 20_000; i++) sink.write(`line ${i}\n`);
    expect(sink.stalled).to.equal(false);
    await until(() => sink.stalled);
    await sink.close();
    const read = readSync(reader, Buffer.alloc(1024 * 1024));
    expect(read).to.be.greaterThan(0);
    expect(dropped.value).to.be.greaterThan(1_000);
  });

  describe('at process exit', () => {
    const LINES = 30_000;

    async function run(ending: string, read: boolean): Promise<{ code: number | null; text: string; errors: string }> {
      const script = `
        import { createLineSink } from ${JSON.stringify(SOURCE)};
        const sink = createLineSink(process.argv[1]);
        for (let i = 0; i < ${LINES}; i++) sink.write('line ' + i + '\\n');
        ${ending}`;
      const child = spawn(process.execPath, ['--input-type=module', '-e', script, '/dev/stdout'], {
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      let text = '';
      let errors = '';
      child.stderr.on('data', (chunk) => (errors += chunk));
      if (read) child.stdout.on('data', (chunk) => (text += chunk));
      const [code] = (await once(child, read ? 'close' : 'exit')) as [number | null];
      child.stdout.destroy();
      return { code, text, errors };
    }

    const all = Array.from({ length: LINES }, (_, i) => `line ${i}\n`).join('');
    for (const [how, ending, code] of [
      ['by itself', '', 0],
      ['at once', 'process.exit(3);', 3],
      ['in the middle of a write', 'setTimeout(() => process.exit(3), 12);', 3],
      ['by an error that nobody catches', 'setTimeout(() => { throw new Error("crash"); }, 5);', 1],
      ['by a rejection that nobody handles', 'await Promise.reject(new Error("crash"));', 1],
    ] as const) {
      it(`loses no line when the process ends ${how}`, async () => {
        const ended = await run(ending, true);
        expect(ended.code, ended.errors).to.equal(code);
        expect(ended.text).to.equal(all);
      });
    }

    it('writes no line twice when the process ends before a thread has reported its write', () => {
      const script = `
        import fs from 'node:fs';
        import { syncBuiltinESMExports } from 'node:module';
        const { write } = fs;
        fs.write = (...args) => write(...args.slice(0, -1), () => process.exit(3));
        syncBuiltinESMExports();
        const { createLineSink } = await import(${JSON.stringify(SOURCE)});
        const sink = createLineSink(${JSON.stringify(path)});
        sink.write('first\\n');
        setTimeout(() => {}, 60_000);
      `;
      const { status, stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', script]);
      expect(status, stderr.toString()).to.equal(3);
      expect(readFileSync(path, 'utf8')).to.equal('first\n');
    });

    it('exits although the output is not read', async () => {
      const { code } = await run('setTimeout(() => process.exit(3), 50);', false);
      expect(code).to.equal(3);
    });
  });
});
