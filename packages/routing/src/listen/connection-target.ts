import type { Socket } from 'node:net';

/** Serves the accepted connections of a listener, or of one of its parts. */
export interface Target {
  /** False until it can serve: TLS without a certificate. */
  readonly servable: boolean;
  /** True while it must still be drained. */
  readonly hasConnections: boolean;
  accept(socket: Socket): void;
  /** Closes connections with their next response or after this many idle milliseconds. */
  drain(graceMs: number): void;
  /** Ends adding connections. */
  retire(): void;
  /** Applies the newest secret of session tickets to new connections. */
  renewTickets(): void;
}
