import type { ServerResponse } from 'node:http';
import { expect } from 'chai';
import { parseCookies } from '@edge-gateway/core';
import type { OidcOptions } from '../../src/index.ts';
import { createBrowser } from '../parts/browser.ts';
import { useBadWorld } from '../parts/bad-world.ts';

type Pair = readonly [name: string, value: string];
const plain = { cookieOptions: { notSecure: true } };
const cipher = { type: 'Opaque', data: { key: Buffer.alloc(32, 1).toString('base64') } };
const KINDS: Record<string, Partial<OidcOptions>> = {
  'in a store': { session: { ...plain, redis: {} } },
  'in cookies': { session: plain },
  'in encrypted cookies': { session: { ...plain, cipherConfig: { keyRef: { name: 'cipher' } } } },
};

/** As with a login on the parent domain, or a sibling host that sets cookies. */
describe('cookies of one name with several values', () => {
  const world = useBadWorld();
  const protect = (options: Partial<OidcOptions>): void => world.protect(options, { secrets: { get: () => cipher } });
  const login = async (sub: string): Promise<readonly Pair[]> => {
    world.idp.claims = (claims) => ({ ...claims, sub, groups: Array.from({ length: 450 }, (_, i) => `g${i}`) });
    world.idp.token = (answer) => ({ body: { ...answer, access_token: `access of ${sub}` } });
    const browser = createBrowser();
    expect((await world.visit(browser)).status).to.equal(200);
    const own = [...browser.jar.values()].filter(({ name }) => !name.startsWith('login_'));
    return own.map(({ name, value }) => [name, value]);
  };
  const send = (pairs: readonly Pair[], path = '/a'): Promise<Response> => {
    const cookie = pairs.map((pair) => pair.join('=')).join('; ');
    return createBrowser().send(world.site.url + path, { headers: { cookie } });
  };
  const statusOf = async (...pairs: readonly Pair[][]): Promise<number> => (await send(pairs.flat())).status;

  for (const [where, options] of Object.entries(KINDS)) {
    describe(`of a session ${where}`, () => {
      let mine: Pair[];
      beforeEach(async () => {
        protect(options);
        mine = [...(await login('me'))];
      });
      const strays = (): Pair[] => mine.map(([name], i) => [name, `stray-${i}`]);

      it('are searched for the one that verifies', async () => {
        expect(await statusOf(strays(), mine)).to.equal(200);
        expect(await statusOf(mine, strays())).to.equal(200);
        expect(await statusOf(strays())).to.equal(302);
      });

      it('are found behind forty others', async () => {
        const tossed = Array.from({ length: 40 }, (_, i) =>
          mine.map(([name]): Pair => [name, name.endsWith('session') ? `${i}`.padStart(43, 'x') : `s${i}`]),
        );
        expect(await statusOf(...tossed, mine)).to.equal(200);
      });

      it('never mix the sessions of two logins', async () => {
        const other = [...(await login('you'))];
        for (const [name] of mine) {
          const mixed = mine.map((pair) => (pair[0] === name ? other.find((each) => each[0] === name)! : pair));
          const allowed = where === 'in a store' ? 200 : 302;
          expect(await statusOf(mixed), name).to.equal(allowed);
        }
      });

      it('are searched for the session that has not expired', async () => {
        world.shift = 700_000;
        const later = { iat: Math.floor(Date.now() / 1000) + 700 };
        const old = mine;
        world.idp.claims = (claims) => ({ ...claims, ...later, exp: later.iat + 600 });
        const browser = createBrowser();
        expect((await world.visit(browser)).status).to.equal(200);
        const fresh = [...browser.jar.values()].map(({ name, value }): Pair => [name, value]);
        expect(await statusOf(old)).to.equal(302);
        expect(await statusOf(old, fresh)).to.equal(200);
        expect(await statusOf(fresh, old)).to.equal(200);
      });

      it('all end with a logout', async () => {
        const list = { session: { ...plain, cookie: { logoutDenyList: {} } } };
        if (where === 'in cookies') protect(list);
        if (where === 'in encrypted cookies') protect({ session: { ...list.session, ...(options.session as object) } });
        const pairs = [...(await login('me')), ...(await login('you'))];
        expect((await send(pairs, '/logout')).status).to.equal(302);
        expect(await statusOf(pairs)).to.equal(302);
      });
    });
  }

  it('of sessions in a store all end before the provider revokes a token', async () => {
    world.idp.metadata = { revocation_endpoint: `${world.idp.issuer}/revoke` };
    protect(KINDS['in a store']!);
    const [mine, other] = [await login('me'), await login('you')];
    const revoking = Promise.withResolvers<ServerResponse>();
    world.idp.intercept = (req, res) => {
      if (req.url !== '/revoke') return false;
      revoking.resolve(res);
      return true;
    };
    const logout = send([...mine, ...other], '/logout');
    const response = await revoking.promise;
    expect([await statusOf([...mine]), await statusOf([...other])]).to.deep.equal([302, 302]);
    world.idp.intercept = undefined;
    response.end();
    expect((await logout).status).to.equal(302);
  });

  for (const stray of ['refresh_token', 'access_token_2', 'id_token_4', 'token_mac']) {
    it(`do not matter if the login did not set them: ${stray}`, async () => {
      protect({ session: plain });
      const mine = [...(await login('me'))];
      expect(await statusOf([[stray, 'stray']], mine)).to.equal(200);
    });
  }

  it('of a login in progress are searched for its own', async () => {
    protect({});
    const { browser, url } = await world.atCallback();
    const own = [...browser.jar.values()].find(({ name }) => name.startsWith('login_'));
    const cookie = `${own!.name}=stray; ${own!.name}=${own!.value}`;
    const answer = await createBrowser().send(url, { headers: { cookie } });
    expect(answer.status).to.equal(302);
    expect(answer.headers.get('location')).to.equal(`${world.site.url}/a`);
  });

  it('of many logins in progress are deleted in portions', async () => {
    protect({});
    const { browser } = await world.atCallback();
    const { name = '' } = [...browser.jar.values()].find((each) => each.name.startsWith('login_')) ?? {};
    const tossed = Array.from({ length: 300 }, (_, i): Pair => [name.replace(/_[^_]*_[^_]*$/, `_${i}_x`), 'x']);
    expect((await send(tossed)).headers.getSetCookie()).to.have.length(21);
  });

  it('of the count of logins do not hide a loop', async () => {
    protect({});
    const { browser, url } = await world.atCallback();
    const answer = await browser.send(url);
    const set = answer.headers.getSetCookie().map((each) => each.split(';', 1)[0]!);
    const [name = ''] = parseCookies(set.find((each) => each.startsWith('login_rounds_'))).keys();
    const loop = await send([
      [name, 'stray'],
      [name, '2'],
      [name, '1'],
    ]);
    expect(loop.status).to.equal(403);
  });
});
