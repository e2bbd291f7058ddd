import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** An upstream that responds with the path, except to `/held`: those requests get a response at `release`. */
export interface HeldUpstream {
  readonly port: number;
  /** Number of requests without a response. */
  readonly held: number;
  release(): void;
  close(): void;
}

export async function startHeldUpstream(): Promise<HeldUpstream> {
  const held = new Set<ServerResponse>();
  const server = createServer((req, res) => {
    if (req.url !== '/held') return void res.end(req.url);
    held.add(res);
    res.once('close', () => held.delete(res));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    get held() {
      return held.size;
    },
    release() {
      for (const res of held) res.end('released');
    },
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}
