import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Handler } from '@edge-gateway/core';

/** An application behind a login: it answers with the request headers it got. */
export interface Site {
  readonly url: string;
  /** Put in place once the address is known. */
  use(handler: Handler): void;
  listen(listener: RequestListener): void;
  /** Takes upgrades. */
  onUpgrade(listener: NonNullable<Handler['upgrade']>): void;
  readonly seen: { url: string; headers: Record<string, unknown> }[];
  close(): Promise<void>;
}

export async function startSite(): Promise<Site> {
  const seen: Site['seen'] = [];
  let listener: RequestListener = (_req, res) => void res.writeHead(500).end();
  const server = createServer((req, res) => listener(req, res));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen,
    use(handler) {
      listener = (req, res) => handler(req, res, (error) => answer(req, res, error));
    },
    listen(next) {
      listener = next;
    },
    onUpgrade: (listener) => void server.on('upgrade', listener),
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };

  function answer(req: IncomingMessage, res: ServerResponse, error: unknown): void {
    if (error !== undefined) return void res.writeHead((error as { status?: number }).status ?? 500).end('error');
    seen.push({ url: req.url ?? '', headers: req.headers });
    res.setHeader('content-type', 'application/json');
    res.end(JSON.stringify({ url: req.url, headers: req.headers }));
  }
}
