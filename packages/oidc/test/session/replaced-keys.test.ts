import { expect } from 'chai';
import type { Context, SecretValue } from '@edge-gateway/core';
import type { OidcOptions } from '../../src/index.ts';
import { useBadWorld } from '../parts/bad-world.ts';
import { createBrowser } from '../parts/browser.ts';

const [OLD, NEW] = ['old', 'new'].map((name) => `the ${name} key of thirty-two bytes.....`.slice(0, 32)) as [
  string,
  string,
];

/** A login with these keys, the current one first. */
type WithKeys = (keys: readonly string[]) => { options: Partial<OidcOptions>; context: Partial<Context> };

const session = { cookieOptions: { notSecure: true }, cookie: { allowRefreshing: true } };

function secretOf(entries: readonly string[], keys: readonly string[]): Partial<Context> {
  const data = entries.map((entry, i) => [entry, keys[i]]).filter(([, key]) => key !== undefined);
  const encoded = data.map(([entry, key]) => [entry, Buffer.from(key!).toString('base64')]);
  const secret: SecretValue = { type: 'Opaque', data: Object.fromEntries(encoded) };
  return { secrets: { get: () => secret } };
}

const KINDS: Readonly<Record<string, WithKeys>> = {
  'the option signingKey': (keys) => ({ options: { session, signingKey: keys }, context: {} }),
  'the Secret extauth-signing-key': (keys) => ({
    options: { session },
    context: secretOf(['signing-key', 'previous-signing-key'], keys),
  }),
  'the Secret of cipherConfig': (keys) => ({
    options: { session: { ...session, cipherConfig: { keyRef: { name: 'cipher' } } }, signingKey: 'x'.repeat(32) },
    context: secretOf(['key', 'previous-key'], keys),
  }),
};

describe('a key that is replaced', () => {
  const world = useBadWorld();
  beforeEach(() => {
    world.idp.token = (answer) => ({ body: { ...answer, refresh_token: 'again' } });
  });

  for (const [name, withKeys] of Object.entries(KINDS)) {
    const protect = (...keys: string[]): void => {
      const { options, context } = withKeys(keys);
      world.protect(options, context);
    };

    it(`keeps sessions in cookies while the previous one is listed: ${name}`, async () => {
      protect(OLD);
      const browser = createBrowser();
      await world.visit(browser);
      const statusOf = async (): Promise<number> => (await browser.send(`${world.site.url}/a`)).status;
      protect(NEW, OLD);
      expect(await statusOf()).to.equal(200);
      protect(NEW);
      expect(await statusOf(), 'without the previous key').to.equal(302);
    });

    it(`writes renewed cookies with the new one: ${name}`, async () => {
      protect(OLD);
      const browser = createBrowser();
      await world.visit(browser);
      protect(NEW, OLD);
      world.shift = 599_000;
      expect((await browser.send(`${world.site.url}/a`)).status).to.equal(200);
      world.shift = 0;
      protect(NEW);
      expect((await browser.send(`${world.site.url}/a`)).status).to.equal(200);
    });
  }

  it('keeps logins in progress while the previous one is listed', async () => {
    for (const [keys, status] of [
      [[NEW, OLD], 302],
      [[NEW], 400],
    ] as const) {
      world.protect({ session, signingKey: OLD });
      const { browser, url } = await world.atCallback();
      world.protect({ session, signingKey: keys });
      expect((await browser.send(url)).status, String(keys)).to.equal(status);
    }
  });

  for (const signingKey of [[], [NEW, 'short'], ['short', NEW]])
    it(`is rejected: ${JSON.stringify(signingKey)}`, () => {
      const create = (): void => world.protect({ session, signingKey });
      expect(create).to.throw().with.property('code', 'ERR_OIDC_SECRET');
    });
});
