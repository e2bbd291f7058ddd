import type { Socket } from 'node:net';
import type { ListenerPart } from '@edge-gateway/core';
import type { Decision, FirstBytes } from '../first-bytes.ts';
import { createPartChooser, needsClientHello } from './choose-part.ts';
import { parseClientHello, type ClientHello } from './client-hello.ts';
import type { InspectorStats } from './inspector-stats.ts';

/** Chooses the part that serves a connection, from its first bytes if necessary. */
export type ReceivePart = (socket: Socket) => void;

export interface PartReceiverParts {
  readonly parts: readonly ListenerPart[];
  readonly stats: InspectorStats;
  readonly firstBytes: FirstBytes;
  /** Maximum time for the bytes that decide. */
  readonly timeoutMs: number;
  /** Called with all bytes of the connection still to be read. */
  readonly onChosen: (socket: Socket, part: ListenerPart) => void;
  /** Called before a connection is closed; `undefined` if no part matches. */
  readonly onRejected: (socket: Socket, reason: string | undefined) => void;
}

export function createPartReceiver(parts: PartReceiverParts): ReceivePart {
  const { stats, firstBytes, timeoutMs, onChosen, onRejected } = parts;
  const choose = createPartChooser(parts.parts);

  function proceed(socket: Socket, hello: ClientHello | undefined): void {
    const part = choose({ hello, clientAddress: socket.remoteAddress });
    if (!part) return reject(socket, undefined);
    // Known of TLS that is not terminated too, for logs and `forwardSniClusterName`.
    if (hello?.serverName) Object.assign(socket, { servername: hello.serverName });
    onChosen(socket, part);
  }

  function reject(socket: Socket, reason: string | undefined): void {
    onRejected(socket, reason);
    socket.destroy();
  }

  function decide(socket: Socket, bytes: Buffer): Decision | undefined {
    const parsed = parseClientHello(bytes);
    if (!parsed) return undefined;
    if (parsed.type === 'hello') {
      stats.tlsFound.value++;
      (parsed.hello.serverName === '' ? stats.sniNotFound : stats.sniFound).value++;
      return { consumed: 0, proceed: () => proceed(socket, parsed.hello) };
    }
    if (parsed.type === 'tooLarge') stats.tooLarge.value++;
    else stats.tlsNotFound.value++;
    if (parsed.type === 'notTls') return { consumed: 0, proceed: () => proceed(socket, undefined) };
    const reason = parsed.type === 'tooLarge' ? 'the ClientHello is too large' : 'the ClientHello is malformed';
    return { consumed: bytes.length, proceed: () => reject(socket, reason) };
  }

  if (!needsClientHello(parts.parts)) return (socket) => proceed(socket, undefined);
  return (socket) =>
    firstBytes.read(socket, {
      timeoutMs,
      decide: (bytes) => decide(socket, bytes),
      undecided(bytes, reason) {
        if (bytes.length > 0 || reason === 'timeout') onRejected(socket, 'no complete ClientHello');
      },
    });
}
