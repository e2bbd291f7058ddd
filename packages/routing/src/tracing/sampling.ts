import type { TracePercentages } from '@edge-gateway/core/schema';

/** Why a request is traced; the request id carries it (Envoy: the 14th digit of a UUID). */
export type TraceReason = 'client' | 'forced' | 'sampled';

/** Facts that decide whether a request is traced. */
export interface SamplingInput {
  readonly requestId: string;
  readonly hasClientTraceId: boolean;
  /** `x-envoy-force-trace` of an internal caller. */
  readonly isForced: boolean;
  /** Share from 0 to 1 that random sampling draws against. */
  readonly point: number;
}

/** Shares of requests, from 0 to 1. */
export interface Sampling {
  readonly client: number;
  readonly random: number;
  readonly overall: number;
}

const share = (percent: number | undefined): number => Math.min(Math.max(percent ?? 100, 0), 100) / 100;

/** Compiles percentages; those of a route replace those of the listener. */
export function compileSampling(percentages: TracePercentages | undefined): Sampling {
  return {
    client: share(percentages?.clientSamplePercentage),
    random: share(percentages?.randomSamplePercentage),
    overall: share(percentages?.overallSamplePercentage),
  };
}

const REASON_DIGIT = 14;
const REASONS: Readonly<Record<string, TraceReason>> = { '9': 'sampled', a: 'forced', b: 'client' };
const DIGITS: Readonly<Record<TraceReason, string>> = { sampled: '9', forced: 'a', client: 'b' };
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Returns the decision that a request id carries; `undefined` if it has none. */
export function reasonIn(requestId: string): TraceReason | undefined {
  return UUID.test(requestId) ? REASONS[requestId[REASON_DIGIT]!] : undefined;
}

/** Returns the request id with a decision in it, as Envoy writes it; an id that is not a UUID stays the same. */
export function withReason(requestId: string, reason: TraceReason | undefined): string {
  if (!UUID.test(requestId)) return requestId;
  const digit = reason === undefined ? '4' : DIGITS[reason];
  return requestId.slice(0, REASON_DIGIT) + digit + requestId.slice(REASON_DIGIT + 1);
}

/** Returns why a request is traced, by Envoy's rules; `undefined` if it is not. */
export function traceReason(input: SamplingInput, sampling: Sampling): TraceReason | undefined {
  const reason = reasonIn(input.requestId) ?? ownReason(input, sampling);
  return reason !== undefined && input.point < sampling.overall ? reason : undefined;
}

function ownReason({ hasClientTraceId, isForced, point }: SamplingInput, sampling: Sampling): TraceReason | undefined {
  if (hasClientTraceId && point < sampling.client) return 'client';
  if (isForced) return 'forced';
  return point < sampling.random ? 'sampled' : undefined;
}

/** Returns a number from 0 up to 1 that depends only on the id, so that all proxies sample the same requests. */
export function pointOf(requestId: string): number | undefined {
  const digits = requestId.slice(-8);
  return /^[0-9a-f]{8}$/.test(digits) ? Number.parseInt(digits, 16) / 2 ** 32 : undefined;
}
