import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { hashSync } from 'bcryptjs';
import { expect } from 'chai';
import { createThreads, MAX_PER_CLIENT, MAX_WAITING } from '../../src/password/threads.ts';

const job = { password: 'x', hashes: [{ scheme: 'bcrypt', salt: '', hash: hashSync('x', 4) }] } as const;
const times = <T>(count: number, make: (i: number) => T): T[] => Array.from({ length: count }, (_, i) => make(i));

describe('password threads', () => {
  it('reject jobs beyond the limit, and run the rest', async () => {
    const run = createThreads();
    const results = await Promise.all(times(MAX_WAITING + 20, (i) => run(job, `client-${i}`)));
    const busy = results.filter((result) => result === 'busy').length;
    expect(busy).to.be.within(16, 19);
    expect(results.slice(0, MAX_WAITING + 1)).to.deep.equal(times(MAX_WAITING + 1, () => [true]));
    expect(await run(job, 'later')).to.deep.equal([true]);
  });

  it('reject the jobs of a client that has too many, and no others', async () => {
    const run = createThreads();
    const mine = times(MAX_PER_CLIENT + 2, () => run(job, 'a'));
    const other = run(job, 'b');
    const results = await Promise.all(mine);
    expect(results.slice(-3)).to.deep.equal([[true], 'tooMany', 'tooMany']);
    expect(await other).to.deep.equal([true]);
    expect(await run(job, 'a')).to.deep.equal([true]);
  });

  it('do a job of a new client although a few others have filled the queue', async () => {
    const run = createThreads();
    const clients = Math.ceil(MAX_WAITING / MAX_PER_CLIENT) + 1;
    const others = times(clients * MAX_PER_CLIENT, (i) => run(job, `client-${i % clients}`));
    expect(await run(job, 'new')).to.deep.equal([true]);
    const results = await Promise.all(others);
    expect(results).to.include('tooMany').and.to.deep.include([true]);
  });

  it('reject a job that has waited too long', async () => {
    let now = 0;
    const run = createThreads(() => now);
    const running = times(5, (i) => run(job, `client-${i}`));
    now = 6_000;
    const results = await Promise.all(running);
    expect(results[0]).to.deep.equal([true]);
    expect(results.at(-1)).to.equal('busy');
  });

  it('do not keep the process alive', async () => {
    const file = new URL('../../src/password/threads.ts', import.meta.url).href;
    const code = `
      import { createThreads } from ${JSON.stringify(file)};
      const alive = setInterval(() => {}, 1000);
      const result = await createThreads()(${JSON.stringify(job)}, 'a');
      console.log(String(result));
      clearInterval(alive);`;
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', code], {
      timeout: 20_000,
    });
    expect(stdout).to.equal('true\n');
  }).timeout(30_000);
});
