import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { readPreferences } from '../../src/command-line/config-file.ts';
import { answer, at } from '../support/answering-server.ts';
import { call } from '../support/captured-io.ts';

describe('the configuration file', () => {
  let home: string;
  beforeEach(() => (home = mkdtempSync(join(tmpdir(), 'cli-home-'))));
  afterEach(() => rmSync(home, { recursive: true }));
  const io = (env: Record<string, string> = { HOME: home }) => ({
    stdout: process.stdout,
    stderr: process.stderr,
    env,
    isTTY: false,
    cwd: home,
  });
  const file = () => join(home, '.gw', 'gatewayctl-config.yaml');
  const write = (text: string) => {
    readPreferences(io());
    writeFileSync(file(), text);
  };

  it('is created with the defaults by the first command', async () => {
    await call(['completion', 'bash'], { env: { HOME: home } });
    expect(readFileSync(file(), 'utf8')).to.equal('checkTimeoutSeconds: 0\nsecretClientTimeoutSeconds: 30\n');
    expect(statSync(join(home, '.gw')).mode & 0o777).to.equal(0o755);
    expect(readPreferences(io())).to.deep.equal({ checkTimeoutSeconds: 0, secretClientTimeoutSeconds: 30 });
  });

  it('may be elsewhere, incomplete, empty, or in a home directory that cannot be written', () => {
    write('checkTimeoutSeconds: 5 # short\n');
    expect(readPreferences(io()).checkTimeoutSeconds).to.equal(5);
    write('');
    expect(readPreferences(io()).secretClientTimeoutSeconds).to.equal(30);
    writeFileSync(join(home, 'mine.yaml'), 'secretClientTimeoutSeconds: 7\n');
    expect(readPreferences(io({ GATEWAYCTL_CONFIG_FILE: 'mine.yaml' })).secretClientTimeoutSeconds).to.equal(7);
    expect(readPreferences(io({})).checkTimeoutSeconds).to.equal(0);
    chmodSync(home, 0o500);
    expect(readPreferences(io({ HOME: join(home, 'none/such') })).checkTimeoutSeconds).to.equal(0);
    chmodSync(home, 0o700);
  });

  it('stops no command if the home directory or the file cannot be read', async () => {
    mkdirSync(file(), { recursive: true });
    expect((await call(['completion', 'bash'], { env: { HOME: home } })).code).to.equal(0);
    writeFileSync(join(home, 'file'), '');
    expect((await call(['completion', 'bash'], { env: { HOME: join(home, 'file') } })).code).to.equal(0);
  });

  it('is rejected if GATEWAYCTL_CONFIG_FILE names one that cannot be read', async () => {
    const { code, stdout, stderr } = await call(['completion', 'bash'], { env: { GATEWAYCTL_CONFIG_FILE: home } });
    expect({ code, stdout }).to.deep.equal({ code: 2, stdout: '' });
    expect(stderr)
      .to.match(/^Error: .+ is a directory\n?$/)
      .and.contain(home);
    const device = await call(['completion', 'bash'], { env: { GATEWAYCTL_CONFIG_FILE: '/dev/zero' } });
    expect(device).to.include({ code: 2, stderr: 'Error: /dev/zero: is a device\n' });
  });

  for (const [text, message] of [
    ['checkTimeoutSecond: 1', 'unknown key checkTimeoutSecond (did you mean "checkTimeoutSeconds"?)'],
    ['zzz: 1', 'unknown key zzz; allowed are checkTimeoutSeconds, secretClientTimeoutSeconds'],
    ['checkTimeoutSeconds: soon', 'checkTimeoutSeconds must be a number of seconds from 0 to 86400, not "soon"'],
    ['checkTimeoutSeconds: -1', 'checkTimeoutSeconds must be a number of seconds from 0 to 86400, not -1'],
    ['- a', 'the file must be an object'],
  ] as const)
    it(`is rejected with ${text}`, async () => {
      write(text);
      const { code, stdout, stderr } = await call(['completion', 'bash'], { env: { HOME: home } });
      expect({ code, stdout }).to.deep.equal({ code: 2, stdout: '' });
      expect(stderr).to.contain(`Error: ${file()}: ${message}`);
    });

  it('is rejected with a syntax error in the words of the gateway', async () => {
    write('a: b: c');
    const { code, stderr } = await call(['completion', 'bash'], { env: { HOME: home } });
    expect(code).to.equal(2);
    expect(stderr).to.equal(
      `Error: ${file()}:1:5  a second ": " in one line  (put the value in quotes, or the inner key on a line of its own)\n`,
    );
  });

  it('limits the time of check', async () => {
    write('checkTimeoutSeconds: 1\n');
    const silent = await answer({ '/snapshots/input': () => {} });
    const { code, stderr } = await call(['check', ...at(silent)], { env: { HOME: home } });
    await silent.close();
    expect({ code, stderr }).to.deep.equal({
      code: 1,
      stderr: 'Error: the check did not finish within 1 s (checkTimeoutSeconds of the configuration file)\n',
    });
  });
});
