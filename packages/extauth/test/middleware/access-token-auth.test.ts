import { expect } from 'chai';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { GatewayError, identityOf, type Handler } from '@edge-gateway/core';
import { accessTokenAuth } from '../../src/index.ts';
import { call, start, stopAll } from '../harness.ts';

describe('accessTokenAuth', () => {
  afterEach(stopAll);
  const serve = (guard: Handler): Promise<string> =>
    start((req, res) => guard(req, res, () => res.end(JSON.stringify(identityOf(req)))));
  const bearer = (token: string) => ({ headers: { authorization: `Bearer ${token}` } });

  it('calls the provider with a plain client secret', async () => {
    const asked: (string | undefined)[] = [];
    const provider = await start((req, res) => {
      let body = '';
      req.on('data', (chunk) => (body += chunk));
      req.on('end', () => {
        asked.push(req.headers.authorization);
        res.end(JSON.stringify({ active: body.includes('token=good'), sub: 'alice', groups: ['a'] }));
      });
    });
    const introspection = { introspectionUrl: provider, clientId: 'api', clientSecret: 'hush: hush' };
    const url = await serve(accessTokenAuth({ introspection, requestTimeout: '30s' }));
    expect((await call(url)).status).to.equal(403);
    expect((await call(url, bearer('bad'))).status).to.equal(403);
    const passed = await call(url, bearer('good'));
    expect(JSON.parse(passed.body)).to.deep.include({ provider: 'accessTokenAuth', subject: 'alice', groups: ['a'] });
    expect(asked[0]).to.equal(`Basic ${Buffer.from('api:hush%3A+hush').toString('base64')}`);
  });

  it('checks tokens with a key set written as a value', async () => {
    const { privateKey, publicKey } = await generateKeyPair('RS256', { extractable: true });
    const jwks = { keys: [{ ...(await exportJWK(publicKey)), kid: 'k', alg: 'RS256', use: 'sig' }] };
    const url = await serve(accessTokenAuth({ jwt: { jwks, issuer: 'https://id.example.com' } }));
    const sign = (iss: string): Promise<string> =>
      new SignJWT({ iss, sub: 'alice' })
        .setProtectedHeader({ alg: 'RS256', kid: 'k' })
        .setExpirationTime('1h')
        .sign(privateKey);
    expect((await call(url, bearer(await sign('https://id.example.com')))).status).to.equal(200);
    expect((await call(url, bearer(await sign('https://other.example.com')))).status).to.equal(403);
  });

  it('throws for invalid options', () => {
    for (const options of [{}, { jwt: {} }]) {
      expect(() => accessTokenAuth(options), JSON.stringify(options))
        .to.throw(GatewayError)
        .with.property('code', 'ERR_EXTAUTH_CONFIG');
    }
  });
});
