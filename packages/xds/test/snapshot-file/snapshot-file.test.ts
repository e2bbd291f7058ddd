import { hash } from 'node:crypto';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createMetrics, silentLoggers } from '@edge-gateway/core';
import { expect } from 'chai';
import { createSnapshotWriter, readSnapshotFile, readSnapshotKey } from '../../src/index.ts';
import { createStateDecoder, createStateEncoder } from '../../src/resources/index.ts';
import { until } from '../planes.ts';
import { transfer } from '../resources/round-trip.ts';
import { secret, service, startStates, upstream } from '../states.ts';

describe('a snapshot file', () => {
  let dir: string;
  let path: string;
  let states: Awaited<ReturnType<typeof startStates>>;
  const metrics = createMetrics();
  const log = silentLoggers.get('main');
  beforeEach(async () => {
    dir = mkdtempSync(join(tmpdir(), 'snapshot-'));
    path = join(dir, 'state', 'proxy.snapshot');
    states = await startStates({ a: service('a', 'one'), up: upstream('up', 1), s: secret('s', 'a secret value') });
  });
  afterEach(async () => {
    rmSync(dir, { recursive: true });
    await states.close();
  });
  const key = (text: string) => {
    const file = join(dir, 'key');
    writeFileSync(file, text);
    return readSnapshotKey(file);
  };
  const KEY = 'k'.repeat(32);

  function accepted() {
    const decoder = createStateDecoder();
    transfer(createStateEncoder().encode(states.current()), decoder);
    decoder.build();
    decoder.accept();
    return { acceptedAt: 1234, resources: decoder.resources() };
  }
  async function save(with_?: Uint8Array): Promise<void> {
    const writer = createSnapshotWriter({ path, key: with_, log, metrics });
    writer.write(accepted);
    await writer.close();
  }
  const restored = (with_?: Uint8Array) => {
    const saved = readSnapshotFile(path, with_)!;
    const decoder = createStateDecoder();
    for (const resource of saved.resources) decoder.restore(resource);
    return { saved, decoder, state: decoder.build() };
  };

  it('restores the state without its secrets', async () => {
    await save();
    const { saved, state, decoder } = restored();
    expect(saved).to.include({ acceptedAt: 1234, secrets: 'omitted' });
    expect(state.snapshot).to.deep.equal(states.snapshot());
    expect(decoder.secrets.get({ name: 's', namespace: 'gw-system' })).to.equal(undefined);
    expect(readFileSync(path, 'utf8')).to.not.contain(Buffer.from('a secret value').toString('base64'));
  });

  it('restores the secrets with the key that sealed them', async () => {
    await save(key(KEY));
    expect(readFileSync(path, 'utf8')).to.not.contain(Buffer.from('a secret value').toString('base64'));
    const { saved, decoder } = restored(key(KEY));
    expect(saved.secrets).to.equal('included');
    expect(decoder.isComplete).to.equal(true);
    expect(decoder.secrets.get({ name: 's', namespace: 'gw-system' })!.data).to.have.property('a');
    expect(restored().saved.secrets).to.equal('locked');
  });

  it('is rejected if the key does not authenticate it', async () => {
    await save(key(KEY));
    const text = readFileSync(path, 'utf8');
    const [head, content] = text.split('\n') as [string, string];
    const other = content.replace('1234', '1235');
    writeFileSync(
      path,
      `${head.replace(hash('sha256', `${content}\n`, 'hex'), hash('sha256', `${other}\n`, 'hex'))}\n${other}\n`,
    );
    expect(readSnapshotFile(path)!.acceptedAt).to.equal(1235);
    expect(() => restored(key(KEY))).to.throw('was changed, is damaged, or was written with another key');
    writeFileSync(path, text);
    expect(restored(key(KEY)).saved.acceptedAt).to.equal(1234);
    expect(() => restored(key('another key'.repeat(4)))).to.throw('was written with another key');
    await save();
    expect(() => restored(key(KEY))).to.throw('was written without a key, so that it cannot be authenticated');
  });

  it('is rejected if other users can write it', async () => {
    await save();
    chmodSync(path, 0o644);
    expect(readSnapshotFile(path)!.acceptedAt).to.equal(1234);
    chmodSync(path, 0o660);
    expect(() => readSnapshotFile(path)).to.throw(
      'can be written by other users (mode 0660): remove it, or set its mode to 0600',
    );
  });

  it('can be read only by its owner, and leaves no temporary file behind', async () => {
    await save();
    await save();
    expect(statSync(path).mode & 0o777).to.equal(0o600);
    expect(readdirSync(join(dir, 'state'))).to.deep.equal(['proxy.snapshot']);
  });

  it('is not written through a link in place of its temporary file', async () => {
    await save();
    const other = join(dir, 'other');
    writeFileSync(other, 'kept');
    symlinkSync(other, `${path}.${process.pid}.tmp`);
    await save();
    expect(readFileSync(other, 'utf8')).to.equal('kept');
    expect(restored().saved.resources).to.not.deep.equal([]);
    expect(readdirSync(join(dir, 'state'))).to.deep.equal(['proxy.snapshot']);
  });

  it('contains the newest of several states', async () => {
    const writer = createSnapshotWriter({ path, log, metrics });
    for (let i = 0; i < 5; i++) writer.write(() => ({ ...accepted(), acceptedAt: i }));
    await writer.close();
    expect(readSnapshotFile(path)!.acceptedAt).to.equal(4);
  });

  it('counts writes that fail, and keeps the file before', async () => {
    await save();
    rmSync(path);
    mkdirSync(path);
    await save();
    const failures = metrics.list().find(({ name }) => name.path.endsWith('write_failures'))!;
    expect((failures.stat as { value: number }).value).to.equal(1);
    expect(readdirSync(join(dir, 'state'))).to.deep.equal(['proxy.snapshot']);
  });

  it('is retried with backoff and one log entry if its directory cannot be created, and does not delay the close', async () => {
    const errors: string[] = [];
    const failing = createMetrics();
    const writer = createSnapshotWriter({
      path: '/proc/missing/state/proxy.snapshot',
      log: { ...log, error: (_fields: unknown, text: string) => void errors.push(text) } as typeof log,
      metrics: failing,
      intervalMs: 20,
    });
    const { stat } = failing.list().find(({ name }) => name.path.endsWith('write_failures'))!;
    const count = () => (stat as { value: number }).value;
    const start = performance.now();
    writer.write(accepted);
    await until(() => count() >= 3, 'three failures');
    // The first attempt is after 20 ms; the delays of the others are 20, 40, 80 ms and so on; a timer can fire 1 ms early.
    const attempts = count();
    expect(20 * 2 ** (attempts - 1)).to.be.at.most(performance.now() - start + attempts);
    await writer.close();
    expect(errors).to.deep.equal(['failed to write snapshot file']);
  });

  it('creates missing parents of its directory', async () => {
    path = join(dir, 'one', 'two', 'three', 'proxy.snapshot');
    await save();
    expect(readSnapshotFile(path)!.acceptedAt).to.equal(1234);
    expect(statSync(join(dir, 'one')).mode & 0o777).to.equal(0o700);
  });

  it('is not needed', () => {
    expect(readSnapshotFile(path)).to.equal(undefined);
  });

  it('is rejected if any bit is flipped', async () => {
    await save(key(KEY));
    const bytes = readFileSync(path);
    const step = Math.max(1, Math.floor(bytes.length / 400));
    for (let i = 0; i < bytes.length; i += i < 100 ? 1 : step) {
      const damaged = Buffer.from(bytes);
      damaged[i]! ^= 1 << (i % 8);
      writeFileSync(path, damaged);
      expect(() => readSnapshotFile(path, key(KEY)), `byte ${i}`).to.throw(/is damaged|newer version|earlier version/);
    }
  });

  it('is rejected if it is truncated at any position', async () => {
    await save();
    const bytes = readFileSync(path);
    for (const length of [0, 1, 20, 60, 95, 96, 97, 200, bytes.length - 2, bytes.length - 1]) {
      writeFileSync(path, bytes.subarray(0, length));
      expect(() => readSnapshotFile(path), `${length} bytes`).to.throw('is damaged');
    }
  });

  it('is rejected if a newer version wrote it', async () => {
    await save();
    writeFileSync(path, readFileSync(path, 'utf8').replace('snapshot 2 ', 'snapshot 3 '));
    expect(() => readSnapshotFile(path))
      .to.throw(`snapshot file ${path}: was written by a newer version of the gateway (format 3, this version reads 2)`)
      .with.property('code', 'ERR_XDS_SNAPSHOT_FILE');
    writeFileSync(path, readFileSync(path, 'utf8').replace('snapshot 3 ', 'snapshot 1 '));
    expect(() => readSnapshotFile(path)).to.throw('was written by an earlier version of the gateway (format 1');
  });

  it('is rejected if it is a directory or cannot be read', () => {
    mkdirSync(path, { recursive: true });
    expect(() => readSnapshotFile(path)).to.throw('is a directory');
  });

  it('has a key of at least 32 bytes', () => {
    expect(() => key('short')).to.throw('a key must have at least 32 bytes');
    expect(() => readSnapshotKey(join(dir, 'none'))).to.throw('does not exist');
  });
});
