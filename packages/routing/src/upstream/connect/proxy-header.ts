import { isIPv4, isIPv6, type Socket } from 'node:net';
import { plainAddress } from '@edge-gateway/core';
import { addressBytes } from '../address-bytes.ts';

export type ProxyProtocolVersion = 'V1' | 'V2';

/** Both ends of the connection of a client. */
export type ClientAddresses = Pick<Socket, 'remoteAddress' | 'remotePort' | 'localAddress' | 'localPort'>;

/** How a header of version 2 begins. */
export const PROXY_SIGNATURE = Buffer.from('\r\n\r\n\0\r\nQUIT\n', 'latin1');
/** Version 2 in the upper half, the command in the lower. */
const LOCAL = 0x20;
const PROXY = 0x21;
const TCP4 = 0x11;
const TCP6 = 0x21;

/** Returns the PROXY header with which a connection for a client begins, if any. */
export function prefaceOf(
  version: ProxyProtocolVersion | undefined,
  client: ClientAddresses | undefined,
): Buffer | undefined {
  return version === undefined ? undefined : proxyHeader(version, client);
}

interface Ends {
  readonly v6: boolean;
  readonly source: string;
  readonly destination: string;
  readonly ports: readonly [number, number];
}

/**
 * Returns the PROXY protocol header for the client of a connection. Without a client (a call of the gateway itself, or a Unix
 * socket) the header names none: `UNKNOWN` in version 1, the command `LOCAL` in version 2.
 */
function proxyHeader(version: ProxyProtocolVersion, client: ClientAddresses | undefined): Buffer {
  const ends = client && endsOf(client);
  return version === 'V1' ? Buffer.from(textHeader(ends), 'latin1') : binaryHeader(ends);
}

function endsOf({ remoteAddress, remotePort, localAddress, localPort }: ClientAddresses): Ends | undefined {
  const source = plainAddress(remoteAddress);
  const destination = plainAddress(localAddress);
  const v6 = isIPv6(source) && isIPv6(destination);
  if (!v6 && !(isIPv4(source) && isIPv4(destination))) return undefined;
  return { v6, source, destination, ports: [remotePort ?? 0, localPort ?? 0] };
}

function textHeader(ends: Ends | undefined): string {
  if (!ends) return 'PROXY UNKNOWN\r\n';
  return `PROXY ${ends.v6 ? 'TCP6' : 'TCP4'} ${ends.source} ${ends.destination} ${ends.ports.join(' ')}\r\n`;
}

function binaryHeader(ends: Ends | undefined): Buffer {
  if (!ends) return Buffer.concat([PROXY_SIGNATURE, Buffer.from([LOCAL, 0, 0, 0])]);
  const addresses = Buffer.concat([addressBytes(ends.source), addressBytes(ends.destination), Buffer.alloc(4)]);
  addresses.writeUInt16BE(ends.ports[0], addresses.length - 4);
  addresses.writeUInt16BE(ends.ports[1], addresses.length - 2);
  const head = Buffer.from([PROXY, ends.v6 ? TCP6 : TCP4, 0, addresses.length]);
  return Buffer.concat([PROXY_SIGNATURE, head, addresses]);
}
