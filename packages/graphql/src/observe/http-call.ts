import type { ResourceRef, SnapshotUpstream, UpstreamCall } from '@edge-gateway/core';
import type { Attributes, TracedCall } from './span.ts';

export interface CallPlace {
  readonly upstream: ResourceRef;
  readonly find: ((ref: ResourceRef) => SnapshotUpstream | undefined) | undefined;
}

/** Records the target without its query, which may contain a secret, and adds the headers that carry the trace. */
export function recorded(call: UpstreamCall, trace: TracedCall | undefined, place: CallPlace): UpstreamCall {
  if (!trace) return call;
  const { method, path, headers = [] } = call;
  const cut = path.indexOf('?');
  const pathname = cut < 0 ? path : path.slice(0, cut);
  trace.tag({ 'http.request.method': method, 'url.path': pathname, ...serverOf(place) });
  return { ...call, headers: withTraceHeaders(headers, trace) };
}

/** Returns the address of the only endpoint, or the name of an upstream with several or unknown endpoints. */
export function serverOf({ upstream, find }: CallPlace): Attributes {
  const endpoints = find?.(upstream)?.endpoints ?? [];
  if (endpoints.length !== 1) return { 'server.address': upstream.name };
  return { 'server.address': endpoints[0]!.address, 'server.port': endpoints[0]!.port };
}

/** Returns flat headers with those that carry the trace, which replace existing ones. */
function withTraceHeaders(headers: readonly string[], { carried }: TracedCall): readonly string[] {
  if (carried.length === 0) return headers;
  const names = new Set(carried.map(([name]) => name));
  const others: string[] = [];
  for (let i = 0; i < headers.length; i += 2) {
    if (!names.has(headers[i]!.toLowerCase())) others.push(headers[i]!, headers[i + 1]!);
  }
  return [...others, ...carried.flat()];
}
