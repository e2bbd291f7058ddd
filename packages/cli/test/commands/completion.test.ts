import { spawnSync } from 'node:child_process';
import { expect } from 'chai';
import { call } from '../support/captured-io.ts';

async function complete(line: string): Promise<string[]> {
  const { stdout: script } = await call(['completion', 'bash']);
  const words = line.split(' ');
  const test = `${script}
COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')})
COMP_CWORD=${words.length - 1}
_gatewayctl
printf '%s\\n' "\${COMPREPLY[@]}"`;
  const done = spawnSync('bash', ['-eu', '-c', test], { encoding: 'utf8' });
  expect(done.stderr).to.equal('');
  return done.stdout.trim().split('\n');
}

describe('completion', () => {
  it('completes commands, subcommands behind aliases, and flags in bash', async () => {
    expect(await complete('gatewayctl ch')).to.deep.equal(['check']);
    expect(await complete('gatewayctl g virtuals')).to.deep.equal(['virtualservice']);
    expect(await complete('gatewayctl get vs r')).to.deep.equal(['route']);
    expect(await complete('gatewayctl get upstream --out')).to.deep.equal(['--output']);
    expect(await complete('gatewayctl check --serv')).to.deep.equal(['--server']);
    expect(await complete('gatewayctl completion ')).to.include.members(['bash', 'zsh']);
  });

  it('prints a script for zsh that names every command', async () => {
    const { code, stdout } = await call(['completion', 'zsh']);
    expect(code).to.equal(0);
    expect(stdout).to.match(/^#compdef gatewayctl\n/);
    for (const name of ['check', 'get', 'proxy', 'version']) expect(stdout).to.contain(` ${name}") path_="${name}"`);
  });

  it('asks which shell', async () => {
    expect(await call(['completion'])).to.include({ code: 1, stderr: 'Error: please provide a subcommand\n' });
    expect(await call(['completion', 'fish'])).to.include({ code: 2 });
  });
});
