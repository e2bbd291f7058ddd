import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { makeCertificates } from './certificates.ts';

/** A server of logs, as a kubelet has one. */
export interface KubeletLogs {
  readonly port: number;
  close(): void;
}

/** Names a container. */
export interface LogSource {
  readonly namespace: string;
  readonly pod: string;
  readonly container: string;
}

/**
 * Serves the logs of the pods of a node to the API server, which asks as `GET /containerLogs/<namespace>/<pod>/<container>`. A log that is `undefined` is
 * missing.
 */
export async function serveKubeletLogs(
  address: string,
  logOf: (source: LogSource) => string | undefined,
): Promise<KubeletLogs> {
  const files = makeCertificates();
  const tls = { cert: readFileSync(files.cert), key: readFileSync(files.key) };
  files.remove();
  const server = createServer(tls, (req, res) => {
    const [, , namespace = '', pod = '', container = ''] = new URL(req.url!, 'https://kubelet').pathname.split('/');
    const log = logOf({ namespace, pod, container });
    if (log === undefined) return void res.writeHead(404).end();
    res.writeHead(200, { 'content-type': 'text/plain' });
    res.end(log);
  });
  server.listen(0, address);
  await once(server, 'listening');
  return { port: (server.address() as AddressInfo).port, close: () => void server.close() };
}

/** Returns the status of a node with this server. */
export function nodeStatus(address: string, { port }: KubeletLogs): object {
  return {
    addresses: [{ type: 'InternalIP', address }],
    daemonEndpoints: { kubeletEndpoint: { Port: port } },
  };
}
