import { spawnSync } from 'node:child_process';
import { expect } from 'chai';
import { skipWithout } from '../../../../test/parts/apt.ts';
import { OUTPUTS } from '../../src/output/formats.ts';
import { call } from '../support/captured-io.ts';

/** A gatewayctl that prints how it was called, as two resources. */
const PROGRAM = `gatewayctl() { printf 'kind/%s\\n' "called" "$(echo "$*" | tr ' ' _)"; }`;

async function complete(line: string, program = PROGRAM): Promise<string[]> {
  const { stdout: script } = await call(['completion', 'bash']);
  const words = line.split(' ');
  const test = `${program}
${script}
COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')})
COMP_CWORD=${words.length - 1}
_gatewayctl
printf '%s\\n' "\${COMPREPLY[@]}"`;
  const done = spawnSync('bash', ['--norc', '-eu', '-c', test], { encoding: 'utf8' });
  expect(done.stderr).to.equal('');
  return done.stdout.trim().split('\n');
}

/** What zsh offers; the last word is the one under the cursor. */
async function completeInZsh(line: string): Promise<string[]> {
  const { stdout: script } = await call(['completion', 'zsh']);
  const words = line.split(' ');
  const test = `${PROGRAM}
compdef() { : }
compadd() { shift; print -l -- "$@" }
_files() { : }
${script}
words=(${words.map((word) => `'${word}'`).join(' ')})
CURRENT=${words.length}
_gatewayctl`;
  const done = spawnSync('zsh', ['-f', '-c', test], { encoding: 'utf8' });
  expect(done.stderr).to.equal('');
  return done.stdout
    .trim()
    .split('\n')
    .filter((word) => word.startsWith(words.at(-1)!));
}

/** What fish offers. */
async function completeInFish(line: string): Promise<string[]> {
  const { stdout: script } = await call(['completion', 'fish']);
  const program = `function gatewayctl; printf 'kind/%s\\n' called (string join -- _ $argv); end`;
  const done = spawnSync('fish', ['--no-config', '-c', `${program}\n${script}\ncomplete -C'${line}'`], {
    encoding: 'utf8',
  });
  expect(done.stderr).to.equal('');
  return done.stdout
    .trim()
    .split('\n')
    .map((each) => each.split('\t')[0]!);
}

describe('completion', () => {
  for (const [shell, completeIn] of [
    ['zsh', completeInZsh],
    ['fish', completeInFish],
  ] as const)
    it(`works in ${shell}`, async function () {
      await skipWithout(this, shell);
      expect(await completeIn('gatewayctl ch')).to.deep.equal(['check', 'check-crds']);
      expect(await completeIn('gatewayctl get vs r')).to.deep.equal(['route']);
      expect(await completeIn('gatewayctl get upstream --out')).to.deep.equal(['--output']);
      expect(await completeIn('gatewayctl get vs route -o ya')).to.deep.equal(['yaml']);
      expect(await completeIn('gatewayctl check -x po')).to.deep.equal(['pods']);
      expect(await completeIn('gatewayctl get us ca')).to.deep.equal(['called']);
      expect(await completeIn('gatewayctl add route -u ca')).to.deep.equal(['called']);
      expect(await completeIn('gatewayctl delete vs -c dir get_')).to.deep.equal(['get_virtualservice_-o_name_-c_dir']);
      expect(await completeIn('gatewayctl add route -c dir --name get_')).to.deep.equal([
        'get_virtualservice_-o_name_-c_dir',
      ]);
    });

  it('completes the names of resources that commands change', async () => {
    expect(await complete('gatewayctl delete us ca')).to.deep.equal(['called']);
    expect(await complete('gatewayctl edit upstream ca')).to.deep.equal(['called']);
    expect(await complete('gatewayctl add route -c dir --dest-name get_')).to.deep.equal([
      'get_upstream_-o_name_-c_dir',
    ]);
    expect(await complete('gatewayctl add route -x 1 --delegate-name get_')).to.deep.equal(['get_routetable_-o_name']);
    expect(await complete('gatewayctl route sort --name get_')).to.deep.equal(['get_virtualservice_-o_name']);
    expect(await complete('gatewayctl get us --name get_')).to.deep.equal(['get_upstream_-o_name']);
    expect(await complete('gatewayctl proxy dump --name ')).to.deep.equal(['']);
  });

  it('completes commands, subcommands of aliases, and flags in bash', async () => {
    expect(await complete('gatewayctl ch')).to.deep.equal(['check', 'check-crds']);
    expect(await complete('gatewayctl g virtuals')).to.deep.equal(['virtualservice']);
    expect(await complete('gatewayctl get vs r')).to.deep.equal(['route']);
    expect(await complete('gatewayctl get upstream --out')).to.deep.equal(['--output']);
    expect(await complete('gatewayctl check --serv')).to.deep.equal(['--server']);
    expect(await complete('gatewayctl completion ')).to.include.members(['bash', 'zsh', 'fish']);
  });

  it('completes the values of -o', async () => {
    expect(await complete('gatewayctl get upstream -o ')).to.deep.equal([...OUTPUTS]);
    expect(await complete('gatewayctl get vs route -o ya')).to.deep.equal(['yaml']);
    expect(await complete('gatewayctl validate --output ')).to.deep.equal(['table', 'json']);
  });

  it('completes the values of check -x', async () => {
    expect(await complete('gatewayctl check -x virtual-')).to.deep.equal(['virtual-host-options', 'virtual-services']);
    expect(await complete('gatewayctl check --exclude po')).to.deep.equal(['pods']);
    expect((await call(['completion', 'zsh'])).stdout).to.match(/-x\|--exclude\)\n.*candidates=\(.*pods/);
    expect(await complete('gatewayctl add route -x ')).to.deep.equal(['']);
  });

  it('completes the names of resources, of the directory and namespace on the line', async () => {
    expect(await complete('gatewayctl get us ca')).to.deep.equal(['called']);
    expect(await complete('gatewayctl get secrets get_')).to.deep.equal(['get_secret_-o_name']);
    expect(await complete('gatewayctl get vs -c dir -n team get_')).to.deep.equal([
      'get_virtualservice_-o_name_-c_dir_-n_team',
    ]);
    expect(await complete('gatewayctl check ca')).to.deep.equal(['']);
  });

  it('runs nothing that a server sends as a name', async () => {
    const names = ['fine-1.a', '$(echo>&2 run)', '`echo>&2 run`', 'a b', '-x', "'", '${HOME}', ''];
    const program = `gatewayctl() { printf '%s\\n' ${names.map((name) => `'kind/${name.replaceAll("'", `'"'"'`)}'`).join(' ')}; }`;
    const words = await complete('gatewayctl get us ', program);
    expect(words.filter((word) => !/^(?:-[-\w]+|route)$/.test(word))).to.deep.equal(['fine-1.a']);
  });

  it('prints a script for zsh that names every command', async () => {
    const { code, stdout } = await call(['completion', 'zsh']);
    expect(code).to.equal(0);
    expect(stdout).to.match(/^#compdef gatewayctl\n/);
    for (const name of ['check', 'get', 'proxy', 'version'])
      expect(stdout).to.match(new RegExp(`" ${name}"[^)]*\\) path_="${name}"`));
  });

  it('requires a shell', async () => {
    expect(await call(['completion'])).to.include({
      code: 2,
      stderr: 'Error: please provide a subcommand: bash, zsh, fish\n',
    });
    expect(await call(['completion', 'powershell'])).to.include({ code: 2 });
  });
});
