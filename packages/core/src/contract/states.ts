/** How long an unheld state is kept for a configuration that returns, in milliseconds. */
const KEPT_MS = 600_000;

/** Maximum number of unheld states. */
const MAX_KEPT = 256;

/** A holder of states: one compiled part of a configuration. */
export interface StateHold {
  /** Returns the value of a key, created at the first call, and holds it. */
  state<T>(key: string, create: () => T): T;
  /** Releases all states. Unheld states are kept for ten minutes and returned to new holders until then. */
  release(): void;
}

interface Entry {
  readonly value: unknown;
  holders: number;
}

/** Creates an empty set of values by key, each created once while it is kept. */
export function createStates(now: () => number) {
  const entries = new Map<string, Entry>();
  /** Keys without a holder and the time of their release; the oldest first. */
  const left = new Map<string, number>();

  function take<T>(key: string, create: () => T): T {
    const known = entries.get(key);
    if (known) {
      known.holders++;
      left.delete(key);
      return known.value as T;
    }
    const value = create();
    entries.set(key, { value, holders: 1 });
    return value;
  }

  function leave(key: string): void {
    const entry = entries.get(key)!;
    entry.holders--;
    if (entry.holders === 0) left.set(key, now());
  }

  function sweep(): void {
    const oldest = now() - KEPT_MS;
    for (const [key, since] of left) {
      if (since > oldest && left.size <= MAX_KEPT) break;
      left.delete(key);
      entries.delete(key);
    }
  }

  const shared: SharedStates = { entries, take, leave, sweep };
  const hold = (): StateHold => new Hold(shared);
  const forever = hold();
  return {
    /** Returns the value of a key, created at the first call and never released. */
    state: forever.state.bind(forever),
    hold,
    /** Returns the number of states. */
    get size(): number {
      return entries.size;
    },
  };
}

/** The states of all holds. */
interface SharedStates {
  readonly entries: ReadonlyMap<string, Entry>;
  take<T>(key: string, create: () => T): T;
  leave(key: string): void;
  sweep(): void;
}

/** A class, because there is one hold for each virtual host and most hold nothing. */
class Hold implements StateHold {
  readonly #shared: SharedStates;
  #held: Set<string> | undefined;
  #released = false;

  constructor(shared: SharedStates) {
    this.#shared = shared;
  }

  state<T>(key: string, create: () => T): T {
    const { entries, take, leave } = this.#shared;
    if (this.#held?.has(key)) return entries.get(key)!.value as T;
    const value = take(key, create);
    if (this.#released) leave(key);
    else (this.#held ??= new Set()).add(key);
    return value;
  }

  release(): void {
    this.#released = true;
    for (const key of this.#held ?? []) this.#shared.leave(key);
    this.#held = undefined;
    this.#shared.sweep();
  }
}
