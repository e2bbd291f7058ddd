import { expect } from 'chai';
import { silentLoggers } from '@edge-gateway/core';
import { remoteKeys } from '@edge-gateway/core/jwt';
import { attackContract } from '../../../core/test/security/jwt/attack-contract.ts';
import { createIssuer, ISSUER, NOW, seconds } from '../../../core/test/security/jwt/issuer.ts';
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

describe('the maximum age of a token', () => {
  const outcomes: [number, string | undefined][] = [
    [0, undefined],
    [-179, undefined],
    [-181, 'expired'],
    [59, undefined],
    [61, 'not yet valid'],
  ];
  for (const [offset, outcome] of outcomes) {
    it(`${outcome === undefined ? 'accepts' : 'rejects'} a token issued at ${offset} s, of 120 s at most`, async () => {
      const issuer = await createIssuer();
      const now = (): number => NOW;
      const log = silentLoggers.get('ext_authz');
      const keys = remoteKeys({ fetchText: async () => issuer.keySet, cacheMs: 60_000, now, log, from: {} });
      const metadata = async () => ({ issuer: ISSUER });
      const verifier = createVerifier({ metadata, keys, mayRefetch: () => true } as never, undefined, now);
      const token = await issuer.sign({ iat: seconds(offset) });
      const failed = await verifier.verify(token, { fresh: true, maxAgeSeconds: 120 }).then(
        () => undefined,
        (error: Error) => error.message,
      );
      if (outcome === undefined) expect(failed).to.equal(undefined);
      else expect(failed).to.contain(outcome);
    });
  }
});
