import type { CounterGroup } from '../store/store.ts';
import type { Limit } from './limit.ts';

/** A rule with a limit, or one that only a limit in a descriptor applies to. */
export interface Rule extends CounterGroup {
  /** As in `/rlconfig`, e.g. `custom.generic_key_orders.remote_address`; two rules may have the same name. */
  readonly name: string;
  readonly limit: Limit | undefined;
  readonly weight: number;
  readonly alwaysApply: boolean;
  /** True for rules of sets, which weights do not concern. */
  readonly isSet: boolean;
  /** True if it only counts; it does not suppress other rules. */
  readonly isShadow: boolean;
}

/** A key of a rule; without a value each value has its own counter. */
export interface RuleEntry {
  readonly key: string;
  readonly value: string | undefined;
}

/** The children of a rule tree with one key. */
export interface Branch {
  readonly byValue: Map<string, TreeNode>;
  /** For all values without an own node. */
  any: TreeNode | undefined;
}

/** The children of a node, by key. */
export type Level = Map<string, Branch>;

/** A node of the tree. */
export interface TreeNode {
  readonly rule: Rule;
  readonly children: Level;
}

/** A rule for sets. */
export interface SetRule {
  readonly rule: Rule;
  readonly entries: readonly RuleEntry[];
}

/** Compiled rules of one source: the Settings, a RateLimitConfig, or generated ones. */
export interface RuleSet {
  /** `<namespace>.<name>` of a RateLimitConfig. Its descriptors start with the entry `generic_key` of this value. */
  readonly resource: string | undefined;
  readonly tree: Level;
  readonly sets: readonly SetRule[];
  /** All rules, in the order of the source. */
  readonly rules: readonly Rule[];
}
