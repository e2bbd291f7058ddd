import { createLocalJWKSet, type JSONWebKeySet } from 'jose';
import { attackContract } from '../../../core/test/security/jwt/attack-contract.ts';
import { ISSUER, NOW } from '../../../core/test/security/jwt/issuer.ts';
import { codeOf } from '../../src/failure.ts';
import { createKeySource } from '../../src/provider/key-source.ts';
import { createVerifier } from '../../src/provider/verify.ts';

for (const fresh of [true, false]) {
  attackContract({
    name: fresh ? 'the verifier of new logins' : 'the verifier of tokens from browsers',
    hasTexts: false,
    async create(keySet) {
      const now = (): number => NOW;
      const read = async () => createLocalJWKSet(JSON.parse(keySet) as JSONWebKeySet);
      const keys = createKeySource(read, { maxAgeMs: 60_000, coolDownMs: 1, now });
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
