import { canonicalName, isIdentityHeader } from '@edge-gateway/core';
import { hasHeader } from './flat-headers.ts';

/** How trailers are forwarded. */
export interface TrailerRules {
  /** True drops fields with an underscore in their name. */
  readonly dropsUnderscores: boolean;
  /** True if those of the response are for a filter, and no others are forwarded. */
  readonly forFilter?: boolean;
}

/** The rules for trailers that a filter of the response reads. */
export const FILTER_TRAILERS: TrailerRules = { dropsUnderscores: true, forFilter: true };

/** Trailer fields that would frame, route or identify a request (RFC 9110 §6.5.1). */
const FORBIDDEN =
  /^(?:authorization|connection|content-.*|cookie|expect|forwarded|host|http2-settings|keep-alive|max-forwards|proxy-.*|set-cookie|te|trailer|transfer-encoding|upgrade|via|x-envoy-.*|x-forwarded-.*|x-real-ip|x-request-id)$/;
/** Fields that control a response, which recipients must know before its body. */
const RESPONSE_CONTROL =
  /^(?:access-control-.*|age|cache-control|clear-site-data|date|expires|location|retry-after|strict-transport-security|vary|warning|www-authenticate)$/;

const dashed = (name: string): string => name.toLowerCase().replaceAll('_', '-');

/** Returns the first field of a flat list that no request may have after its body. */
export function forbiddenTrailer(flat: readonly string[]): string | undefined {
  return flat.find((name, i) => i % 2 === 0 && FORBIDDEN.test(dashed(name)));
}

function isForwardable(name: string, { dropsUnderscores }: TrailerRules): boolean {
  const canonical = dashed(name);
  if (dropsUnderscores && name.includes('_')) return false;
  return !FORBIDDEN.test(canonical) && !RESPONSE_CONTROL.test(canonical);
}

/**
 * Returns the fields of a flat list that may follow a message with these headers: none that recipients must know before the body,
 * and none that could be merged into a header that the gateway checked or set.
 */
export function forwardableTrailers(
  flat: readonly string[],
  headers: readonly string[],
  rules: TrailerRules,
): readonly string[] {
  if (flat.length === 0) return flat;
  const kept: string[] = [];
  for (let i = 0; i < flat.length; i += 2) {
    const name = flat[i]!;
    if (isForwardable(name, rules) && !hasHeader(headers, dashed(name)) && !hasHeader(headers, name.toLowerCase()))
      kept.push(name, flat[i + 1]!);
  }
  return kept;
}

/**
 * Returns the trailers of a request without those that a server could take for the identity of the client: by their name, or because the
 * gateway sets headers of these names. The gateway may have removed such a header, so that no header repeats the field.
 */
export function withoutIdentity(
  flat: readonly string[],
  guarded: readonly ReadonlySet<string>[] = [],
): readonly string[] {
  const kept: string[] = [];
  for (let i = 0; i < flat.length; i += 2) {
    const name = canonicalName(flat[i]!);
    if (!isIdentityHeader(name) && !guarded.some((names) => names.has(name))) kept.push(flat[i]!, flat[i + 1]!);
  }
  return kept;
}

/** Returns a `Trailer` header with the fields that may be forwarded; empty if there are none. */
export function announcedTrailers(value: string, rules: TrailerRules): string {
  const names = value.split(',').map((name) => name.trim());
  return names.filter((name) => name !== '' && isForwardable(name, rules)).join(',');
}

/** Returns the lines of fields after the last chunk; names in lower case. */
export function trailerLines(flat: readonly string[]): string {
  let lines = '';
  for (let i = 0; i < flat.length; i += 2) lines += `${flat[i]!.toLowerCase()}: ${flat[i + 1]!}\r\n`;
  return lines;
}
