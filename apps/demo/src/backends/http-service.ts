import { createServer, type RequestListener, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A demo service that listens. */
export interface Service {
  readonly name: string;
  readonly host: string;
  readonly port: number;
  close(): Promise<void>;
}

/** Starts a plain HTTP service; port 0 is any free one. Rejects with the system's error if the port is in use. */
export async function startService(
  name: string,
  listener: RequestListener,
  address: { host?: string; port?: number } = {},
): Promise<Service> {
  const server = createServer(listener);
  const host = address.host ?? '127.0.0.1';
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(address.port ?? 0, host, resolve);
  });
  return { name, host, port: (server.address() as AddressInfo).port, close: () => stop(server) };
}

function stop(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}

/** Sends a response in JSON. */
export function sendJson(res: ServerResponse, status: number, body: unknown): void {
  const text = `${JSON.stringify(body)}\n`;
  res.writeHead(status, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) });
  res.end(text);
}
