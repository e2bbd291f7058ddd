import type { Limit } from '../rules/limit.ts';

/** One entry of a descriptor. */
export interface Entry {
  readonly key: string;
  readonly value: string;
}

/** What a request is counted under: a tuple of entries, or a set of them. */
export interface Descriptor {
  readonly entries: readonly Entry[];
  /** True if the entries are a set, in any order. */
  readonly isSet: boolean;
  /** Replaces the limit of the rules that match. */
  readonly limit?: Limit | undefined;
  /** How much the request costs. Default 1. */
  readonly cost?: number | undefined;
}
