import { spawn } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createServer as createHttpServer, type Server } from 'node:http';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { expect } from 'chai';

const SCRIPTS = new URL('../scripts/', import.meta.url);

describe('the installation of dependencies', () => {
  let dir: string;
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'setup-'));
    for (const folder of ['scripts', 'packages', 'apps', 'node_modules', 'bin']) mkdirSync(join(dir, folder));
    for (const name of ['setup.mjs', 'progress.mjs']) copyFileSync(new URL(name, SCRIPTS), join(dir, 'scripts', name));
    writeFileSync(join(dir, 'package.json'), '{}');
    writeFileSync(join(dir, 'pnpm-lock.yaml'), 'lockfileVersion: 9');
  });
  afterEach(() => rmSync(dir, { recursive: true, force: true }));

  interface Run {
    readonly code: number | null;
    readonly output: string;
  }
  /** Runs the script; `spoken` resolves with its output so far when it matches. */
  function setup(
    scope: string,
    env: Record<string, string>,
  ): { done: Promise<Run>; spoken(text: string): Promise<Run> } {
    const child = spawn(process.execPath, [join(dir, 'scripts', 'setup.mjs'), scope], {
      env: { ...process.env, npm_config_cache: join(dir, 'cache'), ...env },
      detached: true,
    });
    let output = '';
    const done = new Promise<Run>((resolve) => child.on('close', (code) => resolve({ code, output })));
    const spoken = (text: string): Promise<Run> =>
      new Promise((resolve) => {
        const look = (): void => {
          if (!output.includes(text)) return;
          process.kill(-child.pid!, 'SIGKILL');
          resolve({ code: null, output });
        };
        for (const stream of [child.stdout, child.stderr]) stream.on('data', look);
      });
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk));
    return { done, spoken };
  }
  let registry: Server;
  before((done) => void (registry = createHttpServer((_req, res) => res.end()).listen(0, '127.0.0.1', done)));
  after(() => registry.close());

  /** Puts a program named `npx` first in the path, which notes its arguments and ends with this code. */
  function recorder(code: number): { env: Record<string, string>; calls(): string[] } {
    const file = join(dir, 'calls');
    const report = [
      { level: 'debug', name: 'pnpm:progress', status: 'imported' },
      { level: 'error', code: 'ERR_PNPM_X', message: 'no such package' },
    ].map((line) => `echo '${JSON.stringify(line)}' >&2\n`);
    writeFileSync(
      join(dir, 'bin', 'npx'),
      `#!/bin/sh\necho "$@" >> ${file}\necho from the installer\n${report.join('')}exit ${code}\n`,
    );
    chmodSync(join(dir, 'bin', 'npx'), 0o755);
    const calls = () => (existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : []);
    const npm_config_registry = `http://127.0.0.1:${(registry.address() as AddressInfo).port}/`;
    return { env: { npm_config_registry, PATH: `${join(dir, 'bin')}${delimiter}${process.env['PATH']}` }, calls };
  }

  it('reports within 5 s that the registry refuses connections, and what to do', async () => {
    const began = performance.now();
    const { code, output } = await setup('run', { npm_config_registry: 'http://127.0.0.1:1/' }).done;
    expect(performance.now() - began).to.be.below(5000);
    expect(code).to.equal(1);
    expect(output).to.include('The npm registry http://127.0.0.1:1/ cannot be reached (ECONNREFUSED).');
    expect(output).to.include('npm config set registry').and.to.include('Failed to install the dependencies');
    expect(existsSync(join(dir, 'node_modules', '.setup'))).to.equal(false);
  });

  it('reports within 6 s that the registry does not respond', async () => {
    const silent = createServer(() => {}).listen(0, '127.0.0.1');
    await new Promise((resolve) => silent.once('listening', resolve));
    const registry = `http://127.0.0.1:${(silent.address() as AddressInfo).port}/`;
    const began = performance.now();
    await setup('run', { npm_config_registry: registry }).spoken(`The npm registry ${registry} has not responded`);
    expect(performance.now() - began).to.be.below(6000);
    silent.close();
  });

  it('installs only the runtime dependencies for running, then the rest once, and nothing twice', async () => {
    const { env, calls } = recorder(0);
    expect((await setup('run', env).done).output)
      .to.include('dependencies to run')
      .and.not.to.include('installer');
    expect(calls()).to.have.length(1);
    expect(calls()[0])
      .to.include('install --frozen-lockfile')
      .and.to.match(/--prod$/);
    expect((await setup('run', env).done).output).to.equal('');
    await setup('all', env).done;
    expect(calls()).to.have.length(2);
    expect(calls()[1]).not.to.include('--prod');
    for (const scope of ['all', 'run']) expect((await setup(scope, env).done).output).to.equal('');
  });

  it('installs again when the lockfile changes, and keeps what testing needs', async () => {
    const { env, calls } = recorder(0);
    await setup('all', env).done;
    writeFileSync(join(dir, 'pnpm-lock.yaml'), 'lockfileVersion: 9.1');
    await setup('run', env).done;
    expect(calls()).to.have.length(2);
    expect(calls()[1]).not.to.include('--prod');
  });

  it('shows what the installer printed when it fails, and installs again the next time', async () => {
    const { env, calls } = recorder(3);
    for (const _ of [1, 2]) {
      const { code, output } = await setup('run', env).done;
      expect(code).to.equal(3);
      expect(output)
        .to.include('from the installer')
        .and.include('ERR_PNPM_X no such package\n')
        .and.not.include('pnpm:progress');
    }
    expect(calls()).to.have.length(2);
  });
});
