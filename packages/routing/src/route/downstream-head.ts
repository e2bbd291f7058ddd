import { randomUUID } from 'node:crypto';
import { FORWARDED_HEADERS } from '@edge-gateway/core';
import type { RoutingErrorCode } from '../error-codes.ts';
import { clientAddress } from './client-address.ts';
import { acceptsTrailers, isHopByHop, namedByConnection } from '../http1/hop-by-hop.ts';
import { isAuthority } from '../listen/check/check-host.ts';
import { withoutPort } from './options/redirect.ts';
import type { ManagerSettings } from './options/manager-settings.ts';

/** What a request head says about the connection it came on. */
export interface ConnectionFacts {
  readonly directAddress: string;
  readonly localPort: number;
  readonly tls: boolean;
  /** True when the client showed a certificate that was verified. */
  readonly clientVerified: boolean;
}

/** A request head as the gateway takes it in. */
export interface TakenHead {
  /** Flat, lower-case names: end-to-end headers, cleaned of what only the gateway may say, with what it says itself. */
  readonly headers: string[];
  readonly authority: string;
  readonly requestId: string;
  readonly clientAddress: string;
  readonly scheme: 'http' | 'https';
  /** Set when the head is refused. */
  readonly refuse: RoutingErrorCode | undefined;
}

/** Values of `Connection` that name no header, as nearly every client sends them. */
const SELF_SPEAKING: ReadonlySet<string> = new Set(['keep-alive', 'close', 'Keep-Alive', 'Upgrade', 'upgrade']);

/** What was found in the head on the way through. */
interface Found {
  authority: string | undefined;
  connection: string | undefined;
  underscore: boolean;
  trailers: boolean;
  refuse: RoutingErrorCode | undefined;
  forwarded: Map<string, string> | undefined;
}

/**
 * Takes a request head in: removes what belongs to the connection (RFC 9110 §7.6.1), the `x-envoy-*` headers of
 * clients, and forged spellings; keeps `trailers` of `TE`; sets `x-request-id` and `x-forwarded-*` as the settings say. `Proxy-Authorization` stays for those who
 * judge the request; what goes upstream is without it.
 */
export function takeIn(raw: readonly string[], connection: ConnectionFacts, settings: ManagerSettings): TakenHead {
  const found: Found = {
    authority: undefined,
    connection: undefined,
    underscore: false,
    trailers: false,
    refuse: undefined,
    forwarded: undefined,
  };
  const headers = endToEnd(raw, settings, found);
  if (found.connection !== undefined && !SELF_SPEAKING.has(found.connection))
    removeNamed(headers, found.connection, found);
  // Behind what Connection names: it names this one too.
  if (found.trailers) headers.push('te', 'trailers');
  const written = found.authority ?? '';
  if (written !== '' && !isAuthority(written)) found.refuse ??= 'ERR_ROUTING_BAD_HOST';
  const authority = settings.stripAnyHostPort ? withoutPort(written) : written;
  if (authority !== '') headers.unshift('host', authority);
  return { headers, authority, refuse: found.refuse, ...addOwn(headers, found.forwarded, connection, settings) };
}

function endToEnd(raw: readonly string[], settings: ManagerSettings, found: Found): string[] {
  const headers: string[] = [];
  for (let i = 0; i < raw.length; i += 2) {
    const name = raw[i]!.toLowerCase();
    const value = raw[i + 1]!;
    if (name === 'host') {
      if (found.authority !== undefined) found.refuse = 'ERR_ROUTING_BAD_HOST';
      found.authority = value;
    } else if (isHopByHop(name) && name !== 'proxy-authorization') {
      if (name === 'connection')
        found.connection = found.connection === undefined ? value : `${found.connection},${value}`;
      else if (name === 'te' && acceptsTrailers(value)) found.trailers = true;
    } else if (name === 'content-length' || name === 'expect' || name === 'http2-settings') {
      // Framing is the forwarder's, the other two end here.
    } else if (name.includes('_') && !takesUnderscore(name, settings, found)) {
      continue;
    } else if (FORWARDED_HEADERS.has(name)) {
      const forwarded = (found.forwarded ??= new Map());
      const before = forwarded.get(name);
      forwarded.set(name, before === undefined ? value : `${before},${value}`);
    } else if (!name.startsWith('x-envoy-')) {
      headers.push(name, value);
    }
  }
  return headers;
}

