import type { Concern, Context, Handler, Snapshot } from '@edge-gateway/core';

export interface RouterOptions {
  /** The concerns a route's options are compiled with, in any order: their stages order them. Default: none. */
  readonly concerns?: readonly Concern[];
  readonly context?: Context;
  /** The listener the router itself serves as a handler. Default: the first plain one of the snapshot. */
  readonly listener?: string;
}

/**
 * A handler that serves a snapshot. `apply` swaps pointers: requests under way finish on the old one.
 * `listener(name)` is the handler of one listener; it stays the same function across `apply`.
 */
export interface Router extends Handler {
  apply(snapshot: Snapshot): void;
  listener(name: string): Handler;
  close(): Promise<void>;
}
