import type { Socket } from 'node:net';

/** A connection of a client to a scripted upstream. */
export interface ServedConnection {
  readonly socket: Socket;
  /** Resets it, also below TLS. */
  readonly reset: () => void;
}
