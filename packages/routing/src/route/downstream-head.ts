import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import { grpcTypeOf, isHost, plainAddress, type Facts, type GrpcKind } from '@edge-gateway/core';
import type { RoutingErrorCode } from '../error-codes.ts';
import type { RecordedConnection, RecordedHead } from '../format/record.ts';
import { removeWhere } from '../http1/flat-headers.ts';
import { headerName } from '../http1/header-name.ts';
import { acceptsTrailers, namedByConnection } from '../http1/hop-by-hop.ts';
import { announcedTrailers } from '../http1/trailers.ts';
import { forwardedCertificate } from './options/client-certificate.ts';
import { isInternalRequest } from './options/internal-address.ts';
import { withoutPort } from './options/redirect.ts';
import type { ManagerSettings } from './options/manager-settings.ts';

/** The parts of an `IncomingMessage` that routing reads. */
export interface IncomingHead extends Pick<IncomingMessage, 'method' | 'url'> {
  readonly rawHeaders: readonly string[];
}

/** The head of a request after sanitizing, concerns and rewrites. */
export class DownstreamHead implements RecordedHead {
  method: string;
  /** Canonical once a route is searched; once the request is sent, the path that the upstream gets. */
  path: string;
  pathname = '';
  originalPath: string;
  /** Flat, lower-case names: end-to-end headers without those that only the gateway may set, then those it sets. */
  headers: string[] = [];
  authority = '';
  requestId = '';
  clientAddress = '';
  scheme: 'http' | 'https' = 'http';
  /** Set for a request of gRPC or gRPC-Web. */
  grpc: GrpcKind | undefined;
  /** Set if the head must be rejected. */
  rejected: RoutingErrorCode | undefined;

  constructor(method: string, target: string) {
    this.method = method;
    this.path = this.originalPath = target;
  }

  setPath(path: string): void {
    const cut = path.indexOf('?');
    this.path = path;
    this.pathname = cut < 0 ? path : path.slice(0, cut);
  }

  applyFacts(facts: Facts): void {
    if (facts.path !== this.path) this.setPath(facts.path);
    this.method = facts.method;
    if (facts.requestChanges.length > 0) this.authority = facts.header('host') ?? this.authority;
  }

  copy(): DownstreamHead {
    return Object.assign(new DownstreamHead(this.method, this.path), this, { headers: [...this.headers] });
  }
}

const GRPC_PREFIX = 'application/grpc';

/** Values of `Connection` that name no header, as nearly every client sends them. */
const PLAIN_CONNECTION_VALUES: ReadonlySet<string> = new Set([
  'keep-alive',
  'close',
  'Keep-Alive',
  'Upgrade',
  'upgrade',
]);

/** Values found while the headers were read. */
class Found {
  authority: string | undefined;
  connection: string | undefined;
  trailers = false;
  /** Names that `Trailer` announces, if trailers are forwarded. */
  announced: string | undefined;
  grpc: GrpcKind | undefined;
  refuse: RoutingErrorCode | undefined;
  forwarded: Map<string, string> | undefined;
  /** The `x-envoy-*` headers, if internal callers are configured and the request has any. */
  envoy: string[] | undefined;
}

/**
 * Returns the head that routing sees: without what belongs to the connection (RFC 9110 §7.6.1), the `x-envoy-*` headers
 * of clients and forged spellings; with `trailers` of `TE`, and `x-request-id` and `x-forwarded-*` according to the settings.
 * `Proxy-Authorization` stays for policies; it is not sent upstream.
 */
