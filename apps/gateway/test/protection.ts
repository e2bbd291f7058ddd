import { createServer, request, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  createContext,
  createControlPlane,
  memorySource,
  type Context,
  type MemorySource,
  type Snapshot,
} from '@edge-gateway/core';
import { graphqlAction } from '@edge-gateway/graphql';
import type { Store } from '@edge-gateway/rate-limit';
import { createRouter, type Router } from '@edge-gateway/routing';
import { staticUpstream } from '../../../test/parts/static-upstream.ts';
import { createConcerns } from '../src/concerns.ts';

export interface Answer {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

/** A gateway in this process: resources, all concerns, a backend that answers the headers and the path it got. */
export interface Protected {
  readonly source: MemorySource;
  readonly port: number;
  /** Requests that the backend got. */
  readonly reached: () => number;
  state(kind: string, name: string): string | undefined;
  ask(path: string, headers?: Record<string, string>, body?: string): Promise<Answer>;
  close(): Promise<void>;
}

async function listen(handler: (req: IncomingMessage, res: ServerResponse) => void): Promise<[Server, number]> {
  const server = createServer(handler);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return [server, (server.address() as AddressInfo).port];
}

/** The upstream `echo` in front of a port. */
export const upstream = (port: number, name = 'echo'): string => staticUpstream(name, port);

/** Parts of a gateway that differ from the usual ones. */
interface ProtectedParts extends Partial<Context> {
  /** Counters of rate limits. Default: in memory. */
  readonly store?: Store;
}

export async function protect(resources: string, keySet = '', given: ProtectedParts = {}): Promise<Protected> {
  const { store, ...parts } = given;
  let reached = 0;
  const [backend, backendPort] = await listen((req, res) => {
    if (req.url === '/keys') return void res.end(keySet);
    reached++;
    let size = 0;
    req.on('data', (chunk: Buffer) => (size += chunk.length));
    req.on('end', () => res.end(JSON.stringify({ path: req.url, headers: req.headers, size })));
  });
  const source = memorySource({ upstreams: upstream(backendPort), resources });
  const controlPlane = createControlPlane({ source, defaultGateways: { httpPort: 8080 } });
  const context = createContext({ ...parts, secrets: controlPlane.secrets });
  const router: Router = createRouter({
    concerns: createConcerns(store),
    actions: [graphqlAction()],
    context,
    fallthrough: 'notFound',
  });
  controlPlane.subscribe(({ snapshots }) => router.apply(snapshots.get('gateway-proxy') as Snapshot));
  await controlPlane.start();
  const [front, port] = await listen((req, res) => router(req, res, () => res.writeHead(500).end()));
  front.on('upgrade', router.upgrade);

  return {
    source,
    port,
    reached: () => reached,
    state: (kind, name) =>
      controlPlane.state?.statuses.get(`${kind}/gw-system/${name}` as never)?.statuses['gw-system']?.state,
    ask: (path, headers = {}, body = '') =>
      new Promise((resolve, reject) => {
        const method = body === '' ? 'GET' : 'POST';
        const sent = request({ port, path, method, headers, agent: false }, (res) => {
          let text = '';
          res.on('data', (chunk: Buffer) => (text += chunk.toString()));
          res.on('end', () => resolve({ status: res.statusCode ?? 0, headers: res.headers, body: text }));
        });
        sent.on('error', reject);
        sent.end(body);
      }),
    async close() {
      front.closeAllConnections();
      backend.closeAllConnections();
      front.close();
      backend.close();
      await router.close();
      await controlPlane.close();
    },
  };
}
