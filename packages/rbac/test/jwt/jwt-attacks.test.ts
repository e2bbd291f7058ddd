import { createHmac, sign as signRaw } from 'node:crypto';
import { expect } from 'chai';
import { exportSPKI, importJWK, type CryptoKey } from 'jose';
import { attackContract, b64, CLAIMS, keyOf } from '../../../core/test/security/jwt/attack-contract.ts';
import { jwt, JWT_STATUS } from '../../src/index.ts';
import { ISSUER, serve, testContext, type Issuer } from '../issuer.ts';
import { createArena, providerWith, type Arena } from './arena.ts';

attackContract({
  name: 'JWT providers',
  hasTexts: true,
  async create(key) {
    const server = await serve(
      jwt({ providers: { main: { issuer: ISSUER, jwks: { local: { key } } } } }, testContext()),
    );
    return {
      close: server.close,
      async verdict(token) {
        const { status, body } = await server.ask('/', { authorization: `Bearer ${token}` });
        if (status === 200) return undefined;
        expect([401, 431], body).to.include(status);
        return body;
      },
    };
  },
});

/** More attacks on the form and the signature of tokens. Nothing gets through, and nothing is a 5xx. */
describe('attacks on the form of tokens', () => {
  let arena: Arena;
  let rsa: Issuer;
  let pem: string;
  before(async () => {
    arena = await createArena();
    ({ rsa } = arena);
    pem = await exportSPKI((await importJWK(rsa.jwk, 'RS256')) as CryptoKey);
  });
  after(() => arena.close());
  const refused: Arena['refused'] = (...sent) => arena.refused(...sent);
  const signed: Arena['signed'] = (...asked) => arena.signed(...asked);

  it('HS256 with the PEM as the secret, where the key is configured as PEM', async () => {
    const asPem = await serve(
      jwt({ providers: { main: { issuer: ISSUER, jwks: { local: { key: pem } } } } }, testContext()),
    );
    try {
      const input = `${b64({ alg: 'HS256' })}.${b64(CLAIMS)}`;
      const forged = `${input}.${createHmac('sha256', pem).update(input).digest('base64url')}`;
      expect((await asPem.ask('/', { authorization: `Bearer ${forged}` })).status).to.equal(401);
      expect((await asPem.ask('/', { authorization: `Bearer ${await rsa.sign()}` })).status).to.equal(200);
    } finally {
      await asPem.close();
    }
  });

  it('RS256 token declared as PS256, and vice versa', async () => {
    const noAlg = await serve(
      jwt({ providers: { main: providerWith({ ...rsa.jwk, alg: undefined }) } }, testContext()),
    );
    try {
      const input = `${b64({ alg: 'PS256', kid: 'rsa' })}.${b64(CLAIMS)}`;
      const confused = `${input}.${signRaw('sha256', Buffer.from(input), keyOf(rsa)).toString('base64url')}`;
      expect((await noAlg.ask('/', { authorization: `Bearer ${confused}` })).body).to.equal('Jwt verification fails');
      await refused(confused, /^Jwks doesn't have key/);
    } finally {
      await noAlg.close();
    }
  });

  for (const [what, size] of [
    ['64 KiB', 64 * 1024],
    ['1 MiB', 1024 * 1024],
  ] as const) {
    it(`a token of ${what}, correctly signed, in any source`, async () => {
      const token = signed({ alg: 'RS256', kid: 'rsa' }, { ...CLAIMS, groups: 'x'.repeat(size) });
      for (const text of [token, 'a.'.repeat(size / 2), `${'.'.repeat(2)}${'['.repeat(size)}`]) {
        const before = process.cpuUsage();
        expect(await arena.judge('authorization', `Bearer ${text}`)).to.equal(JWT_STATUS.badForm.text);
        const { user, system } = process.cpuUsage(before);
        expect(user + system, 'microseconds of processor time').to.be.lessThan(2_000_000);
      }
    });
  }
});
