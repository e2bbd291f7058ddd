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

/** The newest resources of one proxy, for all of its nodes. A translation runs when a node first asks for one of its types. */
export class ProxyResources {
  #state: ProxyState | undefined;
  readonly #encoders = new Map<Translation, { readonly encoder: StateEncoder; set: ResourceSet | undefined }>();

  /** Replaces the state. */
  update(state: ProxyState): void {
    this.#state = state;
    for (const known of this.#encoders.values()) known.set = undefined;
  }

  /** Returns the newest resources; `undefined` before the first state. */
  of(translation: Translation): ResourceSet | undefined {
    if (!this.#state) return undefined;
    let known = this.#encoders.get(translation);
    if (!known) this.#encoders.set(translation, (known = { encoder: translation.create(), set: undefined }));
    known.set ??= known.encoder.encode(this.#state);
    return known.set;
  }
}
