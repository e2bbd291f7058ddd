export type { Descriptor, Entry } from './descriptor/descriptor.ts';
export type { Decision, Domain, Limiter, RuleOutcome } from './limiter.ts';
export type { Algorithm, Limit } from './rules/limit.ts';
export type { Charge, Count, Store } from './store/store.ts';
