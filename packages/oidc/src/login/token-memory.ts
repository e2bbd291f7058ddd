import { digest } from '@edge-gateway/core';
import { createExpiringMap } from '../session/expiring.ts';
import type { Session } from '../session/session.ts';
import { verifiesAccess } from './check-tokens.ts';
import type { TokenMemory } from './login.ts';
import type { LoginParts } from './settings.ts';

const GOOD_MS = 3_600_000;

/** Creates a check that remembers valid tokens, also when the provider's keys change, but not for a check with other settings. */
export function rememberChecked(check: TokenMemory['check'], { context, id, block }: LoginParts): TokenMemory {
  const { now } = context;
  const { issuerUrl, clientId, discoveryOverride } = block;
  const checked = [issuerUrl, clientId, discoveryOverride, verifiesAccess(block)];
  const good = context.state(`oidc:good:${id}`, () => createExpiringMap<true>({ max: 10_000, ttlMs: GOOD_MS, now }));
  const keyOf = ({ idToken, accessToken }: Session): string => digest(JSON.stringify([checked, idToken, accessToken]));
  return {
    async check(session) {
      if (good.get(keyOf(session))) return;
      await check(session);
      good.set(keyOf(session), true);
    },
    accept: (session) => good.set(keyOf(session), true),
  };
}
