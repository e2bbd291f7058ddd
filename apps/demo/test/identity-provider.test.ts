import { createHash, randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { startIdentityProvider, type Service } from '../src/index.ts';

const APP = 'https://app.example';
const CLIENT = {
  clientId: 'demo',
  clientSecret: 'a-secret-of-the-test',
  redirectUris: [`${APP}/callback`],
  postLogoutRedirectUris: [`${APP}/goodbye`],
};

/** A browser in its smallest form: cookies of one host, no redirects followed. */
class Browser {
  readonly #cookies = new Map<string, string>();

  async open(
    url: string,
    form?: Record<string, string>,
    headers: Record<string, string> = {},
  ): Promise<{ status: number; location: string; text: string }> {
    const response = await fetch(url, {
      redirect: 'manual',
      headers: { ...headers, cookie: [...this.#cookies].map((pair) => pair.join('=')).join('; ') },
      ...(form && { method: 'POST', body: new URLSearchParams(form) }),
    });
    for (const line of response.headers.getSetCookie()) {
      const [name, value] = line.split(';', 1)[0]!.split('=') as [string, string];
      if (value === '') this.#cookies.delete(name);
      else this.#cookies.set(name, value);
    }
    const location = response.headers.get('location') ?? '';
    return { status: response.status, location: location && new URL(location, url).href, text: await response.text() };
  }
}

describe('the identity provider', () => {
  let service: Service;
  let issuer: string;
  const told: string[] = [];
  const listener = createServer((req, res) => {
    req.on('data', (chunk) => told.push(String(chunk)));
    req.on('end', () => res.end());
  });
  before(async () => {
    await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
    const backchannelLogoutUri = `http://127.0.0.1:${(listener.address() as AddressInfo).port}/backchannel`;
    service = await startIdentityProvider({ client: { ...CLIENT, backchannelLogoutUri } });
    issuer = `http://127.0.0.1:${service.port}`;
  });
  after(async () => {
    await service.close();
    listener.close();
  });

  const verifier = randomBytes(32).toString('base64url');
  const authorizeUrl = (): string =>
    `${issuer}/auth?${new URLSearchParams({
      response_type: 'code',
      client_id: 'demo',
      redirect_uri: `${APP}/callback`,
      scope: 'openid email profile groups',
      state: 'the-state',
      nonce: 'the-nonce',
      code_challenge: createHash('sha256').update(verifier).digest('base64url'),
      code_challenge_method: 'S256',
    })}`;

  async function logIn(browser: Browser, email = 'admin@example.com', password = 'admin', url = authorizeUrl()) {
    const { location } = await browser.open(url);
    const answer = await browser.open(location, { email, password });
    return answer.location.includes('/auth/') ? browser.open(answer.location) : answer;
  }

  async function tokens(grant: Record<string, string>): Promise<{ status: number; body: any }> {
    const credentials = Buffer.from(`${CLIENT.clientId}:${CLIENT.clientSecret}`).toString('base64');
    const response = await fetch(`${issuer}/token`, {
      method: 'POST',
      headers: { authorization: `Basic ${credentials}` },
      body: new URLSearchParams(grant),
    });
    return { status: response.status, body: await response.json() };
  }

  const codeOf = (location: string): string => new URL(location).searchParams.get('code')!;
  const exchange = (code: string) =>
    tokens({ grant_type: 'authorization_code', code, redirect_uri: `${APP}/callback`, code_verifier: verifier });

  it('is its own issuer', async () => {
    const metadata = (await (await fetch(`${issuer}/.well-known/openid-configuration`)).json()) as Record<
      string,
      unknown
    >;
    expect(metadata).to.include({ issuer, end_session_endpoint: `${issuer}/session/end`, jwks_uri: `${issuer}/jwks` });
    const { keys } = (await (await fetch(`${issuer}/jwks`)).json()) as { keys: Record<string, unknown>[] };
    expect(keys[0]).to.include({ kty: 'RSA', alg: 'RS256' });
    expect(keys[0]).to.not.have.property('d');
  });

  it('shows a form with the users, and accepts the correct password', async () => {
    const browser = new Browser();
    const form = await browser.open((await browser.open(authorizeUrl())).location);
    expect(form.text).to.contain('admin@example.com').and.to.contain('user@example.com');
    const { location } = await logIn(browser);
    expect(location).to.match(/^https:\/\/app\.example\/callback\?code=.+&state=the-state/);
    const { body } = await exchange(codeOf(location));
    const claims = JSON.parse(Buffer.from(body.id_token.split('.')[1], 'base64url').toString()) as object;
    expect(claims).to.include({
      iss: issuer,
      aud: 'demo',
      email: 'admin@example.com',
      name: 'Ada Admin',
      nonce: 'the-nonce',
    });
  });

  it('shows the form again for a wrong password, and reveals nothing about an unknown interaction', async () => {
    const answer = await logIn(new Browser(), 'admin@example.com', 'user');
    expect(answer.status).to.equal(200);
    expect(answer.text).to.contain('Wrong e-mail or password');
    const unknown = await new Browser().open(`${issuer}/interaction/abcdef`);
    expect(unknown.status).to.equal(400);
    expect(unknown.text)
      .to.contain('This login is over')
      .and.to.contain('<style>')
      .and.to.contain(`<a href="${APP}/account">`);
    expect((await new Browser().open(`${issuer}/interaction/ghijkl`)).text).to.equal(unknown.text);
  });

  it('rejects a redirect to another URL', async () => {
    const elsewhere = authorizeUrl().replace('app.example', 'evil.example');
    const { status, location } = await new Browser().open(elsewhere);
    expect([status, location]).to.deep.equal([400, '']);
  });

  it('rotates refresh tokens and revokes all of them on reuse', async () => {
    const { location } = await logIn(new Browser());
    const first = (await exchange(codeOf(location))).body.refresh_token as string;
    const refresh = (token: string) => tokens({ grant_type: 'refresh_token', refresh_token: token });
    const second = await refresh(first);
    expect(second.status).to.equal(200);
    expect(second.body.refresh_token).to.be.a('string').and.not.equal(first);
    expect((await refresh(first)).status).to.equal(400);
    expect((await refresh(second.body.refresh_token as string)).status).to.equal(400);
  });

  it('ends a session at the request of the client, notifies it by the back channel, and requires the password again', async () => {
    const browser = new Browser();
    const { location } = await logIn(browser);
    const { id_token: hint } = (await exchange(codeOf(location))).body as { id_token: string };
    const again = await browser.open(authorizeUrl());
    expect(again.location).to.match(/^https:\/\/app\.example\/callback\?code=/);
    const query = new URLSearchParams({ id_token_hint: hint, post_logout_redirect_uri: `${APP}/goodbye` });
    const page = await browser.open(`${issuer}/session/end?${query}`);
    expect(page.text).to.contain('End your session').and.to.contain('the next login needs no password');
    const xsrf = /name="xsrf" value="(\w+)"/.exec(page.text)![1]!;
    const done = await browser.open(`${issuer}/session/end/confirm`, { xsrf, logout: 'yes' });
    expect(done.location).to.equal(`${APP}/goodbye`);
    expect(told.join('')).to.match(/^logout_token=/);
    expect((await browser.open(authorizeUrl())).location).to.match(/\/interaction\//);
  });

  it('replaces the session when another user logs in with prompt=login', async () => {
    const browser = new Browser();
    const first = (await exchange(codeOf((await logIn(browser)).location))).body.refresh_token as string;
    const page = await logIn(browser, 'user@example.com', 'user', `${authorizeUrl()}&prompt=login`);
    const xsrf = /name="xsrf" value="([\w-]+)"/.exec(page.text)?.[1];
    expect(xsrf, page.text).to.be.a('string');
    const ended = await browser.open(`${issuer}/session/end/confirm`, { xsrf: xsrf!, logout: 'yes' });
    const { location } = await browser.open(ended.location);
    const { id_token } = (await exchange(codeOf(location))).body as { id_token: string };
    const claims = JSON.parse(Buffer.from(id_token.split('.')[1]!, 'base64url').toString()) as object;
    expect(claims).to.include({ sub: 'user@example.com' });
    expect((await tokens({ grant_type: 'refresh_token', refresh_token: first })).status).to.equal(400);
  });

  it('asks for confirmation unless the user clicked on a page of the client', async () => {
    const browser = new Browser();
    await logIn(browser);
    const query = new URLSearchParams({ client_id: 'demo', post_logout_redirect_uri: `${APP}/goodbye` });
    const pageFor = async (referer?: string): Promise<string> =>
      (await browser.open(`${issuer}/session/end?${query}`, undefined, referer === undefined ? {} : { referer })).text;
    for (const referer of [undefined, 'https://evil.example/', `https://evil.example/?${APP}/`, `${APP}.evil.example/`])
      expect(await pageFor(referer), referer)
        .to.contain('End your session')
        .and.not.contain('<script');
    expect(await pageFor(`${APP}/`))
      .to.match(/<script nonce="[^"]+">/)
      .and.not.contain('End your session');
  });
});
