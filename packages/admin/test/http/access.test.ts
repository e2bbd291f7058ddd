import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLoggers } from '@edge-gateway/core';
import { expect } from 'chai';
import { createDeveloperAdmin, readAdminToken } from '../../src/index.ts';
import { controlAdmin } from '../control/control-sample.ts';
import { rawRequest } from '../raw-request.ts';
import { listen, proxyAdmin, type TestPort } from '../sample.ts';

const TOKEN = 'MARKER-0123456789abcdef';
const FORM = 'application/x-www-form-urlencoded';

/** Requests a page as a browser does. */
const navigate = (port: TestPort, path: string): Promise<string> =>
  rawRequest(
    port.port,
    `GET ${path} HTTP/1.1\r\nhost: localhost\r\naccept: text/html\r\nsec-fetch-mode: navigate\r\nconnection: close\r\n\r\n`,
  );

describe('an admin port with a token', () => {
  const dir = mkdtempSync(join(tmpdir(), 'token-'));
  writeFileSync(join(dir, 'token'), TOKEN);
  const token = readAdminToken(join(dir, 'token'));
  const lines: string[] = [];
  const ports: Record<string, TestPort> = {};
  before(async () => {
    const loggers = createLoggers({ level: 'debug', destination: { write: (line) => void lines.push(line) } });
    ports['control'] = await controlAdmin({ token, loggers });
    ports['proxy'] = await proxyAdmin({ token });
    ports['developer'] = await listen(createDeveloperAdmin({ state: () => undefined, token }));
  });
  after(async () => {
    await Promise.all(Object.values(ports).map((port) => port.close()));
    rmSync(dir, { recursive: true });
  });
  const control = () => ports['control']!;
  const bearer = (text: string) => ({ headers: { authorization: text } });
  const signIn = (port: TestPort, form: Record<string, string>) =>
    port.request('/sign-in', {
      method: 'POST',
      redirect: 'manual',
      headers: { 'content-type': FORM },
      body: new URLSearchParams(form).toString(),
    });

  for (const name of ['control', 'proxy', 'developer'])
    it(`rejects every path of the ${name} port without it`, async () => {
      const requests = [
        '/',
        '/status',
        '/metrics',
        '/stats',
        '/xds',
        '/nothing',
        '/logging',
        '/status/events',
        '/graphql',
      ];
      for (const path of requests) {
        const { status, headers, text } = await ports[name]!.request(path);
        expect(status, path).to.equal(401);
        expect(headers.get('www-authenticate')).to.equal('Bearer realm="admin"');
        expect(text).to.contain('token').and.not.contain('MARKER');
      }
      expect((await ports[name]!.request('/', { ...bearer(`Bearer ${TOKEN}`) })).status).to.equal(200);
    });

  for (const path of ['/quitquitquit', '/reset_counters', '/sign-out/x', '/sign-in/x'])
    it(`rejects POST ${path} without it`, async () => {
      expect((await ports['proxy']!.request(path, { method: 'POST' })).status).to.equal(401);
    });

  for (const path of [
    '/READY',
    '/ready/',
    '/ready?x',
    '//ready',
    '/ready/../metrics',
    '/status/page.css/../../metrics',
  ])
    it(`does not take ${path} for another path that needs no token`, async () => {
      const { status, text } = await control().request(path);
      expect([401, 200], String(status)).to.contain(status);
      if (status === 200) expect(text).to.equal('LIVE\n');
    });

  it('responds to health checks without it', async () => {
    for (const name of ['control', 'proxy'])
      expect(await ports[name]!.request('/ready')).to.include({ status: 200, text: 'LIVE\n' });
  });

  for (const text of [`Basic ${TOKEN}`, 'Bearer', 'Bearer x', `Bearer ${TOKEN} x`, `Bearer ${TOKEN}x`, TOKEN])
    it(`rejects "${text.replace(TOKEN, '<token>')}"`, async () => {
      expect((await control().request('/version', bearer(text))).status).to.equal(401);
    });

  it('accepts the scheme in any case', async () => {
    expect((await control().request('/version', bearer(`bearer ${TOKEN}`))).status).to.equal(200);
  });

  it('shows browsers a form, which reveals nothing', async () => {
    const response = await navigate(control(), '/status/resources?q=%3Cscript%3E');
    expect(response).to.match(/^HTTP\/1\.1 401 /);
    expect(response.toLowerCase()).to.contain("content-security-policy: default-src 'none'; script-src 'self'");
    expect(response).to.contain('name="token"').and.contain('value="/status/resources?q=%3Cscript%3E"');
    expect(response).to.not.match(/gw-system|1\.2\.3|<script/);
  });

  it('leads from the form to the home page, not back to the form', async () => {
    expect(await navigate(control(), '/sign-in')).to.contain('name="return" value="/"');
  });

  it('signs a browser in and out', async () => {
    const { status, headers } = await signIn(control(), { token: ` ${TOKEN} `, return: '/status/resources?q=a' });
    expect([status, headers.get('location')]).to.deep.equal([303, '/status/resources?q=a']);
    const cookie = headers.get('set-cookie')!;
    expect(cookie).to.contain('HttpOnly').and.contain('SameSite=Strict').and.not.contain('MARKER');
    const session = { headers: { cookie: `other=1; ${cookie.split(';', 1)[0]}` } };
    const page = await control().request('/status/resources', session);
    expect(page.status).to.equal(200);
    expect(page.text).to.contain('action="/sign-out"');
    expect((await ports['proxy']!.request('/status', session)).status).to.equal(200);
    const out = await control().request('/sign-out', { method: 'POST', redirect: 'manual', ...session });
    expect(out.headers.get('set-cookie')).to.match(/^edge_gateway_admin=; Max-Age=0/);
  });

  it('rejects a wrong token in the form, without repeating it', async () => {
    const { status, headers, text } = await signIn(control(), { token: 'wrong-token-123456', return: '/' });
    expect([status, headers.get('set-cookie')]).to.deep.equal([401, null]);
    expect(text).to.contain('The token is wrong.').and.not.contain('wrong-token');
  });

  for (const path of [
    'https://evil.example/',
    '//evil.example',
    '/\\evil.example',
    'javascript:alert(1)',
    '/a\r\nx: y',
    '',
  ])
    it(`does not redirect to ${JSON.stringify(path)} after signing in`, async () => {
      const { headers } = await signIn(control(), { token: TOKEN, return: path });
      expect(headers.get('location')).to.equal('/');
    });

  it('rejects the form of another site', async () => {
    const { status } = await control().request('/sign-in', {
      method: 'POST',
      headers: { 'content-type': FORM, origin: 'https://evil.example' },
      body: `token=${TOKEN}`,
    });
    expect(status).to.equal(403);
  });

  it('prefers a wrong token in a header to a session', async () => {
    const { headers } = await signIn(control(), { token: TOKEN });
    const cookie = headers.get('set-cookie')!.split(';', 1)[0]!;
    expect((await control().request('/version', { headers: { cookie } })).status).to.equal(200);
    const tossed = `edge_gateway_admin=stray; ${cookie}`;
    expect((await control().request('/version', { headers: { cookie: tossed } })).status).to.equal(200);
    expect((await control().request('/version', { headers: { cookie, authorization: 'Bearer x' } })).status).to.equal(
      401,
    );
  });

  it('never logs the token', () => expect(lines.join('')).to.not.contain('MARKER'));
});
