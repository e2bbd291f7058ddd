import type { ResourceRef, SnapshotUpstream } from '@edge-gateway/core';
import type { Attributes } from '@opentelemetry/api';
import type { TracedCall } from './span.ts';

/** Where a call goes. */
export interface CallPlace {
  readonly upstream: ResourceRef;
  /** An upstream as it is now. */
  readonly find: ((ref: ResourceRef) => SnapshotUpstream | undefined) | undefined;
}

/** What is told of a request. */
export interface SentRequest {
  readonly method: string;
  readonly path: string;
}

/** Notes where an HTTP request goes; never its query, which may hold a secret. */
export function noteRequest({ span }: TracedCall, { method, path }: SentRequest, place: CallPlace): void {
  const cut = path.indexOf('?');
  const pathname = cut < 0 ? path : path.slice(0, cut);
  span.setAttributes({ 'http.request.method': method, 'url.path': pathname, ...serverOf(place) });
}

/** The address of the only endpoint; of an upstream with several, or with unknown ones, its name. */
export function serverOf({ upstream, find }: CallPlace): Attributes {
  const endpoints = find?.(upstream)?.endpoints ?? [];
  if (endpoints.length !== 1) return { 'server.address': upstream.name };
  return { 'server.address': endpoints[0]!.address, 'server.port': endpoints[0]!.port };
}

/** Flat headers with those that carry the trace, which replace what is there under their names. */
export function carrying(headers: readonly string[], { carried }: TracedCall): readonly string[] {
  if (carried.length === 0) return headers;
  const names = new Set(carried.map(([name]) => name));
  const others: string[] = [];
  for (let i = 0; i < headers.length; i += 2) {
    if (!names.has(headers[i]!.toLowerCase())) others.push(headers[i]!, headers[i + 1]!);
  }
  return [...others, ...carried.flat()];
}
