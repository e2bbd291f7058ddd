import { runSteps, type ProxyRejection, type Steps } from '@edge-gateway/core';
import type { DecodedState, StateDecoder } from './decode-state.ts';

/** The result of a state that was applied. */
export interface Applied {
  /** The parts that cannot be compiled. */
  readonly failed: readonly ProxyRejection[];
  /**
   * Parts that other processes cannot compile; these processes keep the last accepted version themselves. Rejects if they cannot apply
   * the state at all. Default: none.
   */
  readonly later?: Promise<readonly ProxyRejection[]>;
}

/** Serves a state, in steps between which the previous one is served. Throws if nothing of the state can be served. */
export type ApplyState = (state: DecodedState) => Steps<Applied>;

/**
 * Applies everything that a decoder received. Parts that do not compile are replaced by their last accepted version before any request is
 * served. Returns the rejections. If `apply` throws, rethrows the error; the accepted state stays in use.
 */
export function* applyReceived(decoder: StateDecoder, apply: ApplyState): Steps<Applied> {
  try {
    const state = decoder.build();
    const { failed, later } = yield* apply(state);
    if (failed.length > 0) runSteps(apply(decoder.build(failed)));
    decoder.accept();
    return { failed: [...state.rejections, ...failed], ...(later && { later }) };
  } catch (error) {
    decoder.discard();
    // Without one, nothing is served: a proxy without listeners must not look ready.
    if (decoder.hasAccepted) runSteps(apply(decoder.build()));
    throw error;
  }
}
