import { createContext } from '@edge-gateway/core';
import { expect } from 'chai';
import { attackContract } from '../../../core/test/security/jwt/attack-contract.ts';
import { createIssuer, ISSUER, NOW } from '../../../core/test/security/jwt/issuer.ts';
import { jwtChecker } from '../../src/token/jwt-check.ts';
import { guarded, only, stopAll } from '../harness.ts';

const context = () => createContext({ now: () => NOW });

describe('access tokens without expiration', () => {
  for (const [requireExpiration, status] of [
    [false, 200],
    [true, 403],
  ] as const) {
    it(`return ${status} with requireExpiration: ${requireExpiration}`, async () => {
      const issuer = await createIssuer();
      const jwt = { localJwks: { inlineString: issuer.keySet }, issuer: ISSUER, requireExpiration };
      const { ask } = await guarded(only({ oauth2: { accessTokenValidation: { jwt } } }), { context: context() });
      const ofToken = async (claims: object) =>
        (await ask('/', { headers: { authorization: `Bearer ${await issuer.sign({ ...claims })}` } })).status;
      expect([await ofToken({ exp: undefined }), await ofToken({})]).to.deep.equal([status, 200]);
      await stopAll();
    });
  }
});

attackContract({
  name: 'the check of access tokens',
  hasTexts: true,
  async create(inlineString) {
    const check = jwtChecker({ localJwks: { inlineString }, issuer: ISSUER }, 'n.c/step', context());
    return {
      async verdict(token) {
        const checked = await check(token);
        return typeof checked === 'string' ? checked : undefined;
      },
    };
  },
});

attackContract({
  name: 'a route with access tokens',
  hasTexts: false,
  async create(inlineString) {
    const jwt = { localJwks: { inlineString }, issuer: ISSUER };
    const { ask } = await guarded(only({ oauth2: { accessTokenValidation: { jwt } } }), { context: context() });
    return {
      close: stopAll,
      async verdict(token) {
        const { status, body } = await ask('/', { headers: { authorization: `Bearer ${token}` } });
        if (status === 200) return undefined;
        expect([403, 431], body).to.include(status);
        return body;
      },
    };
  },
});
