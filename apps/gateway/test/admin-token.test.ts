import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { GATEWAYCTL } from '../../../test/parts/programs.ts';
import { GatewayProcess } from './gateway-process.ts';

const TOKEN = 'MARKER-0123456789abcdef';
const RESOURCES = `
apiVersion: gateway.vendor.io/v1
kind: VirtualService
metadata: { name: hello }
spec:
  virtualHost:
    domains: [hello.example]
    routes: [{ matchers: [{ prefix: / }], directResponseAction: { status: 200, body: hello } }]
`;

describe('the token of the admin ports', () => {
  const gateway = new GatewayProcess();
  const tokenFile = join(gateway.dir, 'admin-token');
  const gatewayctl = async (args: readonly string[], env: Record<string, string> = {}) => {
    const all = [...GATEWAYCTL, ...args, '--server', gateway.stats, '--proxy-admin', gateway.admin];
    return promisify(execFile)(process.execPath, all, { env: { ...process.env, ...env } }).catch(
      (error: { stdout: string; stderr: string }) => error,
    );
  };
  before(async () => {
    gateway.write('resources.yaml', RESOURCES);
    writeFileSync(tokenFile, `${TOKEN}\n`);
    await gateway.start('--admin-address', '0.0.0.0', '--admin-token-file', tokenFile);
  });
  after(() => gateway.close());

  for (const role of ['all', 'extauth', 'rate-limit'])
    for (const address of ['0.0.0.0', '::'])
      it(`is required by ${role} on ${address}`, async () => {
        const other = new GatewayProcess();
        const error = await other.startRole(role, '--admin-address', address).then(
          () => undefined,
          (thrown: Error) => thrown.message,
        );
        await other.close();
        expect(error).to.contain(`The gateway cannot start: --admin-address ${address} is not loopback`);
        expect(error).to.contain('Set --admin-token-file FILE');
      });

  it('must be usable', async () => {
    const other = new GatewayProcess();
    const file = join(gateway.dir, 'short-token');
    writeFileSync(file, 'MARKER-short');
    const error = await other.start('--admin-token-file', file).catch((thrown: Error) => thrown.message);
    await other.close();
    expect(error).to.contain(`--admin-token-file: token file ${file}: the token must have at least 16 characters.`);
    expect(error).to.not.contain('MARKER');
  });

  it('protects both ports', async () => {
    const headers = { authorization: `Bearer ${TOKEN}` };
    for (const url of [`${gateway.admin}/stats`, `${gateway.stats}/metrics`, `${gateway.stats}/`]) {
      expect((await fetch(url)).status).to.equal(401);
      expect((await fetch(url, { headers })).status).to.equal(200);
    }
    expect(await (await fetch(`${gateway.admin}/ready`)).text()).to.equal('LIVE\n');
  });

  it('is sent by gatewayctl', async () => {
    const explained = await gatewayctl(['explain', 'GET', 'http://hello.example/', '--admin-token-file', tokenFile]);
    expect(explained.stdout).to.contain('respond with 200');
    const { stdout } = await gatewayctl(['get', 'virtualservices'], { GATEWAYCTL_ADMIN_TOKEN_FILE: tokenFile });
    expect(stdout).to.contain('hello');
    expect((await gatewayctl(['get', 'virtualservices'])).stderr).to.contain('give its token with --admin-token-file');
    const missing = await gatewayctl(['get', 'virtualservices', '--admin-token-file', `${tokenFile}-none`]);
    expect(missing.stderr).to.contain('no such file');
  });

  it('explains on the page what gatewayctl explains', async () => {
    const { stdout } = await gatewayctl(['explain', 'GET', 'http://hello.example/x', '--admin-token-file', tokenFile]);
    const headers = { authorization: `Bearer ${TOKEN}` };
    for (const base of [gateway.admin, gateway.stats]) {
      const body = new URLSearchParams({ method: 'GET', url: 'http://hello.example/x' });
      const page = await (await fetch(`${base}/status/explain`, { method: 'POST', headers, body })).text();
      const shown = /<pre class="explanation"[^>]*>(.*)\n<\/pre>/s.exec(page)![1]!;
      const text = shown
        .replaceAll(/<[^>]*>/g, '')
        .replaceAll(/&#(\d+);/g, (_all, code: string) => String.fromCharCode(Number(code)));
      expect(text).to.equal(stdout.trimEnd());
    }
  });

  it('is never logged', () => expect(gateway.errors + gateway.output).to.not.contain('MARKER'));
});
