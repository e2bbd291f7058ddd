import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect } from 'chai';

const CLIENT = fileURLToPath(new URL('flooded-client.ts', import.meta.url));

const flooded = (...args: string[]) =>
  promisify(execFile)(process.execPath, ['--expose-gc', '--conditions=source', CLIENT, ...args]);

describe('sessions of failed HTTP/2 streams', () => {
  it('are freed without ending the process, although header blocks are incomplete', async () => {
    const { stdout } = await flooded('keep');
    expect(stdout).to.match(/^Too many CONTINUATION frames/);
  });

  it('crash the process if they are not kept; if this test fails, the workaround is obsolete', async () => {
    const failure = await flooded().catch((error: Error & { readonly stderr: string }) => error.stderr);
    expect(failure).to.include('current_nghttp2_memory_');
  });
});
