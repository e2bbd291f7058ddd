import { GRPC_STATUSES } from '@edge-gateway/core';
import { findHeader } from '../http1/flat-headers.ts';
import type { RequestRecord } from './record.ts';

const UNKNOWN = 2;
/** By HTTP status, for responses without a gRPC status (as Envoy maps them). */
const BY_HTTP: Readonly<Record<number, number>> = {
  200: 0,
  400: 13,
  401: 16,
  403: 7,
  404: 12,
  429: 14,
  502: 14,
  503: 14,
  504: 14,
};

/** Returns the gRPC status of a response: its own, else the one of its HTTP status. */
export function grpcStatusOf({ result }: RequestRecord): number {
  return writtenStatus(result) ?? BY_HTTP[result.status] ?? UNKNOWN;
}

/** Returns the gRPC status of a response of the gateway, by its HTTP status. */
export function grpcStatusOfHttp(status: number): number {
  return status === 200 ? UNKNOWN : (BY_HTTP[status] ?? UNKNOWN);
}

/** Returns a field that a gRPC response has in its trailers, or in its head if it has no body. */
export function grpcField({ responseTrailers, responseHeaders }: RequestRecord['result'], name: string) {
  return findHeader(responseTrailers, name) ?? findHeader(responseHeaders, name);
}

/** Returns the status that a response contains; `undefined` without one. */
export function writtenStatus(result: RequestRecord['result']): number | undefined {
  const written = grpcField(result, 'grpc-status');
  return written !== undefined && /^\d{1,3}$/.test(written) ? Number(written) : undefined;
}

/** Returns the number of a status that is written as a number or by name; -1 for an unknown one. */
export function grpcStatusNumber(written: string): number {
  return /^\d+$/.test(written) ? Number(written) : GRPC_STATUSES.indexOf(written.toUpperCase());
}
