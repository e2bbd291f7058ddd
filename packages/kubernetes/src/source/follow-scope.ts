import type { Scope } from './generation.ts';
import type { Scopes } from './scopes.ts';

interface ScopeFollower<T> {
  readonly scopes: Scopes;
  readonly signal: AbortSignal;
  /** Creates what follows the objects of one scope. */
  create(scope: Scope): T;
  /** Replaces what followed the previous scope. */
  activate(next: T): Promise<void>;
}

/**
 * Starts something for the newest scope, and activates it when it has started; one that takes long to start gives way to a newer one.
 * Resolves when the signal aborts and `scopes` is closed.
 */
export async function followNewestScope<T extends { start(): Promise<void>; close(): Promise<void> }>({
  scopes,
  signal,
  create,
  activate,
}: ScopeFollower<T>): Promise<void> {
  await scopes.start();
  while (!signal.aborted) {
    const changed = scopes.changed();
    const next = create(scopes.current());
    const isReady = await Promise.race([next.start().then(() => true), changed.then(() => false)]);
    if (!isReady || signal.aborted) {
      await next.close();
      continue;
    }
    await activate(next);
    await changed;
  }
}
