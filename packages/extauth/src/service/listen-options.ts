import type { Logger } from '@edge-gateway/core';

/** Certificates of a server, as PEM. */
export interface ServerTls {
  readonly certificate: string;
  readonly key: string;
  /** Roots of the certificates that clients must have. Default: clients need none. */
  readonly clientCa?: string | undefined;
}

/** Where an auth service listens. */
export interface ListenOptions {
  readonly address: string;
  /** 0 is any free port. */
  readonly port: number;
  readonly log: Logger;
  /** Default: plain text. */
  readonly tls?: ServerTls | undefined;
}

/** A server that asks an auth service. */
export interface CheckServer {
  readonly port: number;
  /** Accepts no new checks; resolves when those under way are done. */
  drain(): Promise<void>;
  /** Closes all connections. */
  close(): void;
}
