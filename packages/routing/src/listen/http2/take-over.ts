import type { Socket } from 'node:net';
import type { ClientError } from '../refuse/client-error.ts';

const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 'latin1');

/** True if the parser of `node:http` stopped at the connection preface of HTTP/2 (RFC 9113 3.4). */
export function isPreface({ code }: ClientError): boolean {
  return code === 'HPE_PAUSED_H2_UPGRADE';
}

/** The part of the parser of `node:http` that its timeouts use. */
interface Parser {
  remove?(): void;
}

/**
 * Releases a socket from `node:http`, and puts back what it has read: the preface, and the bytes that followed it. A server
 * session reads them first.
 */
export function takeOver(socket: Socket, { rawPacket, bytesParsed = 0 }: ClientError): void {
  // Adding a listener makes the parser stop reading the connection itself.
  socket
    .on('data', () => {})
    .removeAllListeners('data')
    .pause();
  (socket as Socket & { readonly parser?: Parser | null }).parser?.remove?.();
  socket.setTimeout(0);
  const rest = rawPacket?.subarray(bytesParsed) ?? Buffer.alloc(0);
  socket.unshift(Buffer.concat([PREFACE, rest]));
}
