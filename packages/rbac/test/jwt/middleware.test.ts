import { createPublicKey, type JsonWebKey } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { GatewayError } from '@edge-gateway/core';
import { jwt, type JwtProviderOptions } from '../../src/index.ts';
import { createIssuer, ISSUER, serve, testContext, type Issuer } from '../issuer.ts';

describe('jwt with plain keys', () => {
  let issuer: Issuer;
  before(async () => {
    issuer = await createIssuer();
  });

  async function statuses(jwks: JwtProviderOptions['jwks']): Promise<number[]> {
    const server = await serve(jwt({ providers: { main: { issuer: ISSUER, jwks } } }, testContext()));
    try {
      const good = `Bearer ${await issuer.sign()}`;
      const bad = `Bearer ${await (await createIssuer()).sign()}`;
      const answers = [await server.ask('/'), await server.ask('/', { authorization: bad })];
      return [...answers, await server.ask('/', { authorization: good })].map(({ status }) => status);
    } finally {
      await server.close();
    }
  }

  it('accepts a key set and one key as values', async () => {
    expect(await statuses(JSON.parse(issuer.keySet) as { keys: object[] })).to.deep.equal([401, 401, 200]);
    expect(await statuses(issuer.jwk as { kty: string })).to.deep.equal([401, 401, 200]);
  });

  it('accepts JSON and PEM as text', async () => {
    const pem = createPublicKey({ key: issuer.jwk as JsonWebKey, format: 'jwk' }).export({
      type: 'spki',
      format: 'pem',
    });
    expect(await statuses(issuer.keySet)).to.deep.equal([401, 401, 200]);
    expect(await statuses(pem.toString())).to.deep.equal([401, 401, 200]);
  });

  it('accepts the block of a resource', async () => {
    expect(await statuses({ local: { key: issuer.keySet } })).to.deep.equal([401, 401, 200]);
  });

  it('accepts the URL of a key set', async () => {
    const keys = createServer((_req, res) => res.end(issuer.keySet));
    await new Promise<void>((resolve) => keys.listen(0, '127.0.0.1', resolve));
    try {
      expect(await statuses(`http://127.0.0.1:${(keys.address() as AddressInfo).port}/jwks`)).to.deep.equal([
        401, 401, 200,
      ]);
    } finally {
      await new Promise((resolve) => (keys.closeAllConnections(), keys.close(resolve)));
    }
  });

  it('throws for invalid keys, and without providers', () => {
    for (const jwks of ['', 'no key', '{}', { keys: [] }, { kty: 'x' }, 'ftp://id.example.com/jwks']) {
      expect(() => jwt({ providers: { main: { jwks } } }), JSON.stringify(jwks))
        .to.throw(GatewayError)
        .with.property('code', 'ERR_RBAC_KEYS');
    }
    for (const options of [{ providers: {} }, {}]) {
      expect(() => jwt(options as never))
        .to.throw(GatewayError)
        .with.property('code', 'ERR_CORE_MIDDLEWARE');
    }
  });
});
