import { delayOf, grpcTypeOf, type Route } from '@edge-gateway/core';
import { findHeader } from '../../http1/flat-headers.ts';

/** Limits of the streams of a route besides its timeout. */
export interface StreamPolicy {
  /** Longest pause of a request and its response in milliseconds; 0 is no limit, `undefined` is that of the listener. */
  readonly idleMs: number | undefined;
  /** Longest duration in milliseconds; 0 is no limit. */
  readonly durationMs: number;
  /** Set if `grpc-timeout` of gRPC requests is the duration. */
  readonly grpc: GrpcTimeout | undefined;
}

interface GrpcTimeout {
  /** 0 is no limit. */
  readonly maxMs: number;
  readonly offsetMs: number;
}

/** The limits of one stream. */
export type StreamLimits = Omit<StreamPolicy, 'grpc'>;

/** Compiles `idleTimeout` and `maxStreamDuration` of a route; `listenerMs` is the duration without one of its own. */
export function compileStreamLimits(options: Route['options'], listenerMs: number): StreamPolicy | undefined {
  const { idleTimeout, maxStreamDuration } = options;
  if (idleTimeout === undefined && maxStreamDuration === undefined && listenerMs === 0) return undefined;
  const own = maxStreamDuration?.maxStreamDuration;
  const max = maxStreamDuration?.grpcTimeoutHeaderMax;
  return {
    idleMs: delayOf(idleTimeout),
    durationMs: delayOf(own) ?? listenerMs,
    grpc:
      max === undefined
        ? undefined
        : { maxMs: delayOf(max), offsetMs: delayOf(maxStreamDuration?.grpcTimeoutHeaderOffset) ?? 0 },
  };
}

/** Returns the limits of a request with these headers; a valid `grpc-timeout` replaces the duration of the route. */
export function streamLimitsOf({ idleMs, durationMs, grpc }: StreamPolicy, headers: readonly string[]): StreamLimits {
  const asked = grpc && isGrpc(headers) ? grpcTimeoutMs(findHeader(headers, 'grpc-timeout')) : undefined;
  if (grpc === undefined || asked === undefined) return { idleMs, durationMs };
  const bounded = grpc.maxMs > 0 && (asked === 0 || asked > grpc.maxMs) ? grpc.maxMs : asked;
  return { idleMs, durationMs: bounded > grpc.offsetMs ? bounded - grpc.offsetMs : bounded };
}

const TIMEOUT = /^(\d{1,8})([HMSmun])$/;
const UNITS: Readonly<Record<string, number>> = { H: 3_600_000, M: 60_000, S: 1000, m: 1, u: 0.001, n: 0.000_001 };

function isGrpc(headers: readonly string[]): boolean {
  return grpcTypeOf(findHeader(headers, 'content-type') ?? '')?.kind === 'grpc';
}

/** Reads `1S` or `100m` in milliseconds, rounded up; `undefined` for anything that gRPC does not define. */
function grpcTimeoutMs(value: string | undefined): number | undefined {
  const [, digits, unit] = TIMEOUT.exec(value ?? '') ?? [];
  return digits === undefined ? undefined : Math.ceil(Number(digits) * UNITS[unit!]!);
}
