import { expect } from 'chai';
import type { UpstreamResponse } from '@edge-gateway/core';
import { jwt } from '../../src/index.ts';
import { createIssuer, ISSUER, NOW, serve, testContext, type Answer, type Issuer } from '../issuer.ts';

const MINUTE = 60_000;

describe('a cached token after a long pause', () => {
  let issuer: Issuer;
  let other: Issuer;
  let now: number;
  let fetches: number;
  let keys: () => Promise<string>;
  let server: Awaited<ReturnType<typeof serve>>;
  let token: string;

  before(async () => {
    issuer = await createIssuer();
    other = await createIssuer('RS256', 'other');
    token = await issuer.sign({ exp: NOW / 1000 + 7200 });
  });

  beforeEach(async () => {
    now = NOW;
    fetches = 0;
    keys = async () => issuer.keySet;
    const callUpstream = async (): Promise<UpstreamResponse> => {
      fetches++;
      return { status: 200, headers: {}, body: Buffer.from(await keys()) };
    };
    const remote = { url: 'http://keys.test/jwks', upstreamRef: { name: 'idp', namespace: 'gw-system' } };
    const context = testContext({ callUpstream, now: () => now });
    server = await serve(jwt({ providers: { main: { issuer: ISSUER, jwks: { remote } } } }, context));
  });

  afterEach(() => server.close());

  const ask = (): Promise<Answer> => server.ask('/', { authorization: `Bearer ${token}` });

  it('is rejected when its key was removed meanwhile: the keys are fetched first', async () => {
    expect([(await ask()).status, (await ask()).status, fetches]).to.deep.equal([200, 200, 1]);
    keys = async () => other.keySet;
    now += 30 * MINUTE;
    expect((await ask()).status).to.equal(401);
    expect(fetches).to.equal(2);
  });

  it('is accepted with the same keys, which are fetched once for all requests', async () => {
    await ask();
    now += 30 * MINUTE;
    const answers = await Promise.all(Array.from({ length: 20 }, ask));
    expect(new Set(answers.map(({ status }) => status))).to.deep.equal(new Set([200]));
    expect(fetches).to.equal(2);
  });

  it('is accepted while the keys cannot be fetched, and only requests of the first attempt wait', async () => {
    await ask();
    now += 30 * MINUTE;
    keys = () => Promise.reject(new Error('down'));
    expect((await ask()).status).to.equal(200);
    expect(fetches).to.equal(2);
    keys = () => new Promise(() => {});
    now += MINUTE;
    expect((await ask()).status).to.equal(200);
    expect((await ask()).status).to.equal(200);
    expect(fetches).to.equal(3);
  });
});
