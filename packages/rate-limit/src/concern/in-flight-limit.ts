import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** What to release when a connection closes, e.g. that of an upgrade or of a response that was never written. */
const held = new WeakMap<Socket, Set<() => void>>();

/** Calls `release` when the response ends in any way; after an upgrade, when its connection closes. */
export function releaseAtEnd(res: ServerResponse, socket: Socket, release: () => void): void {
  const releases = held.get(socket) ?? holdUntilClose(socket);
  releases.add(release);
  res.once('close', () => {
    releases.delete(release);
    release();
  });
  if (res.destroyed || socket.destroyed) release();
}

function holdUntilClose(socket: Socket): Set<() => void> {
  const releases = new Set<() => void>();
  held.set(socket, releases);
  socket.once('close', () => {
    for (const release of releases) release();
    releases.clear();
  });
  return releases;
}