export function sanitizeRequestHead(
  incoming: IncomingHead,
  connection: RecordedConnection,
  settings: ManagerSettings,
  newRequestId: () => string,
): DownstreamHead {
  const head = new DownstreamHead(incoming.method ?? 'GET', incoming.url ?? '/');
  const found = new Found();
  // A placeholder for Host, whose value is known later.
  const headers = (head.headers = ['host', '']);
  endToEnd(incoming.rawHeaders, settings, found, headers);
  if (found.connection !== undefined && !PLAIN_CONNECTION_VALUES.has(found.connection))
    removeNamed(headers, found.connection);
  // Added after the headers that Connection names: it names this one too.
  if (found.trailers) headers.push('te', 'trailers');
  if (found.announced !== undefined) announce(headers, found.announced, settings);
  const written = found.authority ?? '';
  if (written !== '' && !isHost(written)) found.refuse ??= 'ERR_ROUTING_BAD_HOST';
  head.authority = settings.stripAnyHostPort ? withoutPort(written) : written;
  if (head.authority !== '') headers[1] = head.authority;
  else headers.splice(0, 2);
  head.grpc = found.grpc;
  head.rejected = found.refuse;
  const forwarded = found.forwarded;
  head.requestId = requestIdOf(forwarded?.get('x-request-id'), settings, newRequestId);
  head.scheme = schemeOf(trustsProxies(settings) ? forwarded?.get('x-forwarded-proto') : undefined, connection);
  head.clientAddress = clientAddress(connection.directAddress, forwarded?.get('x-forwarded-for'), settings);
  if (settings.isInternal) addInternal(head, found, connection, settings);
  addOwn(head, forwarded, connection, settings);
  return head;
}

/** The forwarder drops it if the trailers are not sent. */
function announce(headers: string[], names: string, { trailers }: ManagerSettings): void {
  const value = announcedTrailers(names, trailers!);
  if (value !== '') headers.push('trailer', value);
}

/** Adds forwarded headers to `headers`, and records the others in `found`. */
function endToEnd(raw: readonly string[], settings: ManagerSettings, found: Found, headers: string[]): void {
  for (let i = 0; i < raw.length; i += 2) {
    const value = raw[i + 1]!;
    const { lower: name, role } = headerName(raw[i]!);
    switch (role) {
      case 'host':
        if (found.authority !== undefined) found.refuse = 'ERR_ROUTING_BAD_HOST';
        found.authority = value;
        break;
      case 'connection':
        found.connection = found.connection === undefined ? value : `${found.connection},${value}`;
        break;
      case 'te':
        if (acceptsTrailers(value)) found.trailers = true;
        break;
      case 'trailer':
        if (settings.trailers) found.announced = found.announced === undefined ? value : `${found.announced},${value}`;
        break;
      case 'hop-by-hop':
      // The forwarder sets the length; the expectation ends here.
      case 'content-length':
      case 'expect':
        break;
      case 'forwarded': {
        const forwarded = (found.forwarded ??= new Map());
        const before = forwarded.get(name);
        forwarded.set(name, before === undefined ? value : `${before},${value}`);
        break;
      }
      case 'envoy':
        if (settings.isInternal) (found.envoy ??= []).push(name, value);
        break;
      case 'underscore':
        if (acceptsUnderscore(name, settings, found)) headers.push(name, value);
        break;
      case 'content-type':
        if (value.startsWith(GRPC_PREFIX)) found.grpc = grpcTypeOf(value)?.kind;
        headers.push(name, value);
        break;
      default:
        headers.push(name, value);
    }
  }
}

/** Returns false for a header to drop. Spellings that some servers treat as one of the gateway's own headers never pass. */
function acceptsUnderscore(name: string, settings: ManagerSettings, found: Found): boolean {
  if (settings.underscores === 'reject') found.refuse ??= 'ERR_ROUTING_UNDERSCORE';
  if (settings.underscores === 'drop') return false;
  const dashed = name.replaceAll('_', '-');
  const { role } = headerName(dashed);
  return role === 'other' || role === 'content-type';
}

/**
 * Removes the headers that `Connection` names. Those that proxies in front set stay: a client whose `Connection` such a proxy passes on would
 * otherwise remove its own address.
 */
function removeNamed(headers: string[], connection: string): void {
  const names = namedByConnection(connection);
  removeWhere(headers, (name) => name !== 'host' && names.includes(name));
}

/** Marks a request of an internal caller, and keeps its `x-envoy-*` headers and its request id. */
function addInternal(
  head: DownstreamHead,
  { forwarded, envoy = [] }: Found,
  { directAddress }: RecordedConnection,
  { isInternal, useRemoteAddress }: ManagerSettings,
): void {
  const forwardedFor = forwarded?.get('x-forwarded-for');
  if (!isInternalRequest(isInternal!, directAddress, forwardedFor, useRemoteAddress)) return;
  const { headers } = head;
  head.requestId = forwarded?.get('x-request-id') ?? head.requestId;
  for (let i = 0; i < envoy.length; i += 2) {
    if (envoy[i] !== 'x-envoy-internal') headers.push(envoy[i]!, envoy[i + 1]!);
  }
  headers.push('x-envoy-internal', 'true');
}

