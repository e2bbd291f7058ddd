import type { Host } from './host.ts';

/** What a request brings to the choice of its host. Without options that need it there is none. */
export interface PickContext {
  /** Hash of the request for consistent hashing, an unsigned 64-bit number. */
  readonly hash?: bigint | undefined;
  /** `address:port` of the host that the client belongs to; it is chosen as long as it is healthy, but for retries. */
  readonly wanted?: string | undefined;
  /** True: no other host is chosen for `wanted`. */
  readonly strict?: boolean | undefined;
  /** Labels that the host must have. */
  readonly metadataMatch?: Readonly<Record<string, string>> | undefined;
  /** Hosts that were tried already; another one is chosen if there is any. */
  readonly excluded?: ReadonlySet<Host>;
  /** Priorities that were tried already (`previousPriorities`); they are not used unless there is no other. */
  readonly excludedPriorities?: ReadonlySet<number> | undefined;
  /** 1 for the first try; consistent hashing chooses another host for each. */
  readonly attempt?: number;
}
