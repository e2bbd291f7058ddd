import { closeSync, mkdtempSync, openSync, renameSync, rmSync, unlinkSync, writeFileSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { createPending, type Pending } from '../../src/source/pending.ts';
import { readUnit } from '../../src/source/read-unit.ts';

const DEBOUNCE_MS = 20;
const FIRST = 'kind: Upstream\nmetadata: { name: a }\n---\n';
const SECOND = 'kind: Upstream\nmetadata: { name: b }\n';

describe('a changed file', () => {
  let directory: string;
  let path: string;
  let pending: Pending;
  let reads: number;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'pending-'));
    path = join(directory, 'a.yaml');
    reads = 0;
    pending = createPending(DEBOUNCE_MS, async (file) => {
      reads++;
      return readUnit(file, 1_000_000);
    });
  });
  afterEach(() => rmSync(directory, { recursive: true }));

  /** How many documents are handed over at a time; `undefined` when the file is still waited for. */
  const settledAt = async (now: number): Promise<number | undefined> =>
    (await pending.settled(now)).get(path)?.written.length;

  it('is delivered once it is stable', async () => {
    writeFileSync(path, FIRST + SECOND);
    pending.touch(path, 0);
    expect(await settledAt(DEBOUNCE_MS - 1)).to.equal(undefined);
    expect(await settledAt(DEBOUNCE_MS)).to.equal(2);
    expect(pending.size).to.equal(0);
  });

  it('is not delivered while it is still being written, also after a move', async () => {
    const writer = openSync(`${path}.tmp`, 'w');
    try {
      writeSync(writer, FIRST);
      renameSync(`${path}.tmp`, path);
      pending.touch(path, 0);
      // No watcher tells of this.
      writeSync(writer, SECOND);
      expect(await settledAt(DEBOUNCE_MS)).to.equal(undefined);
      expect(reads).to.equal(0);
      expect(await settledAt(2 * DEBOUNCE_MS)).to.equal(2);
    } finally {
      closeSync(writer);
    }
  });

  it('is read again when writing continues', async () => {
    writeFileSync(path, `${FIRST}kind: [`);
    pending.touch(path, 0);
    expect(await settledAt(DEBOUNCE_MS)).to.equal(undefined);
    writeFileSync(path, FIRST + SECOND);
    expect(await settledAt(2 * DEBOUNCE_MS)).to.equal(undefined);
    expect(await settledAt(3 * DEBOUNCE_MS)).to.equal(2);
    expect(reads).to.equal(2);
  });

  it('is delivered broken if it stays broken, after one read', async () => {
    writeFileSync(path, 'kind: [');
    pending.touch(path, 0);
    for (const now of [20, 100, 299]) expect(await settledAt(now)).to.equal(undefined);
    expect(await settledAt(300)).to.equal(1);
    expect(reads).to.equal(1);
  });

  it('is read after a time limit even if it never becomes stable', async () => {
    pending.touch(path, 0);
    for (let now = 0; now < 400; now += 10) {
      writeFileSync(path, FIRST + SECOND + '#'.repeat(now));
      pending.touch(path, now);
      expect(await settledAt(now)).to.equal(undefined);
    }
    expect(await settledAt(400)).to.equal(2);
  });

  it('is removed when it is moved away', async () => {
    writeFileSync(path, FIRST);
    pending.touch(path, 0);
    unlinkSync(path);
    expect(await settledAt(DEBOUNCE_MS)).to.equal(undefined);
    expect(await settledAt(2 * DEBOUNCE_MS)).to.equal(0);
  });

  it('is read again if it changes while it is read', async () => {
    const [began, reading] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const contents: string[] = [];
    pending = createPending(DEBOUNCE_MS, async (file) => {
      const written = await readUnit(file, 1_000_000);
      began.resolve();
      if (contents.push(written[0]!.issues.length === 0 ? 'valid' : 'broken') === 1) await reading.promise;
      return written;
    });
    writeFileSync(path, FIRST);
    pending.touch(path, 0);
    const first = pending.settled(DEBOUNCE_MS);
    await began.promise;
    writeFileSync(path, FIRST + SECOND);
    pending.touch(path, DEBOUNCE_MS);
    reading.resolve();
    expect((await first).size).to.equal(0);
    expect(pending.size).to.equal(1);
    expect(await settledAt(2 * DEBOUNCE_MS)).to.equal(2);
  });
});
