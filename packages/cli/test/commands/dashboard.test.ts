import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { until } from '../../../../test/parts/until.ts';
import { answer, at, recordedAnswers, type AnsweringServer } from '../support/answering-server.ts';
import { call } from '../support/captured-io.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

describe('dashboard', () => {
  let server: AnsweringServer;
  let cwd: string;
  before(async () => {
    server = await answer({ ...recordedAnswers(), '/version': { version: '0.0.0' } });
    cwd = temporaryDirectory();
  });
  after(async () => {
    await server.close();
  });

  it('prints the URL of the status page', async () => {
    const expected = { code: 0, stdout: `${server.url}/\n`, stderr: '' };
    expect(await call(['dashboard', ...at(server)])).to.deep.equal(expected);
    expect(await call(['ui', '--no-browser', ...at(server)], { isTTY: true, env: { NO_COLOR: '1' } })).to.deep.equal(
      expected,
    );
  });

  it('opens it in the browser on a terminal', async () => {
    const browser = join(cwd, 'browser.sh');
    const opened = join(cwd, 'opened');
    writeFileSync(browser, `#!/bin/sh\necho "$1" > "${opened}.tmp" && mv "${opened}.tmp" "${opened}"\n`);
    chmodSync(browser, 0o755);
    const env = { BROWSER: browser, PATH: process.env['PATH']! };
    expect((await call(['dashboard', ...at(server)], { isTTY: true, env })).code).to.equal(0);
    await until(() => existsSync(opened));
    expect(readFileSync(opened, 'utf8')).to.equal(`${server.url}/\n`);
  });

  it('fails if no gateway responds', async () => {
    const { code, stderr } = await call(['dashboard', '--server', 'http://127.0.0.1:1']);
    expect(code).to.equal(1);
    expect(stderr).to.match(/^Error: no gateway at http:\/\/127\.0\.0\.1:1 /);
  });
});
