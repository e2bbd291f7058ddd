import { isIP } from 'node:net';
import { isHost, type Endpoint, type Route } from '@edge-gateway/core';
import { routingError } from '../../error-codes.ts';
import { hidesDotSegment } from '../match/canonical-path.ts';

/** The Host header sent upstream. */
export type HostRewrite = Readonly<ReturnType<typeof compileHostRewrite>>;

/** Compiles `hostRewrite`, `autoHostRewrite` and `appendXForwardedHost`. */
export function compileHostRewrite(options: Route['options']) {
  const literal = options.hostRewrite || undefined;
  if (literal !== undefined && !isHost(literal)) {
    throw routingError('ERR_ROUTING_OPTION', 'hostRewrite is not a valid host');
  }
  return {
    /** The host itself; `undefined` keeps that of the client, unless `auto`. */
    literal,
    /** Uses the DNS name of the endpoint. */
    auto: literal === undefined && options.autoHostRewrite === true,
    /** Keeps the client's host in `x-forwarded-host` when it is replaced. */
    appendForwardedHost: options.appendXForwardedHost !== false,
  };
}

/** The host for an endpoint: its DNS name; `undefined` for a bare address, which names no host. */
export function hostOfEndpoint(endpoint: Endpoint | undefined): string | undefined {
  return endpoint === undefined || isIP(endpoint.address) !== 0 ? undefined : endpoint.address;
}

/**
 * Replaces the matched part of the path by `prefixRewrite`; the query stays. If both sides of the join have a
 * slash, one is dropped. Returns `undefined` if the rest of the path would form a dot segment, which clients must not create through a
 * rewrite.
 */
export function rewritePrefix(path: string, matched: number, replacement: string): string | undefined {
  const rest = path.slice(matched);
  const joined = replacement.endsWith('/') && rest.startsWith('/') ? replacement + rest.slice(1) : replacement + rest;
  const rewritten = joined.startsWith('/') ? joined : `/${joined}`;
  const cut = rewritten.indexOf('?');
  return hidesDotSegment(cut < 0 ? rewritten : rewritten.slice(0, cut)) ? undefined : rewritten;
}
