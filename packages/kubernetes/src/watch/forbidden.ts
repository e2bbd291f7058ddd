import type { Reflector } from './reflector.ts';

/** How often the problem of a reflector is checked. */
const FORBIDDEN_CHECK_MS = 50;

/** Returns whether the API server forbids the list of a reflector now. */
export const isForbidden = (reflector: Reflector): boolean => reflector.problem?.apiStatus === 403;

/** Starts a reflector. Resolves when its list is complete, when the API server forbids it, or with `closed`. */
export async function completeOrForbidden(reflector: Reflector, closed: Promise<void>): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setInterval(() => {
    if (isForbidden(reflector)) resolve();
  }, FORBIDDEN_CHECK_MS);
  await Promise.race([promise, reflector.start(), closed]);
  clearInterval(timer);
}
