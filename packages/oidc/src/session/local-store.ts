import session, { type SessionData, type Store } from 'express-session';

/** Sessions in memory. */
export const MAX_SESSIONS = 100_000;
/** Number of sessions that each write checks for expiry. */
const SWEPT = 10;
/** Lifetime of a session without an expiry. */
const DEFAULT_MS = 86_400_000;

interface Entry {
  readonly data: SessionData;
  readonly endsAt: number;
}

/**
 * Creates a bounded store in memory: expired sessions are removed incrementally, and beyond `max` sessions the
 * least recently written one is evicted.
 */
export function createLocalStore(now: () => number, max = MAX_SESSIONS): Store & { readonly size: number } {
  return new LocalStore(now, max);
}

class LocalStore extends session.Store {
  readonly #now: () => number;
  readonly #max: number;
  readonly #entries = new Map<string, Entry>();
  #cursor = this.#entries.entries();

  constructor(now: () => number, max: number) {
    super();
    this.#now = now;
    this.#max = max;
  }

  get size(): number {
    return this.#entries.size;
  }

  override get(id: string, done: (error: unknown, data?: SessionData | null) => void): void {
    const entry = this.#entries.get(id);
    if (entry && entry.endsAt <= this.#now()) this.#entries.delete(id);
    queueMicrotask(() => done(undefined, entry && entry.endsAt > this.#now() ? entry.data : null));
  }

  override set(id: string, data: SessionData, done?: (error?: unknown) => void): void {
    const { expires } = data.cookie;
    const endsAt = expires ? new Date(expires).getTime() : this.#now() + DEFAULT_MS;
    this.#entries.delete(id);
    this.#entries.set(id, { data, endsAt });
    this.#sweep();
    if (this.#entries.size > this.#max) this.#entries.delete(this.#entries.keys().next().value!);
    if (done) queueMicrotask(done);
  }

  override destroy(id: string, done?: (error?: unknown) => void): void {
    this.#entries.delete(id);
    if (done) queueMicrotask(done);
  }

  /** Continues where the previous sweep ended, so that every session is checked in turn. */
  #sweep(): void {
    for (let i = 0; i < SWEPT; i++) {
      const { value, done } = this.#cursor.next();
      if (done) this.#cursor = this.#entries.entries();
      else if (value[1].endsAt <= this.#now()) this.#entries.delete(value[0]);
    }
  }
}
