import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createContext, type Context, type Listener, type Route, type SnapshotUpstream } from '@edge-gateway/core';
import { createListeners, createRouter, type ListenLimits, type Listeners, type Router } from '../../../src/index.ts';
import type { RequestRecord } from '../../../src/format/record.ts';
import { http2ClientOption } from '../../forward/harness.ts';
import { endpointOf, hostOf, routeOf, snapshotOf, upstreamOf } from '../../snapshots.ts';
import { http2Client, type Http2Client } from './client.ts';

/** A listener with these settings. */
export const settings = (httpConnectionManagerSettings: object): Partial<Listener> => ({
  httpOptions: { httpConnectionManagerSettings },
});

/** A gateway with one route to an upstream over HTTP/1.1. */
export interface Http2Gateway {
  readonly port: number;
  readonly context: Context;
  readonly router: Router;
  readonly listeners: Listeners;
  readonly upstream: Server;
  /** Opens a connection that is closed with the gateway. */
  client(options?: Parameters<typeof http2Client>[1]): Promise<Http2Client>;
  /** Applies another version of the listener. */
  apply(listener: Partial<Listener>): Promise<void>;
  /** The value of a statistic; 0 if it does not exist. */
  stat(path: string): number;
  close(): Promise<void>;
}

export interface Http2GatewayParts {
  readonly respond?: RequestListener;
  readonly listener?: Partial<Listener>;
  readonly limits?: Partial<ListenLimits>;
  readonly route?: Partial<Route>;
  readonly upstream?: Partial<SnapshotUpstream>;
  readonly context?: Context;
  /** Called with the records of requests that the listener rejects. */
  readonly onRefused?: (record: RequestRecord) => void;
}

/** Responds with what it received, as JSON. */
export const echo: RequestListener = (req, res) => {
  const chunks: Buffer[] = [];
  req.on('data', (chunk: Buffer) => chunks.push(chunk));
  req.on('end', () => {
    const { method, url, rawHeaders, rawTrailers } = req;
    const body = Buffer.concat(chunks).toString('latin1');
    res.end(JSON.stringify({ method, url, rawHeaders, rawTrailers, body }));
  });
};

export async function http2Gateway(parts: Http2GatewayParts = {}): Promise<Http2Gateway> {
  const context = parts.context ?? createContext();
  const upstream = createServer({ maxHeaderSize: 131_072 }, parts.respond ?? echo);
  await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve));
  const endpoint = endpointOf((upstream.address() as AddressInfo).port);
  const router = createRouter({ context, accessLog: 'none', ...http2ClientOption() });
  const snapshot = (listener: Partial<Listener> = {}) =>
    snapshotOf([hostOf([routeOf(parts.route)])], [{ ...upstreamOf([endpoint]), ...parts.upstream }], listener);
  const clients: Http2Client[] = [];
  const logRefused = parts.onRefused && ((_name: string, record: RequestRecord) => parts.onRefused!(record));
  const listeners = createListeners({
    router: { ...router, listener: router.listener, logRefused: logRefused ?? router.logRefused },
    context,
    host: '127.0.0.1',
    portOf: () => 0,
    limits: { ...parts.limits },
  });
  let port = 0;
  async function apply(listener: Partial<Listener> = {}): Promise<void> {
    const next = snapshot(listener);
    router.apply(next);
    const [result] = await listeners.apply(next);
    if (result?.error) throw result.error;
    port = result!.port!;
  }
  await apply(parts.listener);
  return {
    port,
    context,
    router,
    listeners,
    upstream,
    apply,
    async client(options) {
      const client = await http2Client(port, options);
      clients.push(client);
      return client;
    },
    stat(path) {
      const found = context.metrics.list().find(({ name }) => name.path === path);
      return found && found.type !== 'histogram' ? found.stat.value : 0;
    },
    async close() {
      for (const client of clients) client.close();
      await listeners.close();
      await router.close();
      upstream.closeAllConnections();
      await new Promise((resolve) => upstream.close(resolve));
    },
  };
}
