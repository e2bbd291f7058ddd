import '@edge-gateway/core/supported-node';
export { explainRequest } from './explain/explain.ts';
export type {
  Admission,
  AppliedOption,
  OptionEffect,
  ExplainedDestination,
  ExplainedHost,
  ExplainedReply,
  Explanation,
  ListenerVerdict,
  MatcherVerdict,
  Mismatch,
  Outcome,
  ReachedRoute,
  RequestToExplain,
  RoutePlace,
  RouteVerdict,
} from './explain/explanation.ts';
export {
  createRecordings,
  type Recordings,
  type RecordingSource,
  type RecordingsOptions,
} from './tracing/recordings.ts';
export { createRouter, type Router, type RouterOptions } from './router.ts';
export type { CompileFailure } from './serve/listener-table.ts';
export { ERROR_CODES, type RoutingErrorCode } from './error-codes.ts';
export type {
  Forward,
  ForwardHead,
  ForwardOutcome,
  ForwardUpgrade,
  UpgradeOutcome,
  UpgradeTarget,
} from './forward/forward.ts';
export type { AttemptObserver, AttemptOutcome } from './upstream/attempt.ts';
export type { FailureReason, ForwardFailure } from './upstream/failure.ts';
export { DEFAULT_FORWARD_TIMEOUT_MS, forwardTo, type ForwardToOptions } from './forward/forward-to.ts';
export { forward } from './forward/forward-request.ts';
export { forwardUpgrade } from './forward/upgrade/forward-upgrade.ts';
export type { Upstream, Upstreams } from './upstream/upstream.ts';
export type { Host } from './upstream/hosts/host.ts';
export type { PickContext } from './upstream/hosts/pick-context.ts';
export { createUpstreamCaller } from './upstream/call.ts';
export { createUpstreams } from './upstream/upstreams.ts';
export { checkRequest, type RequestHead, type RequestRules } from './check/check-request.ts';
export {
  createListeners,
  type ListenAddress,
  type ListenResult,
  type Listeners,
  type ListenersOptions,
} from './listen/listeners.ts';
export { DEFAULT_LIMITS, type ListenLimits } from './listen/limits.ts';
export type { Refusal } from './check/refusal.ts';
export {
  earlyTransformationConcern,
  postRoutingTransformationConcern,
  regularTransformationConcern,
  transform,
} from './transform/concern.ts';
export { compress } from './compress/compress.ts';
export { dlp } from './dlp/dlp.ts';
export { buffer } from './route/options/buffer.ts';
export { cors } from './route/options/cors.ts';
export { csrf } from './route/options/csrf.ts';
export { transcoderIn, type PlacedTranscoder } from './transcode/placed-transcoder.ts';
