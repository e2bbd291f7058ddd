import { spawnSync } from 'node:child_process';
import { expect } from 'chai';
import { OUTPUTS } from '../../src/output/formats.ts';
import { call } from '../support/captured-io.ts';

/** A gatewayctl that prints how it was called, as two resources. */
const PROGRAM = `gatewayctl() { printf 'kind/%s\\n' "called" "$(echo "$*" | tr ' ' _)"; }`;

async function complete(line: string): Promise<string[]> {
  const { stdout: script } = await call(['completion', 'bash']);
  const words = line.split(' ');
  const test = `${PROGRAM}
${script}
COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')})
COMP_CWORD=${words.length - 1}
_gatewayctl
printf '%s\\n' "\${COMPREPLY[@]}"`;
  const done = spawnSync('bash', ['--norc', '-eu', '-c', test], { encoding: 'utf8' });
  expect(done.stderr).to.equal('');
  return done.stdout.trim().split('\n');
}

describe('completion', () => {
  it('completes commands, subcommands of aliases, and flags in bash', async () => {
    expect(await complete('gatewayctl ch')).to.deep.equal(['check']);
    expect(await complete('gatewayctl g virtuals')).to.deep.equal(['virtualservice']);
    expect(await complete('gatewayctl get vs r')).to.deep.equal(['route']);
    expect(await complete('gatewayctl get upstream --out')).to.deep.equal(['--output']);
    expect(await complete('gatewayctl check --serv')).to.deep.equal(['--server']);
    expect(await complete('gatewayctl completion ')).to.include.members(['bash', 'zsh']);
  });

  it('completes the values of -o', async () => {
    expect(await complete('gatewayctl get upstream -o ')).to.deep.equal([...OUTPUTS]);
    expect(await complete('gatewayctl get vs route -o ya')).to.deep.equal(['yaml']);
    expect(await complete('gatewayctl validate --output ')).to.deep.equal(['table', 'json']);
  });

  it('completes the values of check -x', async () => {
    expect(await complete('gatewayctl check -x virtual-')).to.deep.equal(['virtual-host-options', 'virtual-services']);
    expect(await complete('gatewayctl check --exclude po')).to.deep.equal(['pods']);
    expect((await call(['completion', 'zsh'])).stdout).to.match(/-x\|--exclude\) candidates=\(.*pods/);
  });

  it('completes the names of resources, of the directory and namespace on the line', async () => {
    expect(await complete('gatewayctl get us ca')).to.deep.equal(['called']);
    expect(await complete('gatewayctl get secrets get_')).to.deep.equal(['get_secret_-o_name']);
    expect(await complete('gatewayctl get vs -c dir -n team get_')).to.deep.equal([
      'get_virtualservice_-o_name_-c_dir_-n_team',
    ]);
    expect(await complete('gatewayctl check ca')).to.deep.equal(['']);
  });

  it('prints a script for zsh that names every command', async () => {
    const { code, stdout } = await call(['completion', 'zsh']);
    expect(code).to.equal(0);
    expect(stdout).to.match(/^#compdef gatewayctl\n/);
    for (const name of ['check', 'get', 'proxy', 'version']) expect(stdout).to.contain(` ${name}") path_="${name}"`);
  });

  it('requires a shell', async () => {
    expect(await call(['completion'])).to.include({
      code: 2,
      stderr: 'Error: please provide a subcommand: bash, zsh\n',
    });
    expect(await call(['completion', 'fish'])).to.include({ code: 2 });
  });
});
