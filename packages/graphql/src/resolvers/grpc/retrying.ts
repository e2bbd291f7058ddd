import { wait, type RetryPolicy } from '@edge-gateway/core';
import { status } from '@grpc/grpc-js';
import { GrpcFailure, type GrpcCall } from './unary.ts';

/** gRPC statuses by their names in `retryOn`. */
const NAMED: Readonly<Record<string, number>> = {
  cancelled: status.CANCELLED,
  'deadline-exceeded': status.DEADLINE_EXCEEDED,
  internal: status.INTERNAL,
  'resource-exhausted': status.RESOURCE_EXHAUSTED,
  unavailable: status.UNAVAILABLE,
};
/** Conditions that include every connection failure. */
const BROKEN = ['5xx', 'gateway-error', 'reset'];

export interface GrpcRetry {
  readonly policy: RetryPolicy | undefined;
  /** True if the call changes nothing. Otherwise it is retried only if the server cannot have received it. */
  readonly repeatable: boolean;
}

/** Makes a call with the retries of the policy, within its timeout. */
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
