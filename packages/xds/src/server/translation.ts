import { createStateEncoder, type ProxyState, type StateEncoder } from '../resources/encode-state.ts';
import type { ResourceSet } from '../resources/resource-set.ts';
import { RESOURCE_TYPES, TYPE } from '../resources/resource-type.ts';

/** Translates states to resources for one kind of data plane. */
export interface Translation {
  /** Its types, in the order in which they are sent: referenced types come first. Removals are sent in reverse order. */
  readonly types: readonly string[];
  /** The type that completes an update: it is sent after the removals. */
  readonly completion?: string;
  /** Types whose changes need not wait until others are acknowledged. */
  readonly independent?: ReadonlySet<string>;
  /** Types with secrets, which are sent over TLS or loopback only. */
  readonly confidential: ReadonlySet<string>;
  /** Returns what encodes the states of one proxy. */
  create(): StateEncoder;
}

/** The resources of Node proxies. */
export const NODE_TRANSLATION: Translation = {
  types: RESOURCE_TYPES,
  completion: TYPE.snapshot,
  confidential: new Set([TYPE.secret]),
  create: createStateEncoder,
};

/** How long the parts of a state are encoded before other work gets its turn. */
const TURN_MS = 10;

/** The resources of one translation. */
interface Translated {
  readonly encoder: StateEncoder;
  set: ResourceSet | undefined;
  /** True while the first state is encoded in turns. */
  isPreparing: boolean;
}

/**
 * The newest resources of one proxy, for all of its nodes. A translation runs when a node first asks for one of its types: thousands of parts are
 * then encoded in turns, and `onPrepared` is called when they are.
 */
export class ProxyResources {
  #state: ProxyState | undefined;
  #isPartial = false;
  readonly #onPrepared: () => void;
  readonly #translated = new Map<Translation, Translated>();

  constructor(onPrepared: () => void = () => {}) {
    this.#onPrepared = onPrepared;
  }

  /** True if the state lacks what nodes may have received from another control plane. */
  get isPartial(): boolean {
    return this.#isPartial;
  }

  /** Replaces the state. */
  update(state: ProxyState, isPartial = false): void {
    this.#state = state;
    this.#isPartial = isPartial;
    for (const known of this.#translated.values()) known.set = undefined;
  }

  /** Returns the newest resources; `undefined` before the first state, and while it is encoded. */
  of(translation: Translation): ResourceSet | undefined {
    if (!this.#state) return undefined;
    const known = this.#translated.get(translation) ?? this.#begin(translation, this.#state);
    if (known.isPreparing) return undefined;
    known.set ??= known.encoder.encode(this.#state);
    return known.set;
  }

  #begin(translation: Translation, state: ProxyState): Translated {
    const encoder = translation.create();
    const steps = encoder.prepare?.(state)[Symbol.iterator]();
    const known: Translated = { encoder, set: undefined, isPreparing: steps !== undefined && !isDone(steps) };
    this.#translated.set(translation, known);
    if (known.isPreparing) setImmediate(() => this.#continue(known, steps!));
    return known;
  }

  #continue(known: Translated, steps: Iterator<void>): void {
    if (!isDone(steps)) return void setImmediate(() => this.#continue(known, steps));
    known.isPreparing = false;
    this.#onPrepared();
  }
}

/** Takes steps for one turn. Returns true if none is left. A step that fails ends them: `encode` then reports the failure. */
function isDone(steps: Iterator<void>): boolean {
  const end = performance.now() + TURN_MS;
  try {
    while (performance.now() < end) if (steps.next().done) return true;
  } catch {
    return true;
  }
  return false;
}
