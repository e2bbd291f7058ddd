import type { Limit } from '../rules/limit.ts';

/** One entry of a descriptor. */
export interface Entry {
  readonly key: string;
  readonly value: string;
  /** True if the value is a secret, which must not be part of the key of a counter. */
  readonly isSecret?: boolean | undefined;
}

/** What a request is counted under: a tuple of entries, or a set of them. */
export interface Descriptor {
  /** For the domain `vendor.io`, the first entry is `generic_key = <namespace>.<name>` of the resource, in sets as well. */
  readonly entries: readonly Entry[];
  /** True if the entries are a set, in any order. */
  readonly isSet: boolean;
  /** Replaces the limit of the rules that match. */
  readonly limit?: Limit | undefined;
  /** How much the request costs, an integer of 0 or more. Default 1. */
  readonly cost?: number | undefined;
}

/** Key of entries with a fixed value; also of the entry that names a resource. */
export const GENERIC_KEY = 'generic_key';

/** Value of the entry that marks a set in the protocol of rate limit servers. */
export const SET_MARKER = 'vendor.setDescriptor.uniqueValue';
