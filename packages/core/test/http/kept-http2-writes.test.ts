import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect } from 'chai';

const PROGRAM = fileURLToPath(new URL('stalled-upload.ts', import.meta.url));

const run = (...args: string[]) =>
  promisify(execFile)(process.execPath, ['--expose-gc', '--conditions=source', PROGRAM, ...args]);

describe('data of cancelled HTTP/2 streams', () => {
  it('is kept while its connection may still be sending it', async () => {
    expect((await run('keep')).stdout).to.equal('kept\n');
  });

  it('is freed otherwise; if this test fails, the workaround is obsolete', async () => {
    expect((await run()).stdout).to.equal('freed\n');
  });
});
