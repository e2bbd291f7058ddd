import { FORWARDED_HEADERS, isHeaderName } from '@edge-gateway/core';
import { isHopByHop } from './hop-by-hop.ts';
import { cachedByName } from './name-cache.ts';

/** What a header means to a proxy; `other` is passed on. */
type HeaderRole =
  | 'host'
  | 'connection'
  | 'te'
  | 'trailer'
  | 'proxy-authorization'
  | 'hop-by-hop'
  | 'content-length'
  | 'expect'
  | 'content-type'
  | 'underscore'
  | 'forwarded'
  | 'envoy'
  | 'other';

export interface HeaderName {
  readonly lower: string;
  readonly role: HeaderRole;
  /** True for a name that may be sent. */
  readonly isToken: boolean;
  /** True for a header that the forwarder sets itself, or that is omitted. */
  readonly isFraming: boolean;
}

const ROLES = new Set<string>([
  'host',
  'connection',
  'te',
  'trailer',
  'proxy-authorization',
  'content-length',
  'expect',
  'content-type',
] satisfies HeaderRole[]);

/** Returns what is known about a header name, in any case. */
export const headerName: (name: string) => HeaderName = cachedByName((name) => {
  const lower = name.toLowerCase();
  const isFraming = lower === 'content-length' || lower === 'expect' || isHopByHop(lower);
  return { lower, role: roleOf(lower), isToken: isHeaderName(name), isFraming };
});

function roleOf(lower: string): HeaderRole {
  if (ROLES.has(lower)) return lower as HeaderRole;
  if (isHopByHop(lower)) return 'hop-by-hop';
  if (lower.includes('_')) return 'underscore';
  if (FORWARDED_HEADERS.has(lower)) return 'forwarded';
  return lower.startsWith('x-envoy-') ? 'envoy' : 'other';
}
