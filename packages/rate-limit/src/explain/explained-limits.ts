import type { LimitStage } from '../concern/limit-option-sets.ts';
import type { Domain } from '../limiter.ts';
import type { Limit } from '../rules/limit.ts';

/** The limits of a route at one stage, for one request. Plain data. */
export interface ExplainedLimits {
  readonly stage: LimitStage;
  /** What the request is counted under, or why it is not. */
  readonly descriptors: readonly ExplainedDescriptor[];
  readonly rules: readonly ExplainedRule[];
  readonly concurrency: readonly ExplainedConcurrency[];
  /** Why the limits cannot be compiled; the route then responds with 500. */
  readonly failure?: string;
}

/** A descriptor of a request. */
export interface ExplainedDescriptor {
  readonly domain: Domain;
  /** `<namespace>.<name>` of the RateLimitConfig that contains the actions. */
  readonly resource?: string;
  readonly isSet: boolean;
  /** Empty if it is dropped. Secrets are redacted. */
  readonly entries: readonly { readonly key: string; readonly value: string }[];
  /** Why the request has no such descriptor. */
  readonly dropped?: string;
  readonly cost?: number;
  /** The limit from metadata, which replaces those of rules. */
  readonly limit?: Limit;
}

/** A rule that a descriptor hits. */
export interface ExplainedRule {
  /** As in `/rlconfig`. */
  readonly rule: string;
  readonly limit: Limit;
  readonly weight: number;
  readonly alwaysApply: boolean;
  readonly isShadow: boolean;
  readonly cost: number;
  /** False if a rule with a higher weight replaces it: the request is not counted. */
  readonly applies: boolean;
  /** Key of the counter; secrets and long values are hashed. */
  readonly counter: string;
}

/** A limit of requests in flight. */
export interface ExplainedConcurrency {
  /** Key of the counter; secrets and long values are hashed. */
  readonly counter: string;
  readonly maxInFlight: number;
}
