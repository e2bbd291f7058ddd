import type { ProxyRejection } from '@edge-gateway/core';
import type { DecodedState, StateDecoder } from '../resources/decode-state.ts';

/** Serves a state. Returns what cannot be compiled; throws if nothing of the state can be served. */
export type ApplyState = (state: DecodedState) => readonly ProxyRejection[];

/**
 * Applies everything that a decoder received. What does not compile is replaced by its last accepted version before any request is served. Returns
 * what was rejected. Throws what `apply` throws; the accepted state is then served on.
 */
export function applyReceived(decoder: StateDecoder, apply: ApplyState): readonly ProxyRejection[] {
  try {
    const state = decoder.build();
    const failed = apply(state);
    if (failed.length > 0) apply(decoder.build(failed));
    decoder.accept();
    return [...state.rejections, ...failed];
  } catch (error) {
    decoder.discard();
    apply(decoder.build());
    throw error;
  }
}
