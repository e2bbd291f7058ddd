import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { WebSocketServer, type WebSocket } from 'ws';

/** What the API server and the kubelet of a node do for port forwarding, which needs nodes that tests do not have. */
export interface ForwardingApi {
  readonly kubeconfig: string;
  /** Path with query, and credentials, of every forwarded connection. */
  readonly forwarded: { readonly url: string; readonly authorization: string | undefined }[];
  close(): Promise<void>;
}

export interface ForwardingOptions {
  /** Responses to other requests, as JSON, by path with query; others are 404. */
  readonly objects?: Readonly<Record<string, unknown>>;
  /** Returns the local port for a port of a pod; `undefined` for an unknown pod. */
  readonly portOf: (pod: string, port: number) => number | undefined;
}

/** Starts a server that forwards connections to local ports instead of pods. */
export async function startForwardingApi({ objects = {}, portOf }: ForwardingOptions): Promise<ForwardingApi> {
  const forwarded: { url: string; authorization: string | undefined }[] = [];
  const server = createServer((request, response) => {
    const found = objects[request.url!];
    response.writeHead(found === undefined ? 404 : 200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(found ?? { kind: 'Status', code: 404, reason: 'NotFound', message: 'not found' }));
  });
  const sockets = new WebSocketServer({ noServer: true, handleProtocols: (offered) => [...offered][0]! });
  server.on('upgrade', (request, socket, head) => {
    const { pathname, searchParams } = new URL(request.url!, 'http://here');
    forwarded.push({ url: request.url!, authorization: request.headers.authorization });
    const pod = /^\/api\/v1\/namespaces\/[^/]+\/pods\/([^/]+)\/portforward$/.exec(pathname)?.[1];
    const port = Number(searchParams.get('ports'));
    const to = pod === undefined ? undefined : portOf(pod, port);
    if (to === undefined) return void socket.end('HTTP/1.1 404 Not Found\r\n\r\n');
    sockets.handleUpgrade(request, socket, head, (channel) => joinWithPort(channel, { port, to }));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const directory = mkdtempSync(join(tmpdir(), 'forwarding-api-'));
  const kubeconfig = join(directory, 'kubeconfig');
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'test',
    clusters: [{ name: 'test', cluster: { server: address, 'insecure-skip-tls-verify': true } }],
    users: [{ name: 'test', user: { token: 'secret-token' } }],
    contexts: [{ name: 'test', context: { cluster: 'test', user: 'test' } }],
  };
  writeFileSync(kubeconfig, JSON.stringify(config));
  return {
    kubeconfig,
    forwarded,
    async close() {
      for (const channel of sockets.clients) channel.terminate();
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
      rmSync(directory, { recursive: true });
    },
  };
}

/** Messages start with the number of their channel: 0 has data, 1 errors; the first of each is the number of the port. */
function joinWithPort(channel: WebSocket, { port, to }: { readonly port: number; readonly to: number }): void {
  const send = (stream: 0 | 1, data: Buffer): void => channel.send(Buffer.concat([Buffer.from([stream]), data]));
  const number = Buffer.from([port & 255, port >> 8]);
  send(0, number);
  send(1, number);
  const upstream = connect(to, '127.0.0.1');
  upstream.on('data', (data) => send(0, data));
  upstream.on('error', (error) => send(1, Buffer.from(error.message)));
  upstream.on('close', () => channel.close());
  channel.on('message', (data: Buffer) => void (data[0] === 0 && upstream.write(data.subarray(1))));
  channel.on('close', () => upstream.destroy());
}
