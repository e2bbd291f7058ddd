import { setTimeout as wait } from 'node:timers/promises';
import type { RetryPolicy } from '@edge-gateway/core';
import { status } from '@grpc/grpc-js';
import { GrpcFailure, type GrpcCall } from './unary.ts';

/** gRPC statuses by the names that `retryOn` has for them. */
const NAMED: Readonly<Record<string, number>> = {
  cancelled: status.CANCELLED,
  'deadline-exceeded': status.DEADLINE_EXCEEDED,
  internal: status.INTERNAL,
  'resource-exhausted': status.RESOURCE_EXHAUSTED,
  unavailable: status.UNAVAILABLE,
};
/** Conditions under which any failure of a connection is tried again. */
const BROKEN = ['5xx', 'gateway-error', 'reset'];

/** How a call is tried again. */
export interface GrpcRetry {
  readonly policy: RetryPolicy | undefined;
  /** It changes nothing. Otherwise it is made again only where the server cannot have got it. */
  readonly repeatable: boolean;
}

/** Makes a call again as the policy says, all within its time. */
export async function retryingGrpc(
  call: GrpcCall,
  { policy, repeatable }: GrpcRetry,
  once: (call: GrpcCall) => Promise<Uint8Array>,
): Promise<Uint8Array> {
  if (!policy) return once(call);
  const over = performance.now() + call.timeoutMs;
  for (let retries = 1; ; retries++) {
    const left = Math.max(over - performance.now(), 0);
    try {
      return await once({ ...call, timeoutMs: Math.min(left, policy.perTryTimeoutMs ?? left) });
    } catch (error) {
      const delay = policy.delayMs(retries);
      const last = retries > policy.numRetries || call.signal.aborted || performance.now() + delay >= over;
      if (last || !isRetriable(error, policy, repeatable ? 'repeatable' : 'unsent')) throw error;
      await wait(delay, undefined, { signal: call.signal });
    }
  }
}

function isRetriable(error: unknown, { conditions }: RetryPolicy, which: 'repeatable' | 'unsent'): boolean {
  if (!(error instanceof GrpcFailure)) return false;
  const broken = error.status === status.UNAVAILABLE && BROKEN.some((condition) => conditions.has(condition));
  const named = Object.keys(NAMED).some((name) => NAMED[name] === error.status && conditions.has(name));
  if (error.unsent) return broken || named || conditions.has('connect-failure');
  return which === 'repeatable' && (broken || named);
}
