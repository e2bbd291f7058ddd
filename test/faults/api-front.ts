import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { request } from 'node:https';
import type { AddressInfo } from 'node:net';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { KubernetesApi } from '../parts/kubernetes.ts';

/** What happens to a request, instead of being forwarded. */
export type FrontFault = (req: IncomingMessage, res: ServerResponse) => boolean;

/** A server in front of an API server, which can respond in its place. */
export interface ApiFront {
  /** A kubeconfig that leads here, with the rights of the gateway. */
  readonly kubeconfig: string;
  /** Requests that a fault answered. */
  readonly faults: number;
  /** Responds from now on where the fault returns true; ends open responses. */
  set(fault: FrontFault | undefined): void;
  close(): Promise<void>;
}

/** Starts a front of an API server. */
export async function startApiFront(api: KubernetesApi): Promise<ApiFront> {
  let fault: FrontFault | undefined;
  let faults = 0;
  const open = new Set<ServerResponse>();
  const target = new URL(api.server);
  const server = createServer((req, res) => {
    open.add(res);
    res.on('close', () => open.delete(res));
    if (fault?.(req, res)) {
      faults += 1;
      return;
    }
    const { host: _, ...headers } = req.headers;
    const options = {
      host: target.hostname,
      port: target.port,
      path: req.url,
      method: req.method,
      headers,
      ca: api.ca,
    };
    const forwarded = request(options, (response) => {
      res.writeHead(response.statusCode!, response.headers);
      res.flushHeaders();
      response.pipe(res);
      response.on('error', () => res.destroy());
    });
    forwarded.on('error', () => res.destroy());
    res.on('close', () => forwarded.destroy());
    req.pipe(forwarded);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const kubeconfig = join(api.directory, 'front-kubeconfig');
  const name = 'front';
  writeFileSync(
    kubeconfig,
    JSON.stringify({
      apiVersion: 'v1',
      kind: 'Config',
      'current-context': name,
      clusters: [{ name, cluster: { server: `http://127.0.0.1:${port}`, 'insecure-skip-tls-verify': true } }],
      users: [{ name, user: { token: 'gateway-token' } }],
      contexts: [{ name, context: { cluster: name, user: name } }],
    }),
  );
  return {
    kubeconfig,
    get faults() {
      return faults;
    },
    set(next) {
      fault = next;
      for (const res of open) res.destroy();
    },
    async close() {
      server.closeAllConnections();
      server.close();
    },
  };
}
