import { expect } from 'chai';
import { protect, type Handler } from '@edge-gateway/core';
import { greeter, openSocket, type Opened } from '../../../../test/parts/web-socket.ts';
import { oidc, type OidcOptions } from '../../src/index.ts';
import { createBrowser } from '../parts/browser.ts';
import { startWorld, type World } from '../parts/world.ts';

describe('WebSockets with a login', () => {
  let world: World;
  let destination: ReturnType<typeof greeter>;
  let login: Handler;
  beforeEach(async () => {
    world = await startWorld();
    destination = greeter();
  });
  afterEach(async () => {
    await login.close?.();
    await world.close();
  });

  function serve(more: Partial<OidcOptions> = {}, onRefusal: 'respond' | 'next' = 'respond'): void {
    login = oidc({ ...world.options(more), onRefusal });
    const chain = protect(login, destination);
    world.site.use(chain);
    world.site.onUpgrade(chain.upgrade);
  }
  const open = (cookie?: string): Promise<Opened> =>
    openSocket(`${world.site.url}/chat`, { 'x-email': 'forged', ...(cookie !== undefined && { cookie }) });

  const kinds: Record<string, Partial<OidcOptions>> = {
    'sessions in a store': {},
    'sessions in cookies': { session: { cookieOptions: { notSecure: true } } },
  };
  for (const [kind, more] of Object.entries(kinds)) {
    for (const onRefusal of ['respond', 'next'] as const) {
      it(`rejects upgrades without a valid session, and accepts them after a login: ${kind}, ${onRefusal}`, async () => {
        serve(more, onRefusal);
        const refused = await open();
        expect(refused.status).to.equal(401);
        expect('body' in refused && refused.body).to.match(/ERR_OIDC_LOGIN_REQUIRED/);
        for (const cookie of ['__session=x', 'id_token=x; access_token=y', 'id_token=e30.e30.e30']) {
          expect((await open(cookie)).status, cookie).to.equal(401);
        }
        expect(destination.count()).to.equal(0);

        const browser = createBrowser();
        await browser.visit(`${world.site.url}/page`);
        const cookies = [...browser.jar.values()].map(({ name, value }) => `${name}=${value}`).join('; ');
        const opened = await open(cookies);
        expect(opened.status).to.equal(101);
        const { greeting } = opened as Extract<Opened, { status: 101 }>;
        expect(greeting.headers).to.include({ 'x-email': 'admin@example.com' });
        expect(greeting.identity).to.deep.include({ provider: world.idp.issuer });
        expect(greeting.identity!.claims).to.include({ email: 'admin@example.com' });
        expect(greeting.identity!.subject).to.be.a('string');
      });
    }
  }
});
