import { execFileSync } from 'node:child_process';
import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { parseAllDocuments } from 'yaml';
import { answer, at, recordedAnswers, type AnsweringServer } from '../support/answering-server.ts';
import { call } from '../support/captured-io.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const LINES = [
  { level: 30, msg: 'started' },
  { level: 50, msg: 'failed' },
  { level: 'error', msg: 'named' },
  { level: 60, msg: 'fatal' },
  { level: 'info', msg: 'fine' },
].map((line) => `${JSON.stringify(line)}\n`);

describe('debug', () => {
  let server: AnsweringServer;
  let cwd: string;
  before(async () => {
    server = await answer({ ...recordedAnswers(), '/logs': `${LINES.join('')}not JSON\n` });
  });
  after(() => server.close());
  beforeEach(() => (cwd = temporaryDirectory()));
  const debug = (...argv: string[]) => call(['debug', ...argv, ...at(server)], { cwd });

  it('prints the log lines, or only those of errors', async () => {
    expect(await debug('logs')).to.deep.equal({ code: 0, stdout: `${LINES.join('')}not JSON\n`, stderr: '' });
    expect((await debug('log', '--errors-only')).stdout).to.equal(LINES.slice(1, 4).join(''));
  });

  it('prints those of a control plane that runs apart', async () => {
    const apart = await answer({ ...recordedAnswers(), '/logs': '{"level":30,"msg":"apart"}\n' });
    const argv = ['debug', 'logs', '--control-plane', '--server', apart.url, '--proxy-admin', 'http://127.0.0.1:1'];
    expect((await call(argv, { cwd })).stdout).to.equal('{"level":30,"msg":"apart"}\n');
    await call([...argv, '--zip', '-f', 'logs.tgz'], { cwd });
    const names = execFileSync('tar', ['-tzf', join(cwd, 'logs.tgz')], { encoding: 'utf8' });
    expect(names).to.equal('control-plane.log\n');
    await apart.close();
  });

  it('makes control characters visible, but not in a file', async () => {
    const hostile = await answer({ ...recordedAnswers(), '/logs': '\u001b]0;x\u0007\n' });
    const logs = (...argv: string[]) => call(['debug', 'logs', ...argv, ...at(hostile)], { cwd });
    expect((await logs()).stdout).to.equal('\\u001b]0;x\\u0007\n');
    await logs('-f', 'raw.log');
    expect(readFileSync(join(cwd, 'raw.log'), 'utf8')).to.equal('\u001b]0;x\u0007\n');
    await hostile.close();
  });

  it('writes them to a file that only its owner can read', async () => {
    expect(await debug('logs', '-f', 'all.log', '--errors-only')).to.deep.equal({
      code: 0,
      stdout: '',
      stderr: 'Wrote all.log\n',
    });
    expect(readFileSync(join(cwd, 'all.log'), 'utf8')).to.equal(LINES.slice(1, 4).join(''));
    expect(statSync(join(cwd, 'all.log')).mode & 0o777).to.equal(0o600);
  });

  it('writes an archive that tar can read', async () => {
    expect((await debug('logs', '--zip', '-f', 'logs.tgz')).code).to.equal(0);
    expect(execFileSync('tar', ['-tzf', join(cwd, 'logs.tgz')], { encoding: 'utf8' })).to.equal('gateway-proxy.log\n');
    const content = execFileSync('tar', ['-xzOf', join(cwd, 'logs.tgz')], { encoding: 'utf8' });
    expect(content).to.equal(`${LINES.join('')}not JSON\n`);
  });

  it('writes the archive into a new private folder of the temporary directory by default', async () => {
    const write = async (): Promise<string> => (await debug('logs', '--zip')).stderr.slice('Wrote '.length).trimEnd();
    const [file, other] = [await write(), await write()];
    expect(file).to.match(/\/gatewayctl-\w+\/gw-system-logs\.tgz$/);
    expect(file.startsWith(tmpdir())).to.equal(true);
    expect(other).to.not.equal(file);
    expect(statSync(file).mode & 0o777).to.equal(0o600);
    expect(statSync(dirname(file)).mode & 0o777).to.equal(0o700);
    for (const each of [file, other]) rmSync(dirname(each), { recursive: true });
  });

  it('makes an existing file private', async () => {
    for (const argv of [['logs'], ['logs', '--zip'], ['yaml']]) {
      writeFileSync(join(cwd, 'open'), '', { mode: 0o644 });
      await debug(...argv, '-f', 'open');
      expect(statSync(join(cwd, 'open')).mode & 0o777, argv.join(' ')).to.equal(0o600);
      rmSync(join(cwd, 'open'));
    }
  });

  it('prints every resource without secret values, by kind', async () => {
    const { code, stdout, stderr } = await debug('yaml');
    expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
    const kinds = parseAllDocuments(stdout).map((document) => (document.toJS() as { kind: string }).kind);
    expect(kinds).to.include.members(['VirtualService', 'Upstream', 'AuthConfig']);
    expect(kinds).to.deep.equal(kinds.toSorted((a, b) => kinds.indexOf(a) - kinds.indexOf(b)));
    expect(await debug('yaml', '-n', 'nowhere')).to.deep.equal({ code: 0, stdout: '', stderr: 'No resources here.\n' });
  });

  it('reads a directory, and writes a file', async () => {
    const demo = new URL('../../../../apps/gateway/demo', import.meta.url).pathname;
    const { code } = await call(['debug', 'yaml', '-c', demo, '-f', 'all.yaml'], { cwd });
    expect(code).to.equal(0);
    const text = readFileSync(join(cwd, 'all.yaml'), 'utf8');
    expect(text).to.contain('kind: VirtualService').and.to.contain('state: Accepted');
  });

  it('requires a subcommand, a gateway, and a directory for the file', async () => {
    expect((await call(['debug'])).stderr).to.equal('Error: please provide a subcommand: logs, yaml\n');
    expect((await call(['debug', 'logs', '--proxy-admin', 'http://127.0.0.1:1'])).stderr).to.contain('no gateway at');
    expect(await debug('logs', '-f', 'none/all.log')).to.include({
      code: 2,
      stderr: 'Error: none/all.log: no such file or directory\n',
    });
  });
});
