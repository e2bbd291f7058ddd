import { setTimeout as wait } from 'node:timers/promises';
import {
  clusterName,
  GatewayError,
  type CallRetry,
  type CallUpstream,
  type ResourceRef,
  type UpstreamAnswer,
  type UpstreamCall,
} from '@edge-gateway/core';
import { Cluster } from './cluster.ts';
import type { Upstreams } from './upstream.ts';

type Once = (...call: Parameters<CallUpstream>) => Promise<UpstreamAnswer>;

const DEFAULT_MAX_RETRIES = 3;
/** The upstream did not receive the request. */
const NOT_SENT = new Set(['ERR_ROUTING_UPSTREAM_CONNECT', 'ERR_ROUTING_UPSTREAM_CONNECT_TIMEOUT']);
/** The upstream may have received it. */
const BROKEN = new Set(['ERR_ROUTING_UPSTREAM_RESET', 'ERR_ROUTING_UPSTREAM_PROTOCOL', 'ERR_ROUTING_UPSTREAM_TIMEOUT']);

/** Retries calls according to their policy: each attempt at the next endpoint, all within the timeout of the call. */
export function retrying(upstreams: Upstreams, once: Once): Once {
  const inProgress = new Map<string, number>();

  /** False if too many retries are in progress. */
  function begin(name: string): boolean {
    const cluster = upstreams.get(name);
    const active = inProgress.get(name) ?? 0;
    if (active >= (cluster?.snapshot.spec.circuitBreakers?.maxRetries ?? DEFAULT_MAX_RETRIES)) return false;
    inProgress.set(name, active + 1);
    if (cluster instanceof Cluster) cluster.stats.rqRetry.value++;
    return true;
  }

  function end(name: string): void {
    const left = inProgress.get(name)! - 1;
    if (left > 0) inProgress.set(name, left);
    else inProgress.delete(name);
  }

  const repeat = async (ref: ResourceRef, call: UpstreamCall, retry: CallRetry): Promise<UpstreamAnswer> => {
    const { signal, timeoutMs } = call;
    const { policy } = retry;
    const name = clusterName(ref);
    const over = performance.now() + timeoutMs;
    const attempt = async (): Promise<Outcome> => {
      const left = Math.max(over - performance.now(), 0);
      const made = once(ref, { ...call, timeoutMs: Math.min(left, policy.perTryTimeoutMs ?? left) });
      return (await Promise.allSettled([made]))[0];
    };
    let outcome = await attempt();
    for (let retries = 1; retries <= policy.numRetries && isRetriable(outcome, retry); retries++) {
      const delay = policy.delayMs(retries);
      if (signal?.aborted || performance.now() + delay >= over || !begin(name)) break;
      try {
        await wait(delay, undefined, { signal });
        outcome = await attempt();
      } finally {
        end(name);
      }
    }
    if (outcome.status === 'rejected') throw outcome.reason;
    return outcome.value;
  };

  return (ref, call) => (call.retry ? repeat(ref, call, call.retry) : once(ref, call));
}

type Outcome = PromiseSettledResult<UpstreamAnswer>;

function isRetriable(outcome: Outcome, { policy, repeatable }: NonNullable<UpstreamCall['retry']>): boolean {
  const { conditions } = policy;
  if (outcome.status === 'fulfilled') {
    const { status, headers } = outcome.value;
    if (headers['x-envoy-ratelimited'] !== undefined) return conditions.has('envoy-ratelimited');
    return repeatable ? policy.onStatus(status) : policy.namesStatus(status);
  }
  const code = outcome.reason instanceof GatewayError ? outcome.reason.code : '';
  const anyFailure = conditions.has('5xx') || conditions.has('gateway-error') || conditions.has('reset');
  if (NOT_SENT.has(code)) return anyFailure || conditions.has('connect-failure');
  return repeatable && anyFailure && BROKEN.has(code);
}
