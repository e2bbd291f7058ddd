import { expect } from 'chai';
import { createBrowser, type Browser } from '../parts/browser.ts';
import { useBadWorld } from '../parts/bad-world.ts';

const HOUR = 3600;

describe('a provider that changes', () => {
  const world = useBadWorld();
  const seconds = (): number => Math.floor(Date.now() / 1000);
  const statusOf = async (browser: Browser, path = '/a'): Promise<number> =>
    (await browser.send(`${world.site.url}${path}`)).status;
  beforeEach(() => world.protect());

  describe('clocks', () => {
    const at = (by: number, lifetime = HOUR): void => {
      world.idp.claims = (claims) => ({ ...claims, iat: seconds() + by, exp: seconds() + by + lifetime });
    };
    for (const by of [-58, -30, 0, 30, 58]) {
      it(`that differ by ${by} s are tolerated`, async () => {
        at(by);
        const browser = createBrowser();
        expect((await world.visit(browser)).status).to.equal(200);
        expect(await statusOf(browser)).to.equal(200);
      });
    }

    for (const [name, by, lifetime] of [
      ['five minutes ahead', 300, HOUR],
      ['five minutes behind, tokens of four', -300, 240],
    ] as const) {
      it(`at the provider that are ${name} cause a 401 page and a log line with the reason \`clock\``, async () => {
        at(by, lifetime);
        const answer = await world.visit();
        expect(answer.status).to.equal(401);
        expect(answer.body).to.contain('clock').and.contain('Start again');
        expect(answer.headers.get('www-authenticate')).to.contain('clock');
        expect(answer.hops.length, 'no login after it').to.equal(3);
        const lines = world.log.filter(({ reason }) => reason === 'clock');
        expect(lines.length).to.equal(1);
        expect(lines[0]).to.include({ msg: 'login failed' });
      });
    }

    it('of the site that are five minutes behind, or further ahead than tokens are valid, do the same', async () => {
      for (const shift of [-300_000, 700_000]) {
        world.protect();
        world.shift = shift;
        expect((await world.visit()).status, String(shift)).to.equal(401);
        expect(world.log.filter(({ reason }) => reason === 'clock').length).to.equal(1);
      }
    });

    it('do not matter for a token that is issued as of five minutes ago, as Microsoft Entra does', async () => {
      for (const by of [-300, -3000]) {
        world.idp.claims = (claims) => ({
          ...claims,
          iat: seconds() + by,
          nbf: seconds() + by,
          exp: seconds() + by + HOUR,
        });
        const browser = createBrowser();
        expect((await world.visit(browser)).status, String(by)).to.equal(200);
        expect(await statusOf(browser)).to.equal(200);
      }
    });

    it('or tokens that expire immediately cause at most two logins, then a page', async () => {
      world.idp.token = (answer) => ({ body: { ...answer, expires_in: 0 } });
      const calls = world.idp.tokenCalls;
      const answer = await world.visit();
      expect(answer.status).to.equal(403);
      expect(answer.body).to.contain('could not be kept').and.contain('Start again');
      expect(world.idp.tokenCalls - calls).to.equal(2);
    });
  });

  describe('a provider that moves', () => {
    const moved = (): void => {
      const at = `${world.idp.issuer}/2`;
      world.idp.metadata = {
        authorization_endpoint: `${at}/authorize`,
        token_endpoint: `${at}/token`,
        jwks_uri: `${at}/jwks`,
      };
    };

    it('is found at its new endpoints after discoveryPollInterval, and no user is logged out', async () => {
      world.protect({ discoveryPollInterval: '60s' });
      const browser = createBrowser();
      await world.visit(browser);
      moved();
      await world.visit();
      expect(world.idp.paths.filter((path) => path.startsWith('/2'))).to.deep.equal([]);
      world.shift = 61_000;
      await world.visit();
      world.idp.paths.length = 0;
      expect(await statusOf(browser)).to.equal(200);
      world.shift = 62_000;
      expect((await world.visit()).status).to.equal(200);
      expect(world.idp.paths).to.include.members(['/2/authorize', '/2/token']);
    });

    it('to untrusted endpoints is not followed: the old ones stay in use', async () => {
      world.protect({ discoveryPollInterval: '60s' });
      await world.visit();
      world.idp.metadata = { token_endpoint: 'http://evil.example/token', issuer: world.idp.issuer };
      world.shift = 61_000;
      await world.visit();
      world.shift = 62_500;
      expect((await world.visit()).status).to.equal(200);
    });
  });
});
