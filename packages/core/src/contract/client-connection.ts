import type { IncomingMessage } from 'node:http';
import { isIPv4, isIPv6, SocketAddress } from 'node:net';

/** The client of a request and its connection, as far as they can be trusted. */
export interface ClientConnection {
  /** Without port. Behind trusted proxies the forwarded address. */
  readonly clientAddress: string;
  /** 0 if `clientAddress` is not that of the peer. */
  readonly clientPort: number;
  /** The scheme that the client used. */
  readonly scheme: 'http' | 'https';
  /** HTTP version, e.g. `HTTP/1.1`. */
  readonly protocol: string;
  readonly localAddress: string;
  readonly localPort: number;
}

/** Start of all spellings of IPv4-mapped IPv6 addresses, and of some others. */
const MAPPED = /^[0:]+:ffff:/i;
const CANONICAL_MAPPED = /^::ffff:(?=.*\.)/;

/** How sockets that accept both families spell an IPv4 address. */
const MAPPED_BY_SOCKET = '::ffff:';

/** Returns an address in the form of logs and headers: IPv4-mapped IPv6 addresses become IPv4, whatever their spelling. */
export function plainAddress(address: string | undefined): string {
  if (address === undefined) return '';
  if (address.startsWith(MAPPED_BY_SOCKET)) {
    const rest = address.slice(MAPPED_BY_SOCKET.length);
    if (isIPv4(rest)) return rest;
  }
  if (!MAPPED.test(address) || !isIPv6(address)) return address;
  const canonical = new SocketAddress({ address, family: 'ipv6' }).address;
  return CANONICAL_MAPPED.test(canonical) ? canonical.slice(7) : address;
}

/** What Express computes for a request, depending on its setting `trust proxy`. */
interface ExpressRequest {
  readonly ip?: unknown;
  readonly protocol?: unknown;
}

/**
 * Reads the connection of a request in a user's own server: from the socket, or from `req.ip` and `req.protocol` if
 * Express computes them. Forwarding headers of the request are trusted only through Express's `trust proxy`.
 */
export function connectionOf(req: IncomingMessage): ClientConnection {
  const { ip, protocol } = req as ExpressRequest;
  const { remoteAddress, remotePort = 0, localAddress, localPort = 0 } = req.socket;
  const peer = plainAddress(remoteAddress);
  const clientAddress = typeof ip === 'string' ? plainAddress(ip) : peer;
  const isTls = typeof protocol === 'string' ? protocol === 'https' : 'encrypted' in req.socket;
  return {
    clientAddress,
    clientPort: clientAddress === peer ? remotePort : 0,
    scheme: isTls ? 'https' : 'http',
    protocol: protocolOf(req),
    localAddress: plainAddress(localAddress),
    localPort,
  };
}

/** Returns the protocol of a request as access logs and rules write it: `HTTP/1.1`, `HTTP/2`. */
export function protocolOf({ httpVersion }: Pick<IncomingMessage, 'httpVersion'>): string {
  return httpVersion === '2.0' ? 'HTTP/2' : `HTTP/${httpVersion}`;
}
