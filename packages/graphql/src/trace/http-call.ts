import type { ResourceRef, SnapshotUpstream } from '@edge-gateway/core';
import type { Attributes } from '@opentelemetry/api';
import type { TracedCall } from './span.ts';

/** The target of a call. */
export interface CallPlace {
  readonly upstream: ResourceRef;
  /** Returns the current version of an upstream. */
  readonly find: ((ref: ResourceRef) => SnapshotUpstream | undefined) | undefined;
}

/** What is recorded of a request. */
export interface SentRequest {
  readonly method: string;
  readonly path: string;
}

/** Records the target of an HTTP request without its query, which may contain a secret. */
export function noteRequest({ span }: TracedCall, { method, path }: SentRequest, place: CallPlace): void {
  const cut = path.indexOf('?');
  const pathname = cut < 0 ? path : path.slice(0, cut);
  span.setAttributes({ 'http.request.method': method, 'url.path': pathname, ...serverOf(place) });
}

/** Returns the address of the only endpoint, or the name of an upstream with several or unknown endpoints. */
export function serverOf({ upstream, find }: CallPlace): Attributes {
  const endpoints = find?.(upstream)?.endpoints ?? [];
  if (endpoints.length !== 1) return { 'server.address': upstream.name };
  return { 'server.address': endpoints[0]!.address, 'server.port': endpoints[0]!.port };
}

/** Returns flat headers with those that carry the trace, which replace existing ones. */
export function carrying(headers: readonly string[], { carried }: TracedCall): readonly string[] {
  if (carried.length === 0) return headers;
  const names = new Set(carried.map(([name]) => name));
  const others: string[] = [];
  for (let i = 0; i < headers.length; i += 2) {
    if (!names.has(headers[i]!.toLowerCase())) others.push(headers[i]!, headers[i + 1]!);
  }
  return [...others, ...carried.flat()];
}
