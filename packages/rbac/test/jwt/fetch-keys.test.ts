import { createContext } from '@edge-gateway/core';
import { expect } from 'chai';
import { fetchKeysOf } from '../../src/jwt/fetch-keys.ts';

describe('the keys of a provider', () => {
  for (const url of [
    'http://192.0.2.1/keys',
    'http://localhost.example.com/keys',
    'https://user:pw@127.0.0.1:1/keys',
    'ftp://127.0.0.1/keys',
  ])
    it(`are not fetched without HTTPS from another machine: ${url}`, async () => {
      const failure = await fetchKeysOf('main', { url }, createContext())().catch((error: unknown) => error);
      expect(failure).to.include({ code: 'ERR_RBAC_KEYS_UNREACHABLE' });
      expect(failure).to.have.property('message').that.contains('HTTPS');
    });

  it('are fetched from this machine', async () => {
    const failure = await fetchKeysOf('main', { url: 'http://127.0.0.1:1/keys' }, createContext())().catch(
      (error: unknown) => error,
    );
    expect(failure).to.be.an('error').that.does.not.have.property('code', 'ERR_RBAC_KEYS_UNREACHABLE');
  });
});
