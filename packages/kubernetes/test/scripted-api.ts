import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClusterClient, type ClusterClient, type ClusterClientOptions } from '@edge-gateway/kubernetes';

export type Reply = (query: URLSearchParams, res: ServerResponse, req: IncomingMessage) => void;

/** A server that speaks the list and watch protocol as a test tells it to. */
export interface ScriptedApi {
  readonly client: ClusterClient;
  readonly kubeconfig: string;
  /** Lists and watches that arrived, in order: `list` or `watch@<version>`. */
  readonly calls: string[];
  /** Handles lists and watches from now on. */
  onList: Reply;
  onWatch: Reply;
  /** Open watches. */
  readonly watches: ServerResponse[];
  event(type: string, object: object): void;
  close(): Promise<void>;
}

export const service = (name: string, resourceVersion: string | number, more: object = {}): object => ({
  metadata: { name, namespace: 'shop', resourceVersion: String(resourceVersion) },
  ...more,
});

/** Responds with a list. */
export function listOf(resourceVersion: string | number, items: readonly object[], next?: string): Reply {
  return (_query, res) => {
    res.setHeader('content-type', 'application/json');
    res.end(
      JSON.stringify({ kind: 'List', metadata: { resourceVersion: String(resourceVersion), continue: next }, items }),
    );
  };
}

/** Responds with a `Status`. */
export function status(code: number, reason: string, headers: Record<string, string> = {}): Reply {
  return (_query, res) => {
    res.writeHead(code, { 'content-type': 'application/json', ...headers });
    res.end(JSON.stringify({ kind: 'Status', code, reason, message: `scripted ${reason}` }));
  };
}

/** Opens the watch and sends nothing. */
export const silent: Reply = (_query, res) => {
  res.writeHead(200, { 'content-type': 'application/json' });
  res.flushHeaders();
};

export async function startScriptedApi(options?: ClusterClientOptions): Promise<ScriptedApi> {
  const directory = mkdtempSync(join(tmpdir(), 'scripted-api-'));
  const sockets = new Set<Socket>();
  const server = createServer((req, res) => {
    const { searchParams } = new URL(req.url!, 'http://localhost');
    const isWatch = searchParams.has('watch');
    api.calls.push(isWatch ? `watch@${searchParams.get('resourceVersion')}` : 'list');
    if (isWatch) api.watches.push(res);
    (isWatch ? api.onWatch : api.onList)(searchParams, res, req);
  });
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const kubeconfig = join(directory, 'kubeconfig');
  writeFileSync(kubeconfig, kubeconfigOf(`http://127.0.0.1:${port}`, 'first-token'));
  const client = await createClusterClient({ kubeconfig: [kubeconfig] }, options);
  const api: ScriptedApi = {
    client,
    kubeconfig,
    calls: [],
    onList: listOf(1, []),
    onWatch: silent,
    watches: [],
    event(type, object) {
      const open = api.watches.at(-1)!;
      open.write(`${JSON.stringify({ type, object })}\n`);
    },
    async close() {
      await client.close();
      for (const socket of sockets) socket.destroy();
      server.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
  return api;
}

export function kubeconfigOf(server: string, token: string): string {
  return JSON.stringify({
    'current-context': 'scripted',
    clusters: [{ name: 'scripted', cluster: { server, 'insecure-skip-tls-verify': true } }],
    users: [{ name: 'scripted', user: { token } }],
    contexts: [{ name: 'scripted', context: { cluster: 'scripted', user: 'scripted', namespace: 'shop' } }],
  });
}
