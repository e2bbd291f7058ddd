import { expect } from 'chai';
import { skipWithout } from '../../../../test/parts/apt.ts';
import { startRedis, type RedisServer } from '../../../../test/parts/redis.ts';
import type { OidcOptions } from '../../src/index.ts';
import { startBadProvider, type BadProvider } from '../parts/bad-provider.ts';
import { createBrowser } from '../parts/browser.ts';
import { startNode, type RunningNode } from '../parts/start-node.ts';

const EVENTS = { 'http://schemas.openid.net/event/backchannel-logout': {} };

describe('a back-channel logout at two processes on one Redis', () => {
  let redis: RedisServer;
  let idp: BadProvider;
  let nodes: readonly RunningNode[] = [];
  let serial = 0;
  before(async function () {
    await skipWithout(this, 'redis-server');
    redis = await startRedis();
    idp = await startBadProvider();
    const options: OidcOptions = {
      issuerUrl: idp.issuer,
      clientId: 'web',
      clientSecret: 'a-secret-of-more-than-thirty-two-characters',
      appUrl: 'http://127.0.0.1',
      callbackPath: '/callback',
      frontChannelLogout: { path: '/channel' },
      session: { cookieOptions: { notSecure: true }, redis: { options: { host: redis.host } } },
    };
    nodes = await Promise.all([startNode(options), startNode(options)]);
  });
  after(async () => {
    await Promise.all(nodes.map((node) => node.kill()));
    await idp?.close();
    await redis?.close();
  });

  const tokenOf = (): Promise<string> => {
    const now = Math.floor(Date.now() / 1000);
    const times = { iat: now, exp: now + 60, jti: `token-${serial++}` };
    return idp.sign({ iss: idp.issuer, aud: 'web', sub: 'someone', events: EVENTS, ...times });
  };
  const send = async (node: RunningNode | undefined, token: string): Promise<number> => {
    const body = new URLSearchParams({ logout_token: token });
    return (await createBrowser().send(`${node!.url}/channel`, { method: 'POST', body })).status;
  };

  it('accepts a token once: replay at the other process', async () => {
    const token = await tokenOf();
    expect([await send(nodes[0], token), await send(nodes[1], token)]).to.deep.equal([200, 400]);
  });

  it('accepts a token once when both receive it at the same time', async () => {
    const token = await tokenOf();
    const statuses = await Promise.all(Array.from({ length: 6 }, (_, i) => send(nodes[i % 2], token)));
    expect(statuses.sort()).to.deep.equal([200, 400, 400, 400, 400, 400]);
  });
});
