import { startTimer, type Facts } from '@edge-gateway/core';

/** Starts a timer until the first of the verified tokens expires; `undefined` without such a token. */
export function atExpiry({ identity, claims }: Facts, expired: () => void): NodeJS.Timeout | undefined {
  const times = [identity?.claims['exp'], ...Array.from(claims.values(), ({ exp }) => exp)].filter(
    (each): each is number => typeof each === 'number',
  );
  return times.length > 0 ? startTimer(expired, Math.max(Math.min(...times) * 1000 - Date.now(), 0)) : undefined;
}
