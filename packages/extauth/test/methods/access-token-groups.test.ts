import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createContext, createLoggers, GatewayError, type GroupLookupKind } from '@edge-gateway/core';
import type { AccessTokenValidation, AuthConfigSpec, ExtAuthServer } from '@edge-gateway/core/schema';
import { expect } from 'chai';
import { exportJWK, generateKeyPair, SignJWT, type JWTPayload } from 'jose';
import { createAccessTokenMethod, createChain } from '../../src/index.ts';
import { guarded, start, stopAll, type Call, type Guarded } from '../harness.ts';

const azure = { clientId: 'reader', tenantId: 'example.com', clientSecret: { name: 'graph' } };
const MANY = { oid: 'u1', _claim_names: { groups: 'src1' } };

describe('accessTokenValidation of users with very many groups', () => {
  let directory: Server;
  let asked: string[];
  let answer: () => Promise<readonly string[]>;
  let closed: number;
  let log: string;

  /** A lookup of a program's own: it asks a directory by the id of the user, and keeps what it was told. */
  const groups: GroupLookupKind = ({ tenantId }, { context }) => {
    const known = context.state('groups', () => new Map<unknown, Promise<readonly string[]>>());
    const ask = async (oid: unknown): Promise<readonly string[]> => {
      const { port } = directory.address() as AddressInfo;
      const got = await fetch(`http://127.0.0.1:${port}/${tenantId}/${String(oid)}`);
      if (!got.ok) throw new GatewayError(`directory: ${got.status}`, { code: 'ERR_OWN', status: 503 });
      return (await got.json()) as string[];
    };
    return {
      async complete(claims) {
        if (!claims['_claim_names']) return claims;
        const { oid } = claims;
        const found = known.get(oid) ?? ask(oid);
        known.set(oid, found);
        return { ...claims, groups: await found.catch((error: unknown) => (known.delete(oid), Promise.reject(error))) };
      },
      close: () => void closed++,
    };
  };

  beforeEach(async () => {
    asked = [];
    closed = 0;
    log = '';
    answer = async () => ['a', 'b'];
    directory = createServer((req, res) => {
      asked.push(req.url!);
      answer().then(
        (found) => res.end(JSON.stringify(found)),
        () => res.writeHead(500).end(),
      );
    });
    await new Promise<void>((resolve) => directory.listen(0, '127.0.0.1', resolve));
  });
  afterEach(async () => {
    directory.closeAllConnections();
    await new Promise((resolve) => directory.close(resolve));
    await stopAll();
  });

  async function issuer() {
    const { privateKey, publicKey } = await generateKeyPair('RS256');
    const jwk = { ...(await exportJWK(publicKey)), kid: 'k1', alg: 'RS256', use: 'sig' };
    const sign = async (claims: JWTPayload): Promise<Call> => {
      const exp = Math.floor(Date.now() / 1000) + 600;
      const token = new SignJWT({ sub: 'alice', exp, ...claims }).setProtectedHeader({ alg: 'RS256', kid: 'k1' });
      return { headers: { authorization: `Bearer ${await token.sign(privateKey)}` } };
    };
    return { sign, jwt: { localJwks: { inlineString: JSON.stringify({ keys: [jwk] }) } } };
  }

  const configOf = (spec: AccessTokenValidation): AuthConfigSpec => ({
    configs: [{ oauth2: { accessTokenValidation: { azure, ...spec } } }],
  });
  const contextOf = () =>
    createContext({ log: createLoggers({ destination: { write: (line) => void (log += line) } }) });
  const guard = (spec: AccessTokenValidation, settings?: ExtAuthServer): Promise<Guarded> =>
    guarded(configOf(spec), {
      context: contextOf(),
      methods: [createAccessTokenMethod({ groups })],
      ...(settings && { settings }),
    });
  const toHeader = [{ claim: 'groups', header: 'X-Groups' }];
  const listed = Buffer.from('["a","b"]').toString('base64');

  it('sends the groups as a header, and never forged ones', async () => {
    const { sign, jwt } = await issuer();
    const { seen } = await guard({ jwt, claimsToHeaders: toHeader });
    const many = await sign(MANY);
    expect((await seen('/', { headers: { ...many.headers, 'x-groups': 'admins' } }))['x-groups']).to.equal(listed);
    expect(asked).to.deep.equal(['/example.com/u1']);
    const few = await sign({ groups: ['own'] });
    expect((await seen('/', few))['x-groups']).to.equal(Buffer.from('["own"]').toString('base64'));
    expect(asked).to.have.length(1);
  });

  it('passes them to metadata and later steps, for introspected tokens too', async () => {
    const introspectionUrl = await start((_req, res) => res.end(JSON.stringify({ active: true, ...MANY })));
    const chain = createChain(configOf({ introspectionUrl, dynamicMetadataFromClaims: { teams: 'groups' } }), {
      kinds: [createAccessTokenMethod({ groups })],
      context: contextOf(),
      id: 'n.tokens',
      timeoutMs: 5000,
    });
    const request = {
      requestId: 'r',
      method: 'GET',
      scheme: 'https',
      host: 'a',
      path: '/',
      header: (name: string) => (name === 'authorization' ? 'Bearer opaque' : undefined),
      headers: () => ['authorization', 'Bearer opaque'],
      clientAddress: '127.0.0.1',
      state: {},
      metadata: new Map(),
    } as const;
    for (const _round of [1, 2]) {
      const decision = await chain.authorize(request);
      expect(decision).to.deep.include({ allowed: true, metadata: { config_0: { teams: ['a', 'b'] } } });
      expect(decision).to.have.nested.property('state.introspection.groups').that.deep.equals(['a', 'b']);
    }
    await chain.close();
    expect(closed).to.equal(1);
  });

  it('denies requests while they cannot be read, and logs the reason', async () => {
    const { sign, jwt } = await issuer();
    const { ask } = await guard({ jwt, claimsToHeaders: toHeader });
    const many = await sign(MANY);
    answer = () => Promise.reject(new Error('away'));
    expect(await ask('/', many)).to.include({ status: 403, body: '' });
    expect(log)
      .to.contain('directory: 500')
      .and.not.contain(many.headers!['authorization'] as string);
    answer = async () => ['a', 'b'];
    expect((await ask('/', many)).status).to.equal(200);
  });

  it('returns 503 for that with `statusOnError`', async () => {
    const { sign, jwt } = await issuer();
    const { ask } = await guard({ jwt }, { statusOnError: 503 });
    answer = () => Promise.reject(new Error('away'));
    expect((await ask('/', await sign(MANY))).status).to.equal(503);
    expect((await ask('/', await sign({}))).status).to.equal(200);
  });

  it('applies the timeout of external calls; late results serve the next request', async () => {
    const { sign, jwt } = await issuer();
    const { ask, seen } = await guard({ jwt, claimsToHeaders: toHeader }, { requestTimeout: '1s' });
    const many = await sign(MANY);
    const late = Promise.withResolvers<string[]>();
    answer = () => late.promise;
    expect((await ask('/', many)).status).to.equal(403);
    expect(log).to.contain('requestTimeout');
    late.resolve(['a', 'b']);
    expect((await seen('/', many))['x-groups']).to.equal(listed);
    expect(asked).to.have.length(1);
  });

  it('throws without a lookup', async () => {
    const { jwt } = await issuer();
    const make = (): unknown => createAccessTokenMethod().create({ jwt, azure }, { id: 'x', context: contextOf() });
    expect(make).to.throw(GatewayError, /x: azure needs a lookup/);
  });
});