/** Adds the headers that the gateway sets; `forwarded` are those that the client sent. */
function addOwn(
  { headers, requestId, scheme }: DownstreamHead,
  forwarded: ReadonlyMap<string, string> | undefined,
  connection: RecordedConnection,
  settings: ManagerSettings,
): void {
  const given = trustsProxies(settings) ? forwarded : undefined;
  if (requestId !== '') headers.push('x-request-id', requestId);
  const chain = forwardedChain(forwarded?.get('x-forwarded-for'), connection, settings);
  if (chain !== undefined) headers.push('x-forwarded-for', chain);
  headers.push('x-forwarded-proto', scheme);
  // As Envoy does, also from clients that are not trusted: like `Host`, it is the choice of the client.
  const host = forwarded?.get('x-forwarded-host');
  if (host !== undefined) headers.push('x-forwarded-host', host);
  const port =
    given?.get('x-forwarded-port') ?? (settings.appendXForwardedPort ? String(connection.localPort) : undefined);
  if (port !== undefined) headers.push('x-forwarded-port', port);
  const certificate = certificateOf(forwarded?.get('x-forwarded-client-cert'), connection, settings);
  if (certificate !== undefined) headers.push('x-forwarded-client-cert', certificate);
  if (settings.via !== '') headers.push('via', settings.via);
}

const trustsProxies = ({ useRemoteAddress, trustedHops }: ManagerSettings): boolean =>
  !useRemoteAddress || trustedHops > 0;

/** Returns the request id; that of a client that connects directly is kept only if the settings require it. */
function requestIdOf(given: string | undefined, settings: ManagerSettings, newRequestId: () => string): string {
  const edge = settings.useRemoteAddress;
  const keep = given !== undefined && (!edge || settings.preserveExternalRequestId || !settings.generateRequestId);
  if (keep) return given;
  return settings.generateRequestId ? newRequestId() : '';
}

/**
 * Returns the trusted address of the client: the peer itself, or the one that trusted proxies in front report in
 * `x-forwarded-for`. With `useRemoteAddress` each trusted hop is one entry from the right; without it the peer is
 * trusted as well, so that one entry more counts.
 */
function clientAddress(peer: string, forwardedFor: string | undefined, settings: ManagerSettings): string {
  if (settings.leftmostForwardedAddress) return leftmost(forwardedFor) ?? peer;
  const hops = settings.useRemoteAddress ? settings.trustedHops : settings.trustedHops + 1;
  if (hops === 0 || forwardedFor === undefined) return peer;
  const entries = forwardedFor.split(',');
  const entry = entries[entries.length - hops]?.trim() ?? '';
  return isIP(entry) === 0 ? peer : plainAddress(entry);
}

function leftmost(forwardedFor: string | undefined): string | undefined {
  const entry = forwardedFor?.split(',', 1)[0]!.trim() ?? '';
  return isIP(entry) === 0 ? undefined : plainAddress(entry);
}

function schemeOf(given: string | undefined, connection: RecordedConnection): 'http' | 'https' {
  if (given === 'http' || given === 'https') return given;
  return connection.tls ? 'https' : 'http';
}

function forwardedChain(
  given: string | undefined,
  connection: RecordedConnection,
  settings: ManagerSettings,
): string | undefined {
  if (!settings.useRemoteAddress || settings.skipXffAppend || connection.directAddress === '') return given;
  return given === undefined || given.trim() === '' ? connection.directAddress : `${given},${connection.directAddress}`;
}

function certificateOf(
  given: string | undefined,
  connection: RecordedConnection,
  { certificateForwarding }: ManagerSettings,
): string | undefined {
  if (certificateForwarding.mode === 'SANITIZE') return undefined;
  return forwardedCertificate(given, connection, certificateForwarding);
}
