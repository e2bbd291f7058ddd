export type { Router, RouterOptions } from './router.ts';
export { ERROR_CODES, type RoutingErrorCode } from './error-codes.ts';
export type { Forward, ForwardFailure, ForwardHead, ForwardOutcome } from './forward/forward.ts';
export { forward } from './forward/undici.ts';
export { forwardUpgrade } from './forward/upgrade.ts';
export type { ForwardUpgrade, Upstream, Upstreams, UpgradeOutcome, UpgradeTarget } from './upstream/upstream.ts';
export { createUpstreams } from './upstream/upstreams.ts';
