import { Writable } from 'node:stream';
import type { Command } from 'commander';
import { expect } from 'chai';
import * as publicNames from '../src/index.ts';
import { createProgram } from '../src/program.ts';
import { call } from './support/captured-io.ts';
import { expectFixture } from './support/fixtures.ts';

const io = { stdout: process.stdout, stderr: process.stderr, env: {}, isTTY: false, cwd: '/' };

function pathsOf(command: Command, path: readonly string[] = []): string[][] {
  return command.commands.flatMap((each) => [
    [...path, [each.name(), ...each.aliases()].join('|')],
    ...pathsOf(each, [...path, each.name()]),
  ]);
}

describe('program', () => {
  it('has exactly these commands and aliases', () => {
    const paths = pathsOf(createProgram(io)).map((path) => path.join(' '));
    expectFixture('commands.txt', `${paths.join('\n')}\n`);
  });

  it('returns every command a description, and prints exactly this help', async () => {
    const program = createProgram(io);
    const paths = [[], ...pathsOf(program).map((path) => path.map((words) => words.split('|')[0]!))];
    let all = '';
    for (const path of paths) {
      const { code, stdout, stderr } = await call([...path, '--help']);
      expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
      all += `### gatewayctl ${path.join(' ')}\n${stdout}\n`;
    }
    expectFixture('help.txt', all);
  });

  it('fits help into narrow terminals, examples included', async () => {
    for (const columns of [60, 80, 200]) {
      for (const path of [[], ...pathsOf(createProgram(io)).map((words) => words.map((word) => word.split('|')[0]!))]) {
        let text = '';
        const write = (chunk: unknown, _: string, done: () => void) => ((text += String(chunk)), done());
        const stdout = Object.assign(new Writable({ write }), { columns });
        await call([...path, '--help'], { isTTY: true, stdout, env: { NO_COLOR: '1' } });
        const tooWide = text.split('\n').filter((line) => line.length > columns && !line.startsWith('Usage:'));
        expect(tooWide, `gatewayctl ${path.join(' ')} in ${columns} columns`).to.deep.equal([]);
      }
    }
  });

  it('exports exactly these names', () => {
    expect(Object.keys(publicNames).sort()).to.deep.equal([
      'CLIENT_VERSION',
      'DEFAULT_PROXY_ADMIN',
      'DEFAULT_SERVER',
      'ERROR_CODES',
      'createConnection',
      'createProgram',
      'run',
    ]);
  });

  it('prints its help when called without a word, and the help of a command by help COMMAND', async () => {
    expect((await call([])).stdout).to.match(/^Usage: gatewayctl /);
    expect((await call(['help', 'check'])).stdout).to.match(/^Usage: gatewayctl check /);
  });

  it('prints its version', async () => {
    expect(await call(['--version'])).to.deep.equal({ code: 0, stdout: `${publicNames.CLIENT_VERSION}\n`, stderr: '' });
  });

  const wrong: [argv: string[], message: RegExp][] = [
    [['chekc'], /^Error: unknown command 'chekc' \(did you mean "check"\?\)\n$/],
    [['zzzzzzzz'], /^Error: unknown command 'zzzzzzzz'\n$/],
    [['help', 'chekc'], /^Error: .+\n$/],
    [['check', '--exlude', 'pods'], /^Error: unknown option '--exlude' \(did you mean --exclude\?\)\n$/],
    [['--bogus'], /^Error: unknown option '--bogus'\n$/],
    [['check', '--server'], /^Error: option '--server <url>' argument missing\n$/],
    [['check', 'extra'], /^Error: too many arguments.+\n$/],
    [['check', '--server', 'not a url'], /^Error: --server must be an address .+\n$/],
    [['proxy', 'dump', '--proxy-admin', 'ftp://x'], /^Error: --proxy-admin must be an address .+\n$/],
    [['get', 'vs', '-o'], /^Error: option .+ argument missing\n$/],
  ];
  for (const [argv, message] of wrong) {
    it(`rejects ${argv.join(' ')} in one line with exit status 2`, async () => {
      const { code, stdout, stderr } = await call(argv);
      expect({ code, stdout }).to.deep.equal({ code: 2, stdout: '' });
      expect(stderr).to.match(message);
    });
  }

  it('reads the addresses from the environment; flags take precedence', async () => {
    const env = { GATEWAYCTL_SERVER: 'http://127.0.0.1:2', GATEWAYCTL_PROXY_ADMIN: 'http://127.0.0.1:3' };
    expect((await call(['get', 'vs'], { env })).stderr).to.contain('http://127.0.0.1:2');
    expect((await call(['proxy', 'stats'], { env })).stderr).to.contain('http://127.0.0.1:3');
    expect((await call(['get', 'vs', '--server', 'http://127.0.0.1:4'], { env })).stderr).to.contain(':4 ');
  });

  it('colours only on a terminal without NO_COLOR', async () => {
    const colours = '\u001b[';
    expect((await call(['chekc'], { isTTY: true })).stderr).to.contain(colours);
    expect((await call(['chekc'], { isTTY: true, env: { NO_COLOR: '1' } })).stderr).to.not.contain(colours);
    expect((await call(['chekc'], { isTTY: true, env: { TERM: 'dumb' } })).stderr).to.not.contain(colours);
    expect((await call(['--help'], { isTTY: true })).stdout).to.contain(colours);
    expect((await call(['--help'])).stdout).to.not.contain(colours);
  });
});
