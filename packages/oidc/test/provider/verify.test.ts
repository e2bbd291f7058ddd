import { silentLoggers } from '@edge-gateway/core';
import { remoteKeys } from '@edge-gateway/core/jwt';
import { attackContract } from '../../../core/test/security/jwt/attack-contract.ts';
import { ISSUER, NOW } from '../../../core/test/security/jwt/issuer.ts';
import { codeOf } from '../../src/error-codes.ts';
import { createVerifier } from '../../src/provider/verify.ts';

for (const fresh of [true, false]) {
  attackContract({
    name: fresh ? 'the verifier of new logins' : 'the verifier of tokens from browsers',
    hasTexts: false,
    async create(keySet) {
      const now = (): number => NOW;
      const log = silentLoggers.get('ext_authz');
      const waiting = { exactKid: true, awaitsKeys: true, coolDownMs: 1 };
      const keys = remoteKeys({ fetchText: async () => keySet, cacheMs: 60_000, ...waiting, now, log, from: {} });
      const metadata = async () => ({ issuer: ISSUER });
      const verifier = createVerifier({ metadata, keys, mayRefetch: () => true } as never, undefined, now);
      return {
        async verdict(token) {
          try {
            await verifier.verify(token, { fresh });
            return undefined;
          } catch (error) {
            if (codeOf(error) === 'ERR_OIDC_TOKEN_INVALID') return (error as Error).message;
            throw error;
          }
        },
      };
    },
  });
}
