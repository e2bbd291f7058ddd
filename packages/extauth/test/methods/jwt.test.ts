import { createContext, type AuthRequest } from '@edge-gateway/core';
import { expect } from 'chai';
import { jwtMethod } from '../../src/index.ts';

const method = jwtMethod.create({}, { id: 'n.c/step', context: createContext() });
const NAMESPACE = 'envoy.filters.http.jwt_authn';
const failure = { code: 2, message: 'Jwt is expired' };

const decide = (metadata: Record<string, Record<string, unknown>>) =>
  method.authorize({
    requestId: 'r',
    method: 'GET',
    scheme: 'https',
    host: 'a',
    path: '/',
    header: () => 'Bearer a.b.c',
    headers: () => ['authorization', 'Bearer a.b.c'],
    clientAddress: '',
    state: { jwt: 'a.b.c' },
    metadata: new Map(Object.entries(metadata)),
  } satisfies AuthRequest);

describe('the jwt step', () => {
  it('passes when a token was verified before, by any provider', async () => {
    expect(await decide({ [NAMESPACE]: { main: { sub: 'alice' } } })).to.deep.equal({ allowed: true });
    expect(await decide({ [NAMESPACE]: { failed: failure, other: { sub: 'alice' } } })).to.deep.equal({
      allowed: true,
    });
    expect(await decide({ [NAMESPACE]: { main: {} } })).to.deep.equal({ allowed: true });
  });

  it('returns 401 without a verified token, whatever the request or the state contains', async () => {
    const without: Record<string, Record<string, unknown>>[] = [
      {},
      { [NAMESPACE]: {} },
      { [NAMESPACE]: { failed: failure } },
      { [NAMESPACE]: { a: null, b: 'sub', c: true, d: 1 } },
      { 'envoy.filters.http.ext_authz': { main: { sub: 'alice' } } },
    ];
    for (const metadata of without) {
      expect(await decide(metadata), JSON.stringify(metadata)).to.include({ allowed: false, status: 401 });
    }
  });
});
