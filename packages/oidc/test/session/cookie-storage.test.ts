import { expect } from 'chai';
import type { OidcOptions } from '../../src/index.ts';
import { skipWithout } from '../../../../test/parts/apt.ts';
import { startRedis, type RedisServer } from '../../../../test/parts/redis.ts';
import { useBadWorld } from '../parts/bad-world.ts';
import { createBrowser, type Browser } from '../parts/browser.ts';

type Cookies = Record<string, string>;

describe('sessions in cookies', () => {
  const world = useBadWorld();
  let serial = 0;
  const plain = { cookieOptions: { notSecure: true } };
  const login = async (sub: string): Promise<Cookies> => {
    world.idp.claims = (claims) => ({ ...claims, sub });
    const browser = createBrowser();
    expect((await world.visit(browser)).status).to.equal(200);
    return cookiesOf(browser);
  };
  const cookiesOf = ({ jar }: Browser): Cookies =>
    Object.fromEntries(
      [...jar.values()].filter(({ name }) => /_token|_mac/.test(name)).map((each) => [each.name, each.value]),
    );
  const enter = async (cookies: Cookies, path = '/a'): Promise<number> => {
    const cookie = Object.entries(cookies)
      .map((pair) => pair.join('='))
      .join('; ');
    return (await createBrowser().send(world.site.url + path, { headers: { cookie } })).status;
  };
  beforeEach(() => {
    world.idp.token = (answer) => ({
      body: { ...answer, access_token: `access-${serial}`, refresh_token: `refresh-${serial++}` },
    });
  });

  describe('that are not encrypted', () => {
    beforeEach(() => world.protect({ session: { ...plain, cookie: { allowRefreshing: true } } }));

    it('are one id token, one access token, one refresh token and their MAC', async () => {
      const cookies = await login('someone');
      expect(Object.keys(cookies).sort()).to.deep.equal(['access_token', 'id_token', 'refresh_token', 'token_mac']);
      expect(cookies.id_token).to.match(/^eyJ/);
      expect(await enter(cookies)).to.equal(200);
    });

    it('cannot be made from an observed id token', async () => {
      const { id_token, token_mac, refresh_token } = (await login('someone')) as Record<string, string>;
      const forged: Cookies[] = [
        {},
        { access_token: 'x' },
        { access_token: 'x', refresh_token: 'x' },
        { token_mac: '' },
      ];
      for (const more of forged)
        expect(await enter({ id_token: id_token!, ...more }), JSON.stringify(more)).to.equal(302);
      expect(await enter({ id_token: id_token!, token_mac: token_mac! }), 'its access token is missing').to.equal(302);
      expect(await enter({ refresh_token: refresh_token!, token_mac: token_mac! })).to.equal(302);
    });

    it('are renewed after the browser removed the expired access token', async () => {
      const { access_token: _ended, ...cookies } = await login('someone');
      expect(await enter(cookies)).to.equal(200);
    });

    it('cannot be combined from two logins', async () => {
      const [one, two] = [await login('one'), await login('two')];
      for (const name of Object.keys(one)) expect(await enter({ ...one, [name]: two[name]! }), name).to.equal(302);
      expect([await enter(one), await enter(two)]).to.deep.equal([200, 200]);
    });

    it('are invalid if the MAC was changed', async () => {
      const cookies = await login('someone');
      const mac = cookies.token_mac!;
      const [first = '', id = '', access = '', refresh = '', own = ''] = mac.split('.');
      for (const changed of [
        mac.slice(0, -1),
        `${mac}.`.slice(1),
        [first, access, id, refresh, own].join('.'),
        [first, id, access, own].join('.'),
        [first, id, access, '', own].join('.'),
        ['', id, access, refresh, own].join('.'),
        [first, id, access, refresh, 'é'.repeat(own.length)].join('.'),
        '....',
      ])
        expect(await enter({ ...cookies, token_mac: changed }), changed).to.equal(302);
    });
  });

  it('that are encrypted have no MAC cookie', async () => {
    world.protect(
      { session: { ...plain, cipherConfig: { keyRef: { name: 'cipher' } } } },
      { secrets: { get: () => ({ type: 'Opaque', data: { key: Buffer.alloc(32, 1).toString('base64') } }) } },
    );
    const [one, two] = [await login('one'), await login('two')];
    expect(Object.keys(one).sort()).to.deep.equal(['access_token', 'id_token']);
    expect(await enter({ ...one, id_token: two.id_token! })).to.equal(302);
    expect(await enter(one)).to.equal(200);
  });

  describe('after a logout', () => {
    let redis: RedisServer;
    before(async function () {
      await skipWithout(this, 'redis-server');
      redis = await startRedis();
    });
    after(() => redis?.close());
    const withList = (logoutDenyList?: object): Partial<OidcOptions> => ({
      session: { ...plain, cookie: { allowRefreshing: true, ...(logoutDenyList && { logoutDenyList }) } },
    });

    it('still work as copies without a deny list', async () => {
      world.protect(withList());
      const cookies = await login('someone');
      expect(await enter(cookies, '/logout')).to.equal(302);
      expect(await enter(cookies)).to.equal(200);
    });

    it('are denied for the duration of logoutDenyList, also those from before a renewal', async () => {
      world.protect(withList({ duration: '5m' }));
      const other = await login('other');
      const before = await login('someone');
      world.shift = 599_000;
      const browser = createBrowser();
      const host = new URL(world.site.url).host;
      for (const [name, value] of Object.entries(before))
        browser.jar.set(`${host}|/|${name}`, { name, value, host, path: '/', ends: Infinity });
      await browser.send(`${world.site.url}/a`);
      const renewed = cookiesOf(browser);
      expect(renewed.access_token).to.not.equal(before.access_token);
      expect(await enter(renewed, '/logout')).to.equal(302);
      expect([await enter(renewed), await enter(before), await enter(other)]).to.deep.equal([302, 302, 200]);
    });

    it('work again after the duration of logoutDenyList', async () => {
      world.protect(withList({ duration: '5m' }));
      const cookies = await login('someone');
      expect(await enter(cookies, '/logout')).to.equal(302);
      world.shift = 299_000;
      expect(await enter(cookies)).to.equal(302);
      world.shift = 302_000;
      expect(await enter(cookies)).to.equal(200);
    });

    it('are denied at all processes that share a Redis; if it is unavailable the response is 503', async () => {
      const list = withList({ redis: { host: redis.host } });
      world.protect(list);
      const cookies = await login('someone');
      expect(await enter(cookies, '/logout')).to.equal(302);
      world.protect(list);
      expect(await enter(cookies)).to.equal(302);
      const others = await login('other');
      world.protect(withList({ redis: { host: '127.0.0.1:1' } }));
      expect(await enter(others)).to.equal(503);
      expect(await enter(others, '/logout')).to.equal(503);
    });
  });
});
