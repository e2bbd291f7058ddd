import type { RequestListener } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { http } from './node-http.ts';
import type { AddressInfo } from 'node:net';

const HEADERS_TIMEOUT_MS = 10_000;
const REQUEST_TIMEOUT_MS = 30_000;

/** Certificates of a server, as PEM. */
export interface ServerTls {
  readonly certificate: string;
  readonly key: string;
  /** Roots of the certificates that clients must have. Default: clients need none. */
  readonly clientCa?: string | undefined;
}

/** Where a server listens. */
export interface ServerAddress {
  readonly address: string;
  /** 0 is any free port. */
  readonly port: number;
  /** Default: plain text. */
  readonly tls?: ServerTls | undefined;
}

/** A server that listens. */
export interface ListeningServer {
  readonly port: number;
  /** Uses other certificates for new connections of a server with TLS. */
  replaceTls(tls: ServerTls): void;
  /** Accepts no new work; resolves when work in progress is done. */
  drain(): Promise<void>;
  /** Closes all connections. */
  close(): void;
}

/**
 * Serves HTTP/1.1 for a service, with short timeouts for heads and bodies. Rejects with the error of the socket if it cannot listen.
 *
 * @example
 * const server = await listenHttpServer(handler, { address: '127.0.0.1', port: 0, maxHeaderSize: 16_384 });
 */
export async function listenHttpServer(
  handler: RequestListener,
  { address, port, tls, maxHeaderSize }: ServerAddress & { readonly maxHeaderSize: number },
): Promise<ListeningServer> {
  const limits = { maxHeaderSize, requestTimeout: REQUEST_TIMEOUT_MS, headersTimeout: HEADERS_TIMEOUT_MS };
  const secure = tls && createTlsServer({ ...limits, ...tlsOptions(tls) }, handler);
  const server = secure ?? http.createServer(limits, handler);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, address, resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    replaceTls: (next) => secure?.setSecureContext(tlsOptions(next)),
    async drain() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeIdleConnections();
      await closed;
    },
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

function tlsOptions({ certificate, key, clientCa }: ServerTls) {
  return {
    cert: certificate,
    key,
    ...(clientCa !== undefined && { ca: clientCa, requestCert: true, rejectUnauthorized: true }),
  };
}
