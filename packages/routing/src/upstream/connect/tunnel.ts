import type { Socket } from 'node:net';
import { isHeaderName, isHost, type Endpoint, type SnapshotUpstream, type UpstreamTls } from '@edge-gateway/core';
import { breaksLine } from '../../http1/flat-headers.ts';

/** A response head of a proxy longer than this is rejected. */
const MAX_HEAD_BYTES = 16_384;
const STATUS_LINE = /^HTTP\/1\.[01] (\d{3})(?: |\r\n)/;
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
  const headers = httpConnectHeaders.map(({ key = '', value = '' }) => [key, value] as const);
  return { server: { address, port: Number(url.port || 80), weight: 1 }, request: connectRequest(name, headers), tls };
}

/** Returns the request that asks an HTTP proxy for a tunnel. Throws a `TypeError` for a header that must not be sent. */
export function connectRequest(authority: string, headers: readonly (readonly [string, string])[]): string {
  let lines = '';
  for (const [name, value] of headers) {
    const invalid = !isHeaderName(name) || breaksLine(value) || TUNNEL_HEADERS.has(name.toLowerCase());
    if (invalid) throw new TypeError(`the header ${JSON.stringify(name)} cannot be sent to a proxy`);
    lines += `${name}: ${value}\r\n`;
  }
  return `CONNECT ${authority} HTTP/1.1\r\nhost: ${authority}\r\n${lines}\r\n`;
}

/** Asks the proxy at the other end of a connection for a tunnel. Rejects if it responds with anything but 2xx. */
export function openTunnel(socket: Socket, request: string): Promise<void> {
  return new Promise((resolve, reject) => {
    let head = '';
    const done = (error?: Error): void => {
      socket.off('readable', read).off('error', done).off('close', closed);
      if (error) reject(error);
      else resolve();
    };
    const closed = (): void => done(new Error('the proxy closed the connection'));
    const read = (): void => {
      for (let chunk = socket.read() as Buffer | null; chunk !== null; chunk = socket.read() as Buffer | null) {
        const before = head.length;
        head += chunk.toString('latin1');
        const end = head.indexOf('\r\n\r\n');
        if (end >= 0) {
          const rest = chunk.subarray(end + 4 - before);
          if (rest.length > 0) socket.unshift(rest);
          return done(problemOf(head));
        }
        if (head.length > MAX_HEAD_BYTES) return done(new Error('the response of the proxy is too long'));
      }
    };
    socket.on('readable', read).on('error', done).on('close', closed);
    socket.write(request, 'latin1');
  });
}

function problemOf(head: string): Error | undefined {
  const status = STATUS_LINE.exec(head)?.[1];
  if (status === undefined) return new Error('the proxy did not respond with HTTP');
  return status.startsWith('2') ? undefined : new Error(`the proxy rejected the tunnel with status ${status}`);
}
