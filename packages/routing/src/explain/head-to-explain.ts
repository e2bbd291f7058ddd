import { IncomingMessage } from 'node:http';
import { isIP, type Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import {
  gatewayNamespace,
  secretText,
  toByteString,
  type Listener,
  type Secrets,
  type TlsConfiguration,
} from '@edge-gateway/core';
import type { AbsoluteTarget } from '../http1/authority.ts';
import { headersByName } from '../http1/flat-headers.ts';
import {
  isTunnelRequest,
  asksForWebSocket,
  checkConnection,
  checkHead,
  requiresClientCertificate,
  type HeadRules,
} from '../check/check-head.ts';
import { checkSyntax } from '../check/check-syntax.ts';
import type { Refusal } from '../check/refusal.ts';
import { createServerNameIndex } from '../listen/tls/tls-table.ts';
import { limitsOf } from '../listen/limits.ts';
import type { UpgradeKind } from '../route/options/upgrades.ts';
import type { RequestToExplain } from './explanation.ts';

/** The client of an explained request whose address is unknown. */
const CLIENT = '127.0.0.1';

/**
 * Returns the head of a request as `node:http` would pass it to a listener. The host of the URL is the server name of its
 * TLS connection, and the `Host` header unless `headers` have one.
 */
export function headToExplain(
  { method, headers = {}, clientAddress = CLIENT }: RequestToExplain,
  url: AbsoluteTarget,
  { ssl, bindAddress, bindPort }: Listener,
): IncomingMessage {
  const ends = { remoteAddress: clientAddress, localAddress: bindAddress, localPort: bindPort };
  const tls = ssl ? { encrypted: true, authorized: false, servername: serverNameOf(url.authority) } : {};
  const message = new IncomingMessage({ ...ends, ...tls } as unknown as Socket);
  const raw = flatOf(headers);
  if (!raw.some((text, i) => i % 2 === 0 && text.toLowerCase() === 'host')) raw.unshift('Host', url.authority);
  message.method = method;
  message.url = url.path;
  message.httpVersion = '1.1';
  message.rawHeaders = raw;
  message.headers = headersByName(raw);
  if (isTunnelRequest(message)) nameTarget(message, ssl ? 443 : 80);
  return message;
}

/** The target of a CONNECT request is its host with a port: that of the scheme if the URL has none. */
function nameTarget(message: IncomingMessage, defaultPort: number): void {
  const host = message.headers.host ?? '';
  const target = /:\d+$/.test(host) ? host : `${host}:${defaultPort}`;
  message.url = message.headers.host = target;
  message.rawHeaders = message.rawHeaders.map((text, i, all) =>
    i % 2 === 1 && all[i - 1]!.toLowerCase() === 'host' ? target : text,
  );
}

/** Returns the name that a client of a URL sends in the TLS handshake: none for an IP address (RFC 6066 §3). */
function serverNameOf(authority: string): string {
  const host = authority.replace(/:\d*$/, '');
  return isIP(host) !== 0 || host.startsWith('[') ? '' : host;
}

/** Returns the upgrade that `node:http` and the listener detect in a request. */
export function upgradeOf(message: IncomingMessage): UpgradeKind | undefined {
  if (isTunnelRequest(message)) return 'connect';
  const { connection = '' } = message.headers;
  const isHandshake = asksForWebSocket(message) && /(?:^|,)\s*upgrade\s*(?:,|$)/i.test(connection);
  return isHandshake ? 'websocket' : undefined;
}

/** Returns why a listener rejects a request before its router sees it, or `undefined`. */
export function rejectionOf(message: IncomingMessage, listener: Listener, secrets: Secrets): Refusal | undefined {
  const rules = {
    limits: limitsOf(listener),
    isUpgrade: upgradeOf(message) === 'websocket',
    checkConnection: connectionCheck(listener, secrets),
  };
  return checkSyntax(message) ?? checkHead(message, rules);
}

/** Returns true if the TLS handshake of a request requires a client certificate. */
export function needsClientCertificate(message: IncomingMessage, listener: Listener, secrets: Secrets): boolean {
  if (!listener.ssl) return false;
  const { select, requiresClient } = connectionRules(listener, secrets);
  const chosen = select((message.socket as TLSSocket).servername || undefined);
  return chosen !== undefined && requiresClient(chosen);
}

/** Returns the server name of a request if no certificate of the listener matches it, otherwise `undefined`. */
export function nameWithoutCertificate(
  message: IncomingMessage,
  listener: Listener,
  secrets: Secrets,
): string | undefined {
  const { servername } = message.socket as TLSSocket;
  if (!listener.ssl || !servername || listener.sslConfigurations.length === 0) return undefined;
  return connectionRules(listener, secrets).select(servername) ? undefined : servername;
}

/** Checks the connection by the configurations alone, because an explanation has no certificates. */
function connectionCheck(listener: Listener, secrets: Secrets): HeadRules['checkConnection'] {
  const rules = connectionRules(listener, secrets);
  return (req) => checkConnection(req, rules);
}

function connectionRules({ sslConfigurations }: Listener, secrets: Secrets) {
  const requiresClient = (value: TlsConfiguration): boolean =>
    requiresClientCertificate(value, hasRootCa(value, secrets));
  return { select: createServerNameIndex(sslConfigurations, (value) => value), requiresClient };
}

function hasRootCa({ sslConfig: { secretRef, sslFiles, sds } }: TlsConfiguration, secrets: Secrets): boolean {
  if (sslFiles) return !!sslFiles.rootCa;
  if (sds) return !!sds.validationContextName;
  if (!secretRef?.name) return false;
  const secret = secrets.get({ name: secretRef.name, namespace: secretRef.namespace || gatewayNamespace() });
  return secret !== undefined && !!secretText(secret, 'ca.crt');
}

function flatOf(headers: NonNullable<RequestToExplain['headers']>): string[] {
  return Object.entries(headers).flatMap(([name, value]) =>
    [value].flat().flatMap((each) => [name, toByteString(each as string)]),
  );
}
