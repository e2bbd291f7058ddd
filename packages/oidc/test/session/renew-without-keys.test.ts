import { expect } from 'chai';
import { useBadWorld } from '../parts/bad-world.ts';
import { createBrowser } from '../parts/browser.ts';

describe('tokens that are renewed while the provider’s keys are unavailable', () => {
  const world = useBadWorld();

  it('are stored: each refresh token works once, and no user is logged out', async () => {
    let serial = 0;
    world.idp.claims = (claims) => ({ ...claims, exp: claims.exp! + 7200 });
    world.idp.token = (answer) => {
      const sent = world.idp.tokenRequest.get('refresh_token');
      if (sent !== null && sent !== `refresh-${serial}`) return { status: 400, body: { error: 'invalid_grant' } };
      return { body: { ...answer, refresh_token: `refresh-${++serial}`, expires_in: 600 } };
    };
    world.protect();
    const browser = createBrowser();
    expect((await world.visit(browser)).status).to.equal(200);
    await world.idp.rotate();
    world.idp.keys = () => ({ status: 500, body: {} });
    const ask = async (): Promise<number> => (await browser.send(`${world.site.url}/a`)).status;
    world.stopClock();
    world.shift = 599_000;
    expect(await ask()).to.equal(200);
    expect(serial).to.equal(2);
    world.shift = 1_190_000;
    expect(await ask(), 'with the tokens that were renewed').to.equal(200);
    expect(serial).to.equal(2);
    expect(world.log.some(({ msg }) => String(msg).includes('without verifying its signature'))).to.equal(true);
  });

  it('are rejected if the keys are available and the signature is invalid', async () => {
    world.idp.reset();
    world.idp.claims = (claims) => ({ ...claims, exp: claims.exp! + 7200 });
    world.idp.token = (answer) => ({ body: { ...answer, refresh_token: 'again', expires_in: 600 } });
    world.protect();
    world.shift = 0;
    const browser = createBrowser();
    expect((await world.visit(browser)).status).to.equal(200);
    world.idp.token = (answer) => ({
      body: { ...answer, id_token: `${String(answer.id_token).slice(0, -6)}AAAAAA`, expires_in: 600 },
    });
    world.shift = 661_000;
    expect((await browser.send(`${world.site.url}/a`)).status).to.equal(302);
  });
});
