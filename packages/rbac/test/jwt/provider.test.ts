import { expect } from 'chai';
import { REFETCH_COOLDOWN_MS } from '../../../core/src/security/jwt/key-source.ts';
import { jwt } from '../../src/index.ts';
import { verifierOf } from '../../src/jwt/provider.ts';
import { createIssuer, ISSUER, NOW, seconds, serve, testContext, type Issuer } from '../issuer.ts';

describe('remote keys of a provider', () => {
  let issuer: Issuer;
  let now: number;
  let answers: string[];
  let calls: number;
  before(async () => {
    issuer = await createIssuer();
  });
  beforeEach(() => {
    now = NOW;
    answers = [];
    calls = 0;
  });

  it('are fetched at the first token of the new key in a rotation without overlap', async () => {
    const rotated = await createIssuer('RS256', 'k2');
    const context = testContext({
      now: () => now,
      callUpstream: async () => {
        calls++;
        return {
          status: 200,
          headers: {},
          body: Buffer.from(answers.length ? answers.shift()! : rotated.keySet),
        };
      },
    });
    answers = [issuer.keySet];
    const remote = { url: 'http://keys.test/jwks', upstreamRef: { name: 'idp', namespace: 'gw-system' } };
    const server = await serve(jwt({ providers: { main: { issuer: ISSUER, jwks: { remote } } } }, context));
    const ask = async (from: Issuer) =>
      (await server.ask('/', { authorization: `Bearer ${await from.sign()}` })).status;
    try {
      expect(await ask(issuer)).to.equal(200);
      now += REFETCH_COOLDOWN_MS;
      expect(await Promise.all([ask(rotated), ask(rotated), ask(rotated)])).to.deep.equal([200, 200, 200]);
      expect(calls).to.equal(2);
      expect(await ask(issuer), 'a token of the removed key, although it was remembered').to.equal(401);
    } finally {
      await server.close();
    }
  });

  it('return "Jwks remote fetch is failed" when the key server is down', async () => {
    const context = testContext({ callUpstream: () => Promise.reject(new Error('refused')) });
    const remote = { url: 'http://keys.test/jwks', upstreamRef: { name: 'idp', namespace: 'gw-system' } };
    const server = await serve(jwt({ providers: { main: { issuer: ISSUER, jwks: { remote } } } }, context));
    try {
      const answer = await server.ask('/', { authorization: `Bearer ${await issuer.sign()}` });
      expect(answer).to.include({ status: 401, body: 'Jwks remote fetch is failed' });
    } finally {
      await server.close();
    }
  });

  it('are never fetched over plain HTTP from other machines', async () => {
    const server = await serve(
      jwt(
        { providers: { main: { issuer: ISSUER, jwks: { remote: { url: 'http://keys.example/jwks' } } } } },
        testContext(),
      ),
    );
    try {
      expect((await server.ask('/', { authorization: `Bearer ${await issuer.sign()}` })).body).to.equal(
        'Jwks remote fetch is failed',
      );
    } finally {
      await server.close();
    }
  });
});

describe('local keys', () => {
  for (const text of [
    '',
    'nonsense',
    '{}',
    '[]',
    '-----BEGIN PUBLIC KEY-----',
    '-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----',
    '{"keys":{}}',
  ]) {
    it(`reject ${JSON.stringify(text)} at compile time`, () => {
      expect(() => verifierOf('main', { jwks: { local: { key: text } } }, testContext())).to.throw(
        text === ''
          ? 'provider main: jwks: set remote.url, or local.key to a key set or PEM text'
          : 'provider main: invalid keys in jwks.local.key (',
      );
    });
  }
});

describe('tokens without expiration', () => {
  for (const [requireExpiration, status] of [
    [false, 200],
    [true, 401],
  ] as const) {
    it(`return ${status} with requireExpiration: ${requireExpiration}`, async () => {
      const issuer = await createIssuer();
      const main = { issuer: ISSUER, jwks: { local: { key: issuer.keySet } }, requireExpiration };
      const server = await serve(jwt({ providers: { main } }, testContext()));
      const ofToken = async (claims: Record<string, unknown>) =>
        (await server.ask('/', { authorization: `Bearer ${await issuer.sign(claims)}` })).status;
      try {
        expect([await ofToken({ exp: undefined }), await ofToken({})]).to.deep.equal([status, 200]);
      } finally {
        await server.close();
      }
    });
  }
});

describe('several tokens of one request', () => {
  it('have the same result when they are cached: the first one counts', async () => {
    const issuer = await createIssuer();
    const jwks = { local: { key: issuer.keySet } };
    const claimsToHeaders = [{ claim: 'sub', header: 'x-sub' }];
    const server = await serve(jwt({ providers: { main: { issuer: ISSUER, jwks, claimsToHeaders } } }, testContext()));
    const [first, second] = await Promise.all(['first', 'second'].map((sub) => issuer.sign({ sub })));
    const ask = () => server.ask(`/?access_token=${second}`, { authorization: `Bearer ${first}` });
    try {
      for (let i = 0; i < 3; i++) expect((await ask()).seen['x-sub']).to.equal('first');
    } finally {
      await server.close();
    }
  });

  it('are rejected when they are cached and one that is not the last has expired', async () => {
    let now = NOW;
    const issuer = await createIssuer();
    const block = { providers: { main: { issuer: ISSUER, jwks: { local: { key: issuer.keySet } } } } };
    const server = await serve(jwt(block, testContext({ now: () => now })));
    const [short, long] = await Promise.all([60, 6000].map((end) => issuer.sign({ exp: seconds(end) })));
    const ask = (first: string, second: string) =>
      server.ask(`/?access_token=${second}`, { authorization: `Bearer ${first}` });
    try {
      for (let i = 0; i < 2; i++) expect((await ask(short!, long!)).status).to.equal(200);
      now = NOW + 121_000;
      for (const answer of [await ask(short!, long!), await ask(long!, short!)])
        expect(answer).to.include({ status: 401, body: 'Jwt is expired' });
      expect((await ask(long!, long!)).status).to.equal(200);
    } finally {
      await server.close();
    }
  });
});