/** False for a header to leave out. Spellings that some servers read as one of the gateway's own never pass. */
function takesUnderscore(name: string, settings: ManagerSettings, found: Found): boolean {
  if (settings.underscores === 'reject') found.refuse ??= 'ERR_ROUTING_UNDERSCORE';
  if (settings.underscores === 'drop') return false;
  const dashed = name.replaceAll('_', '-');
  return (
    !FORWARDED_HEADERS.has(dashed) &&
    !dashed.startsWith('x-envoy-') &&
    !isHopByHop(dashed) &&
    dashed !== 'content-length'
  );
}

function removeNamed(headers: string[], connection: string, found: Found): void {
  const names = namedByConnection(connection);
  let kept = 0;
  for (let i = 0; i < headers.length; i += 2) {
    if (names.includes(headers[i]!)) continue;
    headers[kept++] = headers[i]!;
    headers[kept++] = headers[i + 1]!;
  }
  headers.length = kept;
  for (const name of names) found.forwarded?.delete(name);
}

function addOwn(
  headers: string[],
  forwarded: ReadonlyMap<string, string> | undefined,
  connection: ConnectionFacts,
  settings: ManagerSettings,
): Pick<TakenHead, 'requestId' | 'clientAddress' | 'scheme'> {
  const believed = !settings.useRemoteAddress || settings.trustedHops > 0;
  const given = believed ? forwarded : undefined;
  const forwardedFor = forwarded?.get('x-forwarded-for');
  const requestId = requestIdOf(forwarded?.get('x-request-id'), settings);
  const scheme = schemeOf(given?.get('x-forwarded-proto'), connection);
  if (requestId !== '') headers.push('x-request-id', requestId);
  const chain = forwardedChain(forwardedFor, connection, settings);
  if (chain !== undefined) headers.push('x-forwarded-for', chain);
  headers.push('x-forwarded-proto', scheme);
  const host = given?.get('x-forwarded-host');
  if (host !== undefined) headers.push('x-forwarded-host', host);
  const port =
    given?.get('x-forwarded-port') ?? (settings.appendXForwardedPort ? String(connection.localPort) : undefined);
  if (port !== undefined) headers.push('x-forwarded-port', port);
  const certificate = forwarded?.get('x-forwarded-client-cert');
  if (certificate !== undefined && mayPassCertificate(connection, settings)) {
    headers.push('x-forwarded-client-cert', certificate);
  }
  if (settings.via !== '') headers.push('via', settings.via);
  return { requestId, scheme, clientAddress: clientAddress(connection.directAddress, forwardedFor, settings) };
}

/** The id of a client is only kept where it comes from our own side, or is asked for. */
function requestIdOf(given: string | undefined, settings: ManagerSettings): string {
  const edge = settings.useRemoteAddress;
  const keep = given !== undefined && (!edge || settings.preserveExternalRequestId || !settings.generateRequestId);
  if (keep) return given;
  return settings.generateRequestId ? randomUUID() : '';
}

function schemeOf(given: string | undefined, connection: ConnectionFacts): 'http' | 'https' {
  if (given === 'http' || given === 'https') return given;
  return connection.tls ? 'https' : 'http';
}

function forwardedChain(
  given: string | undefined,
  connection: ConnectionFacts,
  settings: ManagerSettings,
): string | undefined {
  if (!settings.useRemoteAddress || settings.skipXffAppend || connection.directAddress === '') return given;
  return given === undefined || given.trim() === '' ? connection.directAddress : `${given},${connection.directAddress}`;
}

function mayPassCertificate(connection: ConnectionFacts, settings: ManagerSettings): boolean {
  if (settings.clientCertificate === 'alwaysForward') return true;
  return settings.clientCertificate === 'forwardOnly' && connection.clientVerified;
}
