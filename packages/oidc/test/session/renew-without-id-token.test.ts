import { createHash } from 'node:crypto';
import { expect } from 'chai';
import { useBadWorld } from '../parts/bad-world.ts';
import { createBrowser } from '../parts/browser.ts';

const FIRST = 'access-0';
const SESSIONS = {
  'in cookies': { cookie: { allowRefreshing: true } },
  'in a store': { redis: {} },
};

describe('tokens that are renewed without an id token', () => {
  const world = useBadWorld();

  for (const [where, session] of Object.entries(SESSIONS)) {
    it(`are renewed once per lifetime, also long after the id token has expired, ${where}`, async () => {
      let serial = 0;
      const atHash = createHash('sha256').update(FIRST).digest().subarray(0, 16).toString('base64url');
      world.idp.claims = (claims) => ({ ...claims, at_hash: atHash });
      world.idp.token = ({ id_token: idToken }) => {
        const sent = world.idp.tokenRequest.get('refresh_token');
        if (sent !== null && sent !== `refresh-${serial}`) return { status: 400, body: { error: 'invalid_grant' } };
        const tokens = {
          access_token: sent === null ? FIRST : `access-${++serial}`,
          refresh_token: `refresh-${serial}`,
        };
        return {
          body: { ...tokens, token_type: 'Bearer', expires_in: 600, ...(sent === null && { id_token: idToken }) },
        };
      };
      world.shift = 0;
      world.protect({ session: { ...session, cookieOptions: { notSecure: true } } });
      const browser = createBrowser();
      expect((await world.visit(browser)).status).to.equal(200);
      world.stopClock();
      for (const [shift, renewals] of [
        [100_000, 0],
        [700_000, 1],
        [701_000, 1],
        [1_200_000, 1],
        [1_310_000, 2],
        [1_311_000, 2],
      ] as const) {
        world.shift = shift;
        expect((await browser.send(`${world.site.url}/a`)).status, `after ${shift} ms`).to.equal(200);
        expect(serial, `after ${shift} ms`).to.equal(renewals);
      }
    });
  }
});
