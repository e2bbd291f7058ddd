import { hashSync } from 'bcryptjs';
import { expect } from 'chai';
import type { StoredHash } from '../../src/password/hash.ts';
import { createThreads, type RunJob } from '../../src/password/threads.ts';
import { createVerifier, REMEMBERED_MS } from '../../src/password/verifier.ts';

const bcryptOf = (password: string, cost = 4): StoredHash => ({
  scheme: 'bcrypt',
  salt: '',
  hash: hashSync(password, cost),
});

describe('the verifier of passwords', () => {
  let now: number;
  let runs: number;
  beforeEach(() => {
    now = 1_000_000;
    runs = 0;
  });
  function counted() {
    const run = createThreads();
    const counting: RunJob = (job, client) => {
      runs++;
      return run(job, client);
    };
    const verify = createVerifier(() => now, counting);
    return (password: string, ...hashes: StoredHash[]) => verify({ name: 'alice', password, hashes, client: '::1' });
  }

  it('caches a correct password for a minute, and no longer', async () => {
    const verify = counted();
    const stored = bcryptOf('right');
    expect([await verify('right', stored), await verify('right', stored), runs]).to.deep.equal([true, true, 1]);
    now += REMEMBERED_MS - 1;
    expect([await verify('right', stored), runs]).to.deep.equal([true, 1]);
    now += 2;
    expect([await verify('right', stored), runs]).to.deep.equal([true, 2]);
  });

  it('forgets it when another hash is stored', async () => {
    const verify = counted();
    expect(await verify('right', bcryptOf('right'))).to.equal(true);
    expect(await verify('right', bcryptOf('other'))).to.equal(false);
    expect(runs).to.equal(2);
  });

  it('checks a wrong password each time', async () => {
    const verify = counted();
    const stored = bcryptOf('right');
    expect([await verify('wrong', stored), await verify('wrong', stored), runs]).to.deep.equal([false, false, 2]);
  });

  it('uses only the first hash', async () => {
    const verify = counted();
    expect(await verify('right', bcryptOf('other'), bcryptOf('right'))).to.equal(false);
    expect(await verify('right', bcryptOf('right'), bcryptOf('other'))).to.equal(true);
  });

  it('shares the check of the same password at the same time', async () => {
    const verify = counted();
    const stored = bcryptOf('right', 8);
    const all = await Promise.all([verify('right', stored), verify('right', stored), verify('wrong', stored)]);
    expect([all, runs]).to.deep.equal([[true, true, false], 2]);
  });

  it('treats a malformed hash as one that never matches', async () => {
    expect(await counted()('x', { scheme: 'bcrypt', salt: '', hash: '$2b$99$x' })).to.equal(false);
  });

  it('hashes in another thread', async () => {
    const verify = counted();
    await verify('warm', bcryptOf('up'));
    const stored = bcryptOf('right', 11);
    const [all, mine] = [process.cpuUsage(), process.threadCpuUsage()];
    for (let i = 0; i < 3; i++) await verify(`wrong-${i}`, stored);
    expect(process.threadCpuUsage(mine).user).to.be.lessThan(process.cpuUsage(all).user / 4);
  });
});
