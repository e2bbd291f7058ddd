import { request as httpRequest } from 'node:http';
import {
  createContext,
  type Concern,
  type Context,
  type Listener,
  type Route,
  type SnapshotSettings,
  type SnapshotUpstream,
  type VirtualHost,
} from '@edge-gateway/core';
import { createRouter, type Router } from '../src/router.ts';
import { echo, endpointOf, hostOf, LISTENER, routeOf, snapshotOf, start, stopAll, upstreamOf } from './snapshots.ts';

export interface Asked {
  readonly method?: string;
  readonly headers?: Record<string, string | string[]>;
  readonly body?: string;
}

export interface Answer {
  readonly status: number;
  readonly headers: Record<string, string | string[] | undefined>;
  readonly body: string;
}

/** Sends a request to a server on this machine. */
export async function ask(port: number, path: string, { method = 'GET', headers, body }: Asked = {}): Promise<Answer> {
  return await new Promise((resolve, reject) => {
    const sent = { host: 'a.example', ...headers };
    const req = httpRequest({ port, host: '127.0.0.1', path, method, headers: sent, agent: false }, (res) => {
      let text = '';
      res.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      res.on('end', () => resolve({ status: res.statusCode!, headers: res.headers, body: text })).on('error', reject);
    });
    req.on('error', reject).end(body);
  });
}

/** Serves the listener of a router over a real socket. Returns its port. */
export async function listenOn(router: Router): Promise<number> {
  const handler = router.listener(LISTENER);
  const { server, port } = await start((req, res) => handler(req, res, () => res.destroy()));
  server.on('upgrade', (req, socket, head) => handler.upgrade!(req, socket, head));
  return port;
}

export interface ServedParts {
  /** Options of the route. */
  readonly options?: Route['options'];
  readonly host?: VirtualHost['options'];
  readonly http?: Listener['httpOptions'];
  readonly listener?: Partial<Listener>;
  /** Default: one route with `options`. */
  readonly routes?: readonly Route[];
  readonly upstreams?: readonly SnapshotUpstream[];
  readonly concerns?: readonly Concern[];
  readonly context?: Context;
  readonly settings?: SnapshotSettings;
}

export interface Served {
  readonly port: number;
  readonly router: Router;
  readonly context: Context;
  ask(path: string, asked?: Asked): Promise<Answer>;
  /** Sends a request and returns what the echoing upstream received. */
  seen(path: string, asked?: Asked): Promise<{ method: string; url: string; headers: Record<string, string> }>;
  /** The value of a statistic; 0 if it does not exist. */
  stat(path: string): number;
  close(): Promise<void>;
}

/** Serves one virtual host over a real socket, by default with an upstream that answers with what it got. */
export async function served(parts: ServedParts = {}): Promise<Served> {
  const context = parts.context ?? createContext();
  const upstreams = parts.upstreams ?? [upstreamOf([endpointOf((await start(echo)).port)])];
  const routes = parts.routes ?? [routeOf({ options: parts.options ?? {} })];
  const hosts = [hostOf(routes, { options: parts.host ?? {} })];
  const router = createRouter({ context, concerns: parts.concerns ?? [] });
  const snapshot = snapshotOf(hosts, upstreams, { httpOptions: parts.http ?? {}, ...parts.listener });
  router.apply(parts.settings ? { ...snapshot, settings: parts.settings } : snapshot);
  const port = await listenOn(router);
  return {
    port,
    router,
    context,
    ask: (path, asked) => ask(port, path, asked),
    async seen(path, asked) {
      const { status, body } = await ask(port, path, asked);
      if (status !== 200) throw new Error(`status ${status}: ${body}`);
      return JSON.parse(body);
    },
    stat(path) {
      const found = context.metrics.list().find(({ name }) => name.path === path);
      return found && found.type !== 'histogram' ? found.stat.value : 0;
    },
    async close() {
      await router.close();
      await stopAll();
    },
  };
}
