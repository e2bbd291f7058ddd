import type { ProxyRejection } from '@edge-gateway/core';
import type { DecodedState, StateDecoder } from './decode-state.ts';

/** The result of a state that was applied. */
export interface Applied {
  /** What cannot be compiled. */
  readonly failed: readonly ProxyRejection[];
  /** What other processes cannot compile, which use the last accepted version of it themselves. Default: nothing. */
  readonly later?: Promise<readonly ProxyRejection[]>;
}

/** Serves a state. Throws if nothing of the state can be served. */
export type ApplyState = (state: DecodedState) => Applied;

/**
 * Applies everything that a decoder received. What does not compile is replaced by its last accepted version before any request is served. Returns
 * what was rejected. Throws what `apply` throws; the accepted state is then served on.
 */
export function applyReceived(decoder: StateDecoder, apply: ApplyState): Applied {
  try {
    const state = decoder.build();
    const { failed, later } = apply(state);
    if (failed.length > 0) apply(decoder.build(failed));
    decoder.accept();
    return { failed: [...state.rejections, ...failed], ...(later && { later }) };
  } catch (error) {
    decoder.discard();
    // Without one, nothing is served: a proxy without listeners must not look ready.
    if (decoder.hasAccepted) apply(decoder.build());
    throw error;
  }
}
