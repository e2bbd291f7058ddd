import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';

const ROOT = join(import.meta.dirname, '..');
const run = promisify(execFile);

describe('npm run', () => {
  it('resolves paths against the directory of the caller, and writes no colors to a pipe in CI', async () => {
    const cwd = mkdtempSync(join(tmpdir(), 'run-'));
    try {
      writeFileSync(join(cwd, 'a.yaml'), 'kind: Upstrem\nmetadata: { name: a }\n');
      const argv = ['--prefix', ROOT, 'run', '--silent', 'gatewayctl', '--', 'validate', '.'];
      const { code, stdout } = await run('npm', argv, { cwd, env: { ...process.env, CI: 'true' } }).catch(
        (error) => error,
      );
      expect(stdout).to.match(/^a\.yaml:1:7  Upstrem /);
      expect(code).to.equal(1);
    } finally {
      rmSync(cwd, { recursive: true });
    }
  });

  for (const [argv, code, text] of [
    [['--bogus'], 2, "Error: unknown option '--bogus' (see --help)\n"],
    [['--config'], 2, "Error: option '--config <dir>' argument missing\n"],
    [['--http-port', 'many'], 2, /^Error: option '--http-port <port>'.*a port must be between 0 and 65535/],
    [['proxy'], 2, /^Error: required option '--xds/],
    [['control-plane'], 2, /^Error: required option '--config/],
    [['--help'], 0, /^Usage: edge-gateway \[role\] \[options\]\n/],
    [['--version'], 0, /^\d+\.\d+\.\d+\n$/],
  ] as const) {
    it(`start ${argv.join(' ')} starts nothing and exits with ${code}`, async () => {
      const words = ['--prefix', ROOT, 'run', '--silent', 'start', '--', ...argv];
      const done = await run('npm', words).catch((error) => error);
      expect(done.code ?? 0).to.equal(code);
      const printed = done.stdout + done.stderr;
      if (typeof text === 'string') expect(printed).to.equal(text);
      else expect(printed).to.match(text);
      expect(printed).not.to.contain('Demo backends');
    });
  }

  it('start lists the listeners, those that are not served with the reason, and where the problems are listed', async () => {
    const cwd = mkdtempSync(join(tmpdir(), 'run-'));
    const service = (name: string, tls: string): string => `apiVersion: gateway.vendor.io/v1
kind: VirtualService
metadata: { name: ${name}, namespace: gw-system }
spec: { ${tls}virtualHost: { domains: ['*'], routes: [{ matchers: [{ prefix: / }], directResponseAction: { status: 200 } }] } }
`;
    const secure = service('shop', 'sslConfig: { secretRef: { name: shop-tls, namespace: gw-system } }, ');
    writeFileSync(join(cwd, 'a.yaml'), `${service('plain', '')}---\n${secure}`);
    const ports = ['--http-port', '0', '--https-port', '0', '--admin-port', '0', '--stats-port', '0'];
    const child = spawn(process.execPath, [join(ROOT, 'scripts/start.mjs'), '--config', cwd, ...ports]);
    try {
      let printed = '';
      child.stdout.resume();
      for await (const chunk of child.stderr) {
        printed += String(chunk);
        if (printed.includes('Press Ctrl-C')) break;
      }
      const banner = /^The gateway[^]*?\n\n/m.exec(printed)![0];
      expect(banner.replaceAll(/(localhost:|::-)\d+/g, '$1PORT')).to
        .equal(`The gateway is running, but some listeners are not served.
  requests       http://localhost:PORT
  not served     listener-::-PORT-gateway-proxy-ssl
                 SSL secret not found: no secret gw-system.shop-tls
                 see VirtualService gw-system/shop
  problems       1, listed by:
                 npm run gatewayctl -- --server http://localhost:PORT --proxy-admin http://localhost:PORT check
  proxy admin    http://localhost:PORT
  control plane  http://localhost:PORT (status page)

`);
    } finally {
      const ended = once(child, 'exit');
      child.kill('SIGTERM');
      await ended;
      rmSync(cwd, { recursive: true });
    }
  });

  it('start runs the planes as separate processes, without the demo', async () => {
    const cwd = mkdtempSync(join(tmpdir(), 'run-'));
    const started: ReturnType<typeof spawn>[] = [];
    /** Resolves with the log until this program is ready. */
    const startRole = async (...argv: string[]): Promise<string> => {
      const child = spawn(process.execPath, [join(ROOT, 'scripts/start.mjs'), ...argv]);
      started.push(child);
      child.stdout.resume();
      let printed = '';
      for await (const chunk of child.stderr.iterator({ destroyOnReturn: false })) {
        printed += String(chunk);
        if (printed.includes('"msg":"ready"')) return printed;
      }
      throw new Error(`ended before it was ready:\n${printed}`);
    };
    try {
      const service = `apiVersion: gateway.vendor.io/v1
kind: VirtualService
metadata: { name: a, namespace: gw-system }
spec: { virtualHost: { domains: ['*'], routes: [{ matchers: [{ prefix: / }], directResponseAction: { status: 200 } }] } }
`;
      writeFileSync(join(cwd, 'a.yaml'), service);
      const ports = ['--xds-port', '0', '--http-port', '0', '--https-port', '0', '--stats-port', '0'];
      const log = await startRole('control-plane', '--config', cwd, '--dev-admin-port', '0', ...ports);
      const [, xdsPort] = /"xdsPort":(\d+)/.exec(log)!;
      const own = ['--admin-port', '0', '--bind-address', '127.0.0.1', '--snapshot-file', 'none'];
      const proxy = await startRole('proxy', '--xds', `127.0.0.1:${xdsPort}`, ...own);
      expect(proxy).to.match(/"listeners":\[\{/);
      for (const child of started.toReversed()) {
        child.stderr!.resume();
        const ended = once(child, 'exit');
        child.kill('SIGTERM');
        expect(await ended).to.deep.equal([0, null]);
      }
    } finally {
      for (const child of started) child.kill('SIGKILL');
      rmSync(cwd, { recursive: true });
    }
  });

  for (const signal of ['SIGTERM', 'SIGHUP', 'SIGKILL'] as const)
    it(`start ends the gateway when npm receives ${signal}`, async () => {
      const cwd = mkdtempSync(join(tmpdir(), 'run-'));
      const ports = ['--http-port', '0', '--https-port', '0', '--admin-port', '0', '--stats-port', '0'];
      const argv = ['--prefix', ROOT, 'run', '--silent', 'start', '--', '--config', cwd, ...ports];
      const npm = spawn('npm', argv, { env: { ...process.env, REPOSITORY_READY: ROOT }, detached: true });
      try {
        npm.stdout.resume();
        for await (const chunk of npm.stderr.iterator({ destroyOnReturn: false }))
          if (String(chunk).includes('Press Ctrl-C')) break;
        npm.stderr.resume();
        // Every process that npm started has its output open.
        const ended = once(npm, 'close');
        npm.kill(signal);
        await ended;
      } finally {
        rmSync(cwd, { recursive: true });
      }
    });

  it('start does not end with what started npm, also if the script replaces the shell of npm', async () => {
    const parts = join(ROOT, 'scripts/parent.mjs');
    const print = `import(${JSON.stringify(parts)}).then(({ startedShell }) => console.log(process.ppid, startedShell(process.ppid)))`;
    const script = `"${process.execPath}" -e '${print}'`;
    // A shell that has more to do is not replaced.
    for (const [command, isShell] of [
      [`exec ${script}`, false],
      [`${script}; exit 0`, true],
    ] as const) {
      const child = execFile('sh', ['-c', command]);
      let printed = '';
      for await (const chunk of child.stdout!) printed += chunk;
      const expected = isShell ? `${child.pid} ${process.pid}` : `${process.pid} undefined`;
      expect(printed.trim()).to.equal(expected);
    }
  });
});
