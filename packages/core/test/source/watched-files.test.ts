import { mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { createLoggers, silentLoggers } from '../../src/observe/logger.ts';
import { createMetrics } from '../../src/observe/metrics.ts';
import { keyOf, type Resource } from '../../src/resource/resource.ts';
import type { WatchedContent } from '../../src/source/named-content.ts';
import { createWatchedFiles, type ResourceFiles } from '../../src/source/watched-files.ts';
import { fakeTime, type FakeTime } from '../../../../test/parts/fake-time.ts';

/** Milliseconds that invalid files must be unchanged before they are reported. */
const SETTLE_MS = 2000;

describe('watched files', () => {
  let dir: string;
  let path: string;
  let reads: string[];
  let watched: WatchedContent<string, string>;
  let time: FakeTime;
  const changedAt: number[] = [];
  const reported: string[] = [];
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'watched-files-'));
    path = join(dir, 'file');
    reads = [];
    changedAt.length = 0;
    reported.length = 0;
    time = fakeTime();
  });
  afterEach(() => {
    watched.close();
    time.restore();
    rmSync(dir, { recursive: true, force: true });
  });

  /** Files with any content but one that starts with `invalid`. */
  const kind: ResourceFiles<string, string> = {
    name: 'certificate',
    logger: 'secret',
    kinds: ['Upstream'],
    filesOf: () => [{ files: path, at: ['spec'] }],
    keyOf: (file) => file,
    pathsOf: (file) => [file],
    read(file) {
      const content = readFileSync(file, 'utf8');
      reads.push(content);
      if (content.startsWith('throws')) throw new Error(content);
      if (!content.startsWith('invalid')) return { content };
      return { problem: { severity: 'error', path: ['file'], message: content } };
    },
  };

  const metadata = { name: 'a', namespace: 'gw-system' };
  const KEY = keyOf('Upstream', metadata);

  /** Watches the file with this content. */
  function watch(content: string, watchedKind = kind): void {
    const origin = { file: 'memory:a', line: 1, column: 1 };
    const resource: Resource = { apiVersion: 'gw.vendor.io/v1', kind: 'Upstream', metadata, spec: {}, origin };
    watched = createWatchedFiles(watchedKind, {
      onChange: () => {
        changedAt.push(performance.now());
        if (watched.observedOf(KEY)!.problems.length > 0) reported.push(watched.observedOf(KEY)!.problems[0]!.message);
      },
      log: silentLoggers,
      metrics: createMetrics(),
    });
    writeFileSync(path, content);
    watched.follow(KEY, resource);
    reads.length = 0;
  }

  /** Watches the same file for a user that cannot apply a change. */
  function failingUser() {
    const lines: string[] = [];
    const log = createWatchedFiles(kind, {
      onChange: () => {
        throw new Error('cannot apply it');
      },
      log: createLoggers({ destination: { write: (line) => void lines.push(line) } }),
      metrics: createMetrics(),
    });
    const origin = { file: 'memory:a', line: 1, column: 1 };
    log.follow(KEY, { apiVersion: 'gw.vendor.io/v1', kind: 'Upstream', metadata, spec: {}, origin });
    return { log, lines };
  }

  it('may be invalid for a moment: a certificate and its key are replaced one after the other', async () => {
    watch('valid');
    writeFileSync(path, 'invalid: half written');
    await time.until(() => reads.includes('invalid: half written'));
    writeFileSync(path, 'valid again');
    await time.until(() => watched.get(path) === 'valid again');
    expect(reported).to.deep.equal([]);
    expect(changedAt).to.have.length(1);
  });

  it('cause no change when only their modification time changes', async () => {
    watch('valid');
    writeFileSync(join(dir, 'copy'), 'valid');
    renameSync(join(dir, 'copy'), path);
    await time.until(() => reads.length > 0);
    writeFileSync(path, 'valid again');
    await time.until(() => watched.get(path) === 'valid again');
    expect(changedAt).to.have.length(1);
    expect(watched.observedOf(KEY)!.filesRevision).to.equal(1);
  });

  it('are no longer reported when their previous content is back', async () => {
    watch('valid');
    writeFileSync(path, 'invalid: replaced');
    await time.until(() => reported.length > 0);
    writeFileSync(path, 'valid');
    await time.until(() => watched.observedOf(KEY) === undefined);
    expect(watched.get(path)).to.equal('valid');
    expect(changedAt).to.have.length(2);
  });

  it('are reported if the reader throws, and read again later', async () => {
    watch('valid');
    writeFileSync(path, 'throws an error');
    await time.until(() => reported.length > 0);
    expect(reported).to.deep.equal(['cannot be read: throws an error; the previous content stays in use']);
    writeFileSync(path, 'valid again');
    await time.until(() => watched.get(path) === 'valid again');
  });

  it('are reported if the reader throws at once', () => {
    watch('throws at once');
    expect(watched.observedOf(KEY)!.problems[0]!.message).to.equal('cannot be read: throws at once');
  });

  it('are still watched after an error of whoever uses them', async () => {
    watch('valid');
    const { log: failing, lines } = failingUser();
    writeFileSync(path, 'new');
    await time.until(() => lines.some((line) => line.includes('cannot apply it')));
    expect(lines.some((line) => line.includes('cannot check certificate files'))).to.equal(true);
    writeFileSync(path, 'newer');
    await time.until(() => failing.get(path) === 'newer');
    failing.close();
  });

  it('are reported as invalid a settling time after the last write, not the first', async () => {
    watch('valid');

    writeFileSync(path, 'invalid: first');
    const readTwice = (content: string) => reads.filter((each) => each === content).length >= 2;
    await time.until(() => readTwice('invalid: first'));
    const rewrittenAt = performance.now();
    writeFileSync(path, 'invalid: second');
    await time.until(() => changedAt.length > 0);

    expect(changedAt[0]! - rewrittenAt).to.be.at.least(SETTLE_MS);
    expect(reads).to.include('invalid: second');
    expect(watched.get(path)).to.equal('valid');
    const [problem] = watched.observedOf(KEY)!.problems;
    expect(problem!.path).to.deep.equal(['spec', 'file']);
    expect(problem!.message).to.equal('invalid: second; the previous content stays in use');
  });

  it('are read although they keep changing, after some seconds', async () => {
    watch('valid');
    for (let i = 0; i < 8; i++) {
      writeFileSync(path, `valid${' '.repeat(i)}`);
      await time.pass(500);
    }
    expect(watched.get(path)).to.match(/^valid +$/);
  });

  it('are read although they change with each read, after some seconds', async () => {
    const read = (file: string) => {
      const found = kind.read(file);
      writeFileSync(file, `${readFileSync(file, 'utf8')} `);
      return found;
    };
    watch('valid', { ...kind, read });
    await time.pass(6000);
    expect(watched.get(path)).to.match(/^valid +$/);
  });

  it('are no longer checked once they are closed, whoever still uses them', async () => {
    let looks = 0;
    const counted = { ...kind, pathsOf: (file: string) => (looks++, [file]) };
    const options = { onChange: () => watched.close(), log: silentLoggers, metrics: createMetrics() };
    watched = createWatchedFiles(counted, options);
    writeFileSync(path, 'valid');
    const origin = { file: 'memory:a', line: 1, column: 1 };
    watched.follow(KEY, { apiVersion: 'gw.vendor.io/v1', kind: 'Upstream', metadata, spec: {}, origin });
    writeFileSync(path, 'valid again');
    await time.until(() => watched.get(path) === 'valid again');
    const before = looks;
    await time.pass(5000);
    expect(looks).to.equal(before);
  });
});
