import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { claimOwnPort } from '@edge-gateway/core';
import { adminError } from './error-codes.ts';

const HEADERS_TIMEOUT_MS = 10_000;
const REQUEST_TIMEOUT_MS = 30_000;
const MAX_HEADER_BYTES = 16_384;

/** One admin port. `handler` may also be hosted by a server of your own. */
export interface AdminServer {
  readonly handler: RequestListener;
  /**
   * Listens. Port 0 is any free one; default of `host`: 127.0.0.1. Returns the address. Hosts that clients choose
   * (`dynamicForwardProxy`) cannot reach this port of the process.
   * Rejects with `ERR_ADMIN_LISTEN` if the address is in use or not available on this host.
   */
  listen(port: number, host?: string): Promise<{ port: number; host: string }>;
  /** Stops listening and ends what is open. */
  close(): Promise<void>;
}

/** Serves a handler on a separate server, with short limits for head and request. */
export function createAdminServer(handler: RequestListener, name: string): AdminServer {
  const server = createServer(
    { headersTimeout: HEADERS_TIMEOUT_MS, requestTimeout: REQUEST_TIMEOUT_MS, maxHeaderSize: MAX_HEADER_BYTES },
    handler,
  );
  return {
    handler,
    listen: (port, host = '127.0.0.1') =>
      new Promise((resolve, reject) => {
        const onError = (cause: NodeJS.ErrnoException): void =>
          reject(adminError('ERR_ADMIN_LISTEN', `${name}: ${host}:${port} ${reasonOf(cause)}`, { cause }));
        server.once('error', onError);
        server.listen(port, host, () => {
          server.off('error', onError);
          const { port: opened } = server.address() as AddressInfo;
          server.once('close', claimOwnPort(opened));
          resolve({ port: opened, host });
        });
      }),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function reasonOf(error: NodeJS.ErrnoException): string {
  if (error.code === 'EADDRINUSE') return 'is in use by another program';
  if (error.code === 'EACCES') return 'is not permitted';
  return `cannot be opened (${error.code ?? 'unknown reason'})`;
}
