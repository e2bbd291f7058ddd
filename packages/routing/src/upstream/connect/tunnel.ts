import type { Socket } from 'node:net';
import {
  isHeaderBytes,
  toByteString,
  isHeaderName,
  isHost,
  type Endpoint,
  type SnapshotUpstream,
  type UpstreamTls,
} from '@edge-gateway/core';
import { UpstreamClosedError, UpstreamProtocolError } from '../../http1/errors.ts';
import { connectHead } from '../../http1/request-head.ts';
import { ConnectExchange } from './connect-exchange.ts';

const TUNNEL_HEADERS = new Set(['host', 'content-length', 'transfer-encoding', 'connection']);

/** The server behind an HTTP proxy, and how the proxy is asked for a tunnel to it. */
export interface Tunnel {
  readonly server: Endpoint;
  /** The CONNECT request. */
  readonly request: string;
  /** TLS to the proxy. */
  readonly tls: UpstreamTls | undefined;
}

/**
 * Compiles `httpProxyHostname`: the endpoints of the upstream are HTTP proxies, and this is the server that they connect to. Throws a
 * `TypeError` for an invalid name or header.
 */
export function compileTunnel({ spec }: SnapshotUpstream, tls: UpstreamTls | undefined): Tunnel | undefined {
  const { httpProxyHostname: name, httpConnectHeaders = [] } = spec;
  if (!name) return undefined;
  const url = URL.parse(`http://${name}`);
  if (!url || url.host === '' || !isHost(name)) throw new TypeError(`httpProxyHostname ${name} is not a host`);
  const address = url.hostname.replace(/^\[|\]$/g, '');
  const headers = httpConnectHeaders.map(({ key = '', value = '' }) => [key, toByteString(value)] as const);
  return { server: { address, port: Number(url.port || 80), weight: 1 }, request: connectRequest(name, headers), tls };
}

/** Returns the request that asks an HTTP proxy for a tunnel. Throws a `TypeError` for a header that must not be sent. */
export function connectRequest(authority: string, headers: readonly (readonly [string, string])[]): string {
  for (const [name, value] of headers) {
    const invalid = !isHeaderName(name) || !isHeaderBytes(value) || TUNNEL_HEADERS.has(name.toLowerCase());
    if (invalid) throw new TypeError(`the header ${JSON.stringify(name)} cannot be sent to a proxy`);
  }
  return connectHead(authority, headers.flat());
}

/** Asks the proxy at the other end of a connection for a tunnel. Rejects if it responds with anything but 2xx. */
export function openTunnel(socket: Socket, request: string): Promise<void> {
  return new Promise((resolve, reject) => {
    new ConnectExchange(socket, {
      onOpen: () => resolve(),
      onRejection(response) {
        response.destroy();
        reject(new Error(`the proxy rejected the tunnel with status ${response.statusCode}`));
      },
      onError: (error) => reject(proxyError(error)),
    }).start(request);
  });
}

/** The codes of the errors of HTTP are those of responses to requests, which there are none of yet. */
function proxyError(error: Error): Error {
  if (error instanceof UpstreamClosedError) return new Error('the proxy closed the connection');
  if (error instanceof UpstreamProtocolError)
    return new Error(`the response of the proxy is invalid: ${error.message}`);
  return error;
}
