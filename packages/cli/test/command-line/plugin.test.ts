import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { call } from '../support/captured-io.ts';

describe('plugins', () => {
  let directory: string;
  before(() => {
    directory = mkdtempSync(join(tmpdir(), 'cli-plugins-'));
    writeFileSync(join(directory, 'gatewayctl-hello'), '#!/bin/sh\necho "hello $*"\necho more >&2\nexit 7\n');
    chmodSync(join(directory, 'gatewayctl-hello'), 0o755);
    writeFileSync(join(directory, 'gatewayctl-check'), '#!/bin/sh\necho mine\n');
    chmodSync(join(directory, 'gatewayctl-check'), 0o755);
    writeFileSync(join(directory, 'gatewayctl-plain'), 'not executable');
    mkdirSync(join(directory, 'gatewayctl-folder'));
    writeFileSync(join(directory, 'gatewayctl-broken'), '#!/does/not/exist\n');
    chmodSync(join(directory, 'gatewayctl-broken'), 0o755);
  });
  after(() => rmSync(directory, { recursive: true }));
  const run = (...argv: string[]) => call(argv, { env: { PATH: `/usr/bin:/bin:${directory}` } });

  it('runs gatewayctl-<word> for an unknown first word, and returns its exit status', async () => {
    expect(await run('hello', '--flag', 'a b')).to.deep.equal({
      code: 7,
      stdout: 'hello --flag a b\n',
      stderr: 'more\n',
    });
  });

  it('never runs a plugin for a built-in command', async () => {
    expect((await run('check', '--server', 'http://127.0.0.1:1')).stdout).to.not.contain('mine');
  });

  it('ignores files that are not executable, and names with a path', async () => {
    for (const word of ['plain', 'folder', '../../hello', 'none', '.']) {
      expect((await run(word)).stderr).to.match(/^Error: unknown command '/);
    }
  });

  it('reports a plugin that cannot be started in one line', async () => {
    const { code, stderr } = await run('broken');
    expect(code).to.equal(1);
    expect(stderr).to.match(/^Error: .*gatewayctl-broken could not be started\n$/);
  });
});
