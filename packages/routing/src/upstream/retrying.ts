import {
  clusterName,
  GatewayError,
  type CallRetry,
  type CallUpstream,
  type ResourceRef,
  type UpstreamResponse,
  type UpstreamCall,
  wait,
} from '@edge-gateway/core';
import { Cluster } from './cluster.ts';
import type { Upstreams } from './upstream.ts';

type Once = (...call: Parameters<CallUpstream>) => Promise<UpstreamResponse>;

/** The upstream did not receive the request. */
const NOT_SENT = new Set(['ERR_ROUTING_UPSTREAM_CONNECT', 'ERR_ROUTING_UPSTREAM_CONNECT_TIMEOUT']);
/** The upstream may have received it. */
const BROKEN = new Set(['ERR_ROUTING_UPSTREAM_RESET', 'ERR_ROUTING_UPSTREAM_PROTOCOL', 'ERR_ROUTING_UPSTREAM_TIMEOUT']);

/** Retries calls according to their policy: each attempt at the next endpoint, all within the timeout of the call. */
export function retrying(upstreams: Upstreams, once: Once): Once {
  const repeat = async (ref: ResourceRef, call: UpstreamCall, retry: CallRetry): Promise<UpstreamResponse> => {
    const { signal, timeoutMs } = call;
    const { policy } = retry;
    const cluster = upstreams.get(clusterName(ref));
    const breakers = cluster instanceof Cluster ? cluster.breakers : undefined;
    const over = performance.now() + timeoutMs;
    const attempt = async (): Promise<Outcome> => {
      const left = Math.max(over - performance.now(), 0);
      const made = once(ref, { ...call, timeoutMs: Math.min(left, policy.perTryTimeoutMs ?? left) });
      return (await Promise.allSettled([made]))[0];
    };
    let outcome = await attempt();
    for (let retries = 1; retries <= policy.numRetries && isRetriable(outcome, retry); retries++) {
      const delay = policy.delayMs(retries);
      if (performance.now() + delay >= over || !breakers?.beginRetry()) break;
      try {
        await wait(delay, undefined, { signal });
        outcome = await attempt();
      } finally {
        breakers.endRetry();
      }
    }
    if (outcome.status === 'rejected') throw outcome.reason;
    return outcome.value;
  };

  return (ref, call) => (call.retry ? repeat(ref, call, call.retry) : once(ref, call));
}

type Outcome = PromiseSettledResult<UpstreamResponse>;

function isRetriable(outcome: Outcome, { policy, repeatable }: NonNullable<UpstreamCall['retry']>): boolean {
  if (outcome.status === 'fulfilled') {
    const { status, headers } = outcome.value;
    const retriable = policy.onResponse(status, (name) => headers[name]);
    return retriable && (repeatable || policy.namesStatus(status) || headers['x-envoy-ratelimited'] !== undefined);
  }
  const code = outcome.reason instanceof GatewayError ? outcome.reason.code : '';
  if (NOT_SENT.has(code)) return policy.onReset(false);
  return repeatable && BROKEN.has(code) && policy.onReset(true);
}
