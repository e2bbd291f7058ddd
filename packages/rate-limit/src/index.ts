import '@edge-gateway/core/supported-node';
export type { LimitBlock } from './concern/limit-block.ts';
export type { LimiterOptions } from './concern/limiter-source.ts';
export { createRateLimit } from './concern/rate-limit.ts';
export { compileBasic, routeScope, type CompiledBasic } from './descriptor/compile-basic.ts';
export { compileConcurrency, type SlotsOf } from './descriptor/compile-concurrency.ts';
export { compileActions, type ActionsOptions, type DescriptorsOf } from './descriptor/compile-actions.ts';
export { GENERIC_KEY, SET_MARKER, type Descriptor, type Entry } from './descriptor/descriptor.ts';
export type { DescribedRequest } from './descriptor/request.ts';
export { embeddedLimiter, type EmbeddedLimiterOptions } from './embedded-limiter.ts';
export { ERROR_CODES } from './error-codes.ts';
export { rateLimit, type RateLimitOptions } from './middleware.ts';
export type {
  ExplainedConcurrency,
  ExplainedDescriptor,
  ExplainedLimits,
  ExplainedRule,
} from './explain/explained-limits.ts';
export { explainLimits, type LimitsToExplain } from './explain/explain-limits.ts';
export { explainLocalLimits, type ExplainedBucket, type ExplainedLocalLimits } from './explain/explain-local.ts';
export { strictestOutcome, type Decision, type Domain, type Limiter, type RuleOutcome } from './limiter.ts';
export { compileRules, type RulesOrigin } from './rules/compile-rules.ts';
export { createRemoteLimiter, type RemoteServer } from './remote/remote-limiter.ts';
export { listenRateLimitGrpc, type RateLimitListenOptions } from './service/grpc-server.ts';
export { listenRateLimitHttp } from './service/http-server.ts';
export {
  createRateLimitService,
  type RateLimitService,
  type RateLimitServiceOptions,
} from './service/rate-limit-service.ts';
export type { RulesState } from './service/served-rules.ts';
export type { WireRequest, WireResponse } from './protocol/messages.ts';
export type { Algorithm, Limit, Unit } from './rules/limit.ts';
export { createMatch, type Match } from './rules/match.ts';
export type { Hit } from './rules/hit.ts';
export type { Rule, RuleSet } from './rules/rule.ts';
export { ruleLines } from './rules/rule-lines.ts';
export { windowAt, type Window } from './rules/window.ts';
export { createMemoryStore, type MemoryStore, type MemoryStoreOptions } from './store/memory.ts';
export { createRedisStore, type RedisStoreOptions } from './store/redis.ts';
export {
  countBatch,
  createRelayedStore,
  type ChargedBatch,
  type CountedBatch,
  type RelayedStore,
  type RelayedStoreOptions,
} from './store/relayed.ts';
export type { Charge, Count, Store } from './store/store.ts';
export { createInFlight, type InFlight, type Slot } from './store/in-flight.ts';
