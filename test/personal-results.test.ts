import { createHmac, generateKeyPairSync, sign } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { protect, type AuthMethodKind, type Handler } from '@edge-gateway/core';
import { apiKeyAuth, basicAuth, extauth, hmacAuth } from '@edge-gateway/extauth';
import { graphqlApi } from '@edge-gateway/graphql';
import { jwt, rbac } from '@edge-gateway/rbac';
import { expect } from 'chai';

const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });

function token(): string {
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  const signed = `${part({ alg: 'ES256' })}.${part({ iss: 'me', sub: 'ann', exp: Math.floor(Date.now() / 1000) + 600 })}`;
  const signature = sign('sha256', Buffer.from(signed), { key: privateKey, dsaEncoding: 'ieee-p1363' });
  return `${signed}.${signature.toString('base64url')}`;
}

function hmac(): Record<string, string> {
  const date = new Date().toUTCString();
  const signature = createHmac('sha256', 's')
    .update(`@request-target: get /?query={n}\nx-date: ${date}`)
    .digest('base64');
  const authorization = `hmac username="ann", algorithm="hmac-sha256", headers="@request-target x-date", signature="${signature}"`;
  return { 'x-date': date, authorization };
}

/** Allows everyone, without a user: as policies do that only decide. */
const silent: AuthMethodKind = { type: 'opaAuth', create: () => ({ authorize: async () => ({ allowed: true }) }) };
const keys = publicKey.export({ type: 'spki', format: 'pem' }).toString();
const provider = {
  issuer: 'me',
  tokenSource: { headers: [{ header: 'x-token' }] },
  jwks: { local: { key: keys } },
};

describe('results for clients that a policy has authenticated', () => {
  const opened: Server[] = [];
  const listen = async (server: Server): Promise<string> => {
    opened.push(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  };
  afterEach(() => {
    for (const server of opened.splice(0)) {
      server.closeAllConnections();
      server.close();
    }
  });

  const api = () =>
    graphqlApi({
      schemaDefinition: 'type Query { n: Int @resolve(name: "n") @cacheControl(maxAge: 60) }',
      resolutions: { n: { mockResolver: { syncResponse: 7 } } },
    });

  async function cacheControl(guards: readonly Handler[], headers: Record<string, string>): Promise<string | null> {
    const chain = protect(...guards, api());
    const url = await listen(createServer((req, res) => chain(req, res, () => res.writeHead(500).end())));
    const response = await fetch(`${url}/?query={n}`, { headers });
    expect(await response.text()).to.equal('{"data":{"n":7}}');
    return response.headers.get('cache-control');
  }

  it('are public without a policy', async () => {
    expect(await cacheControl([], { 'x-key': 'k' })).to.equal('max-age=60, public');
  });

  const policies: Readonly<
    Record<string, () => readonly [guards: readonly Handler[], headers: Record<string, string>]>
  > = {
    apiKeyAuth: () => [[apiKeyAuth({ keys: ['k'], headerName: 'x-key' })], { 'x-key': 'k' }],
    basicAuth: () => [
      [basicAuth({ users: { ann: { hash: '$apr1$TYiryv0/$8BvzLUO9IfGPGGsPnAgSu1' } } })],
      { authorization: `Basic ${Buffer.from('ann:password').toString('base64')}` },
    ],
    hmacAuth: () => [[hmacAuth({ users: { ann: 's' } })], hmac()],
    'jwt with a token in a header of its own': () => [[jwt({ providers: { me: provider } })], { 'x-token': token() }],
    'jwt that removes the token': () => [
      [jwt({ providers: { me: { ...provider, keepToken: false } } })],
      { 'x-token': token() },
    ],
    'rbac without claims': () => [[rbac({ policies: { all: { permissions: { methods: ['GET'] } } } })], {}],
    'external auth that names no user': () => [
      [
        extauth({
          config: { configs: [{ name: 'a', opaAuth: { query: 'data.a.allow', modules: [] } }] },
          methods: [silent],
        }),
      ],
      { 'x-key': 'k' },
    ],
  };
  for (const [name, made] of Object.entries(policies)) {
    it(`are private with ${name}`, async () => {
      expect(await cacheControl(...made())).to.equal('max-age=60, private');
    });
  }

  it('are private with an auth server', async () => {
    const auth = await listen(createServer((_req, res) => res.end()));
    const config = { configs: [{ name: 'a', passThroughAuth: { http: { url: auth } } }] };
    const guard = extauth({ config, settings: { requestTimeout: '10s' } });
    expect(await cacheControl([guard], { 'x-key': 'k' })).to.equal('max-age=60, private');
  });
});
