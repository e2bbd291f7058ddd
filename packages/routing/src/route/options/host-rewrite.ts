import { isIP } from 'node:net';
import { isHeaderName, isHost, type Endpoint, type Route } from '@edge-gateway/core';
import { routingError } from '../../error-codes.ts';
import { isPipe } from '../../http1/authority.ts';
import { findHeader, setHeader } from '../../http1/flat-headers.ts';
import type { DownstreamHead } from '../downstream-head.ts';
import type { ManagerSettings } from './manager-settings.ts';
import { compileSubstitution, type RegexSubstitution } from './path-rewrite.ts';

/** The source of the Host header sent upstream, and whether that of the client is kept in `x-forwarded-host`. */
export interface HostRewrite {
  /** Kind of the source; `none` keeps the host of the client. */
  readonly from: 'none' | 'literal' | 'endpoint' | 'header' | 'path';
  /** The literal, or the name of the header. */
  readonly text: string;
  readonly regex: RegexSubstitution | undefined;
  readonly appendForwardedHost: boolean;
}

/**
 * Compiles `hostRewrite`, `autoHostRewrite`, `hostRewriteHeader` and `hostRewritePathRegex` with `appendXForwardedHost`. Throws
 * `ERR_ROUTING_OPTION` for an invalid host or header name.
 */
export function compileHostRewrite(options: Route['options']): HostRewrite {
  const appendForwardedHost = options.appendXForwardedHost !== false;
  const rewrite = (from: HostRewrite['from'], text = '', regex?: RegexSubstitution): HostRewrite => ({
    from,
    text,
    regex,
    appendForwardedHost,
  });
  const { hostRewrite, hostRewriteHeader } = options;
  if (hostRewrite) {
    if (!isHost(hostRewrite)) throw routingError('ERR_ROUTING_OPTION', 'hostRewrite is not a valid host');
    return rewrite('literal', hostRewrite);
  }
  if (hostRewriteHeader) {
    if (!isHeaderName(hostRewriteHeader))
      throw routingError('ERR_ROUTING_OPTION', 'hostRewriteHeader is not a valid header name');
    return rewrite('header', hostRewriteHeader.toLowerCase());
  }
  const regex = compileSubstitution(options.hostRewritePathRegex as Route['options']['regexRewrite']);
  if (regex) return rewrite('path', '', regex);
  return rewrite(options.autoHostRewrite === true ? 'endpoint' : 'none');
}

/** The host for an endpoint: its DNS name; `undefined` for a bare address, which names no host. */
export function hostOfEndpoint(endpoint: Endpoint | undefined): string | undefined {
  if (endpoint === undefined) return undefined;
  const { hostname = endpoint.address } = endpoint;
  return isIP(hostname) !== 0 || isPipe(hostname) ? undefined : hostname;
}

/** Returns the host to send, unchecked; `undefined` keeps that of the client. `endpoint` is the selected one with `endpoint` as source. */
function hostFor({ from, text, regex }: HostRewrite, head: DownstreamHead, endpoint: Endpoint | undefined) {
  switch (from) {
    case 'none':
      return undefined;
    case 'literal':
      return text;
    case 'endpoint':
      return hostOfEndpoint(endpoint);
    case 'header':
      return findHeader(head.headers, text) || undefined;
    case 'path':
      return regex!.pattern.replaceAll(head.pathname, regex!.substitution);
  }
}

/**
 * Replaces the host of the head in place. The former host goes to `x-envoy-original-host` and, unless it is the last value there already, to
 * `x-forwarded-host`. Returns false for an invalid host, which a client may have chosen.
 */
export function rewriteHost(
  head: DownstreamHead,
  rewrite: HostRewrite,
  endpoint: Endpoint | undefined,
  { suppressEnvoyHeaders }: ManagerSettings,
): boolean {
  const host = hostFor(rewrite, head, endpoint);
  if (host === undefined) return true;
  if (!isHost(host)) return false;
  const { headers, authority } = head;
  setHeader(headers, 'host', host);
  if (authority === '') return true;
  if (!suppressEnvoyHeaders) setHeader(headers, 'x-envoy-original-host', authority);
  if (!rewrite.appendForwardedHost) return true;
  const before = findHeader(headers, 'x-forwarded-host') ?? '';
  if (before === '') setHeader(headers, 'x-forwarded-host', authority);
  else if (before.slice(before.lastIndexOf(',') + 1).trim() !== authority)
    setHeader(headers, 'x-forwarded-host', `${before},${authority}`);
  return true;
}
