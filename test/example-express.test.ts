import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer, type AddressInfo } from 'node:net';
import { expect } from 'chai';
import { createBrowser } from '../packages/oidc/test/parts/browser.ts';
import { ROOT } from './docs/workspace.ts';

const EXAMPLE = join(ROOT, 'examples', 'express-login-rbac');

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

describe('the example with Express, login and roles', () => {
  const children: ChildProcess[] = [];
  let folder: string;
  let url: string;
  let env: NodeJS.ProcessEnv;

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'example-'));
    cpSync(EXAMPLE, folder, { recursive: true });
    symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
    const [port, providerPort] = [await freePort(), await freePort()];
    url = `http://127.0.0.1:${port}`;
    env = {
      ...process.env,
      NODE_OPTIONS: '',
      PORT: String(port),
      ISSUER_URL: `http://127.0.0.1:${providerPort}`,
    };
    for (const program of ['provider', 'start']) {
      // A process group of its own: npm ends without the program that it started.
      const stdio: ['ignore', 'pipe', 'pipe'] = ['ignore', 'pipe', 'pipe'];
      const child = spawn('npm', ['run', '--silent', program], { cwd: folder, env, stdio, detached: true });
      children.push(child);
      await new Promise<void>((resolve, reject) => {
        let text = '';
        child.stderr.on('data', (chunk) => (text += chunk));
        child.stdout.on('data', (chunk) => String(chunk).startsWith('running at http://') && resolve());
        child.once('exit', (code) => reject(new Error(`${program} ended with ${code}: ${text}`)));
      });
    }
  });
  after(async () => {
    for (const child of children) {
      if (child.exitCode !== null) continue;
      const closed = once(child, 'close');
      process.kill(-child.pid!);
      await closed;
    }
    rmSync(folder, { recursive: true });
  });

  it('serves its first page without a login, and returns 401 to scripts', async () => {
    expect((await fetch(url)).status).to.equal(200);
    for (const path of ['/account', '/admin', '/other']) {
      const refused = await fetch(url + path, { headers: { 'sec-fetch-mode': 'cors', jwt: 'forged' } });
      expect(refused.status, path).to.equal(401);
    }
  });

  it('allows the admin on every listed path and denies all other paths', async () => {
    const browser = createBrowser('admin@example.com');
    const account = await browser.visit(`${url}/account`);
    expect(JSON.parse(account.body)).to.include({ email: 'admin@example.com' });
    expect(JSON.parse((await browser.visit(`${url}/admin`)).body)).to.deep.equal({ admin: 'admin@example.com' });
    expect((await browser.visit(`${url}/other`)).status).to.equal(403);
  });

  it('denies other users the administration, and logs out', async () => {
    const browser = createBrowser('user@example.com');
    expect(JSON.parse((await browser.visit(`${url}/account`)).body)).to.include({ email: 'user@example.com' });
    const { status, body } = await browser.visit(`${url}/admin`);
    expect(status).to.equal(403);
    expect(body).to.include('RBAC: access denied');
    expect((await browser.visit(`${url}/logout`)).body)
      .to.include('Do you want to sign-out')
      .and.not.include('oops');
    expect((await browser.send(`${url}/account`)).status).to.equal(302);
  });

  /** Runs both programs, which must fail at once with one line each. */
  function failures(cwd: string, environment: NodeJS.ProcessEnv): string[] {
    return ['start', 'provider'].map((script) => {
      const options = { cwd, env: environment, encoding: 'utf8', timeout: 20_000 } as const;
      const { status, stdout, stderr } = spawnSync('npm', ['run', '--silent', script], options);
      expect({ status, stdout }, `${script}: ${stderr}`).to.deep.equal({ status: 1, stdout: '' });
      return stderr.replaceAll(/^(npm|oidc-provider) warn.*\n/gim, '');
    });
  }

  it('names the required version on a Node that cannot run TypeScript', () => {
    for (const line of failures(folder, { ...process.env, NODE_OPTIONS: '--no-experimental-strip-types' }))
      expect(line).to.match(/^Node v\S+ cannot run this example: install Node 22\.18 or later[^\n]*\n$/);
  });

  it('names a missing dependency', () => {
    const bare = mkdtempSync(join(tmpdir(), 'example-bare-'));
    cpSync(EXAMPLE, bare, { recursive: true });
    for (const line of failures(bare, { ...process.env, NODE_OPTIONS: '' }))
      expect(line).to.equal(
        '@edge-gateway/core is not installed: follow the steps in README.md, which end with npm install.\n',
      );
    rmSync(bare, { recursive: true });
  });

  it('names the port that is in use', () => {
    const [start, provider] = failures(folder, env);
    expect(start).to.match(/^cannot listen on port \d+ \(.*EADDRINUSE.*\): set PORT to a free one\n$/);
    expect(provider).to.match(/^cannot listen at http:\/\/127\.0\.0\.1:\d+ \(.*EADDRINUSE.*\): set ISSUER_URL/);
  });

  it('refers to the tarballs that npm run pack writes', () => {
    const read = (file: string) => JSON.parse(readFileSync(file, 'utf8')) as Record<string, Record<string, string>>;
    for (const [name, reference] of Object.entries(read(join(EXAMPLE, 'package.json'))['dependencies']!)) {
      if (!name.startsWith('@edge-gateway/')) continue;
      const short = name.split('/')[1];
      const { version } = read(join(ROOT, 'packages', short!, 'package.json'));
      expect(reference).to.equal(`file:packages/edge-gateway-${short}-${version as unknown as string}.tgz`);
    }
  });
});
