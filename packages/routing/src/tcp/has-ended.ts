import type { ClientHttp2Stream } from 'node:http2';
import type { Socket } from 'node:net';

/** Returns true if the peer has finished sending, also while something that it sent is unread. */
export function hasEnded(socket: Socket | ClientHttp2Stream): boolean {
  return (socket as Socket & { readonly _readableState: { readonly ended: boolean } })._readableState.ended;
}
