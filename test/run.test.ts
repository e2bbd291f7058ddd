import { execFile, spawn, type ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { Readable, Writable } from 'node:stream';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { startEcho, type Service } from '@edge-gateway/demo';
import { findProgram } from './parts/apt.ts';
import { skip } from './parts/skip.ts';
import { until } from './parts/until.ts';

const ROOT = join(import.meta.dirname, '..');
const run = promisify(execFile);

const toEcho = (port: number): string => `apiVersion: gw.vendor.io/v1
kind: Upstream
metadata: { name: echo }
spec: { static: { hosts: [{ addr: 127.0.0.1, port: ${port} }] } }
---
apiVersion: gateway.vendor.io/v1
kind: VirtualService
metadata: { name: echo }
spec:
  virtualHost:
    domains: ['*']
    routes:
      - matchers: [{ prefix: / }]
        routeAction: { single: { upstream: { name: echo } } }
`;

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

  for (const [argv, written] of [
    [['start', '--http-port=9000'], 'npm start -- --http-port 9000'],
    [['start', '--config', 'mine'], 'npm start -- --config <dir>'],
    [['run', 'gateway', 'proxy', '--xds=127.0.0.1:9977'], 'npm run gateway -- proxy --xds 127.0.0.1:9977'],
    [['run', 'gatewayctl', 'check', '--config', 'mine'], 'npm run gatewayctl -- check --config <dir>'],
  ] as const)
    it(`says how to pass the options that npm ${argv.join(' ')} loses`, async () => {
      const done = await run('npm', ['--prefix', ROOT, '--silent', ...argv]).catch((error) => error);
      expect(done.code).to.equal(2);
      const option = argv.find((word) => word.startsWith('--'))!.replace(/=.*/, '');
      expect(done.stderr).to.contain(
        `Error: npm kept ${option} for itself: write -- before the options, as in ${written}\n`,
      );
      expect(done.stdout).to.equal('');
    });

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
  GraphQL        http://localhost:PORT/graphql (explorer)
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

  describe('in a terminal', () => {
    let echo: Service;
    let cwd: string;
    let terminal: ChildProcessByStdio<Writable, Readable, null>;
    let printed: string;
    beforeEach(async function () {
      // That of util-linux runs a command in a terminal of its own.
      if (process.platform !== 'linux' || !findProgram('script'))
        skip(this, 'the program script of util-linux is missing');
      echo = await startEcho();
      cwd = mkdtempSync(join(tmpdir(), 'run-'));
      writeFileSync(join(cwd, 'echo.yaml'), toEcho(echo.port));
      const broken = toEcho(0).split('---\n')[1]!.replace('name: echo', 'name: broken');
      writeFileSync(
        join(cwd, 'broken.yaml'),
        broken.replace("'*'", 'broken.example').replace('name: echo', 'name: ecoh'),
      );
      const ports = ['--http-port', '0', '--https-port', '0', '--admin-port', '0', '--stats-port', '0'];
      const words = ['npm', '--prefix', ROOT, 'run', '--silent', 'start', '--', '--config', cwd, ...ports];
      terminal = spawn('script', ['-qec', `stty cols 60; ${words.map((word) => `'${word}'`).join(' ')}`, '/dev/null'], {
        stdio: ['pipe', 'pipe', 'inherit'],
        env: { ...process.env, REPOSITORY_READY: ROOT, TERM: 'dumb' },
      });
      printed = '';
      // It may end while a test still presses keys.
      terminal.stdin.on('error', () => {});
      terminal.stdout.on('data', (chunk) => (printed += chunk));
      await until(() => printed.includes('Press Ctrl-C to stop.'), 'the gateway runs');
    });
    afterEach(async () => {
      if (terminal?.exitCode === null) {
        const ended = once(terminal, 'exit');
        terminal.kill('SIGKILL');
        await ended;
      }
      await echo?.close();
      if (cwd) rmSync(cwd, { recursive: true });
    });

    /** Sends a request whose response takes some time, and resolves when it is in progress. */
    async function hold(delayMs: number): Promise<{ readonly response: Promise<Response | Error> }> {
      const [, port] = /requests +http:\/\/localhost:(\d+)/.exec(printed)!;
      const [, admin] = /proxy admin +http:\/\/localhost:(\d+)/.exec(printed)!;
      const held = fetch(`http://127.0.0.1:${port}/held?delay=${delayMs}`).catch((error: Error) => error);
      const stats = `http://127.0.0.1:${admin}/stats?filter=downstream_rq_active`;
      await until(async () => (await (await fetch(stats)).text()).includes('active: 1'), 'the request is in progress');
      return { response: held };
    }

    it('start shows the first problems with their hints, and commands that can be copied', () => {
      const text = printed.slice(printed.indexOf('The gateway is running')).replaceAll('\r', '');
      expect(text).to.match(/^ +npm run gatewayctl -- --server http:\S+ --proxy-admin http:\S+ check$/m);
      expect(text.replaceAll(/\n +/g, ' ')).to.match(
        /broken\.yaml:\d+:\d+ +VirtualService .* not found \(did you mean echo\?\)/,
      );
    });

    it('start says at Ctrl-C that it drains, and finishes the requests in progress', async () => {
      const { response } = await hold(3000);
      terminal.stdin.write('\u0003');
      await until(() => printed.includes('draining, up to 30 s; press Ctrl-C again to stop now'), 'it says so');
      expect(await response).to.include({ status: 200 });
      await until(() => terminal.exitCode !== null, 'npm ended');
    });

    it('start stops at once at the second Ctrl-C', async () => {
      const { response } = await hold(60_000);
      terminal.stdin.write('\u0003');
      await until(() => printed.includes('press Ctrl-C again'), 'it drains');
      // Programs pass Ctrl-C on to each other: within a second, it is the same one.
      await wait(1100);
      terminal.stdin.write('\u0003');
      expect(await response).to.be.instanceOf(Error);
      await until(() => terminal.exitCode !== null, 'npm ended');
    });
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
