import { startInterval, startTimer } from '../time/timer.ts';
import type { Facts } from './facts.ts';

/** Time between two checks of the session of an open connection, in milliseconds. */
export const SESSION_CHECK_MS = 30_000;

/** Why the authentication of an open connection no longer holds. */
export type AuthenticationEnd = 'expired' | 'ended';

export interface WatchOptions {
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** True for a connection that does not use the tokens of a session again: the connection then lasts as long as the session, which renews them. */
  readonly outlivesSessionTokens?: boolean;
}

/**
 * Calls `end` once when the authentication of a request that opened a long connection no longer holds: when the first verified token expires,
 * or when its session has ended, e.g. by a logout in another process; sessions are checked every {@link SESSION_CHECK_MS}. A check that fails is
 * repeated at the next one. Returns a function that ends the watch.
 */
export function watchAuthentication(
  facts: Facts,
  { now, outlivesSessionTokens = false }: WatchOptions,
  end: (reason: AuthenticationEnd) => void,
): () => void {
  const { identity, isSessionOpen } = facts;
  let expiry: NodeJS.Timeout | undefined;
  let checks: NodeJS.Timeout | undefined;
  let isOver = false;
  const stop = (): void => {
    isOver = true;
    clearTimeout(expiry);
    clearInterval(checks);
  };
  const over = (reason: AuthenticationEnd): void => {
    if (isOver) return;
    stop();
    end(reason);
  };
  const tokens = Array.from(facts.claims.values());
  if (identity && !(isSessionOpen && outlivesSessionTokens)) tokens.push(identity.claims);
  const times = tokens.map(({ exp }) => exp).filter((exp) => typeof exp === 'number');
  if (times.length > 0) {
    expiry = startTimer(() => over('expired'), Math.max(Math.min(...times) * 1000 - now(), 0)).unref();
  }
  if (isSessionOpen)
    checks = startInterval(
      checkOf(isSessionOpen, () => over('ended')),
      SESSION_CHECK_MS,
    ).unref();
  return stop;
}

/** Returns a check that does not begin before the previous one has ended. */
function checkOf(isSessionOpen: () => Promise<boolean>, ended: () => void): () => void {
  let isRunning = false;
  return () => {
    if (isRunning) return;
    isRunning = true;
    isSessionOpen()
      .then((isOpen) => isOpen || ended())
      // An unavailable store does not end sessions.
      .catch(() => undefined)
      .finally(() => (isRunning = false));
  };
}
