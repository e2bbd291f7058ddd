import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  DEFAULT_SNAPSHOT_SETTINGS,
  type Endpoint,
  type Listener,
  type Route,
  type Snapshot,
  type SnapshotUpstream,
  type VirtualHost,
} from '@edge-gateway/core';

/** The name of the listener that `snapshotOf` makes. */
export const LISTENER = 'listener-::-8080';

/** A route to the upstream `up_gw-system` on prefix `/`, but for what `parts` say. */
export function routeOf(parts: Partial<Route> & { to?: string } = {}): Route {
  const { to = 'up_gw-system', ...rest } = parts;
  return {
    name: 'gw-system.host-route-0',
    logName: '',
    matchers: [{ prefix: '/' }],
    action: { type: 'forward', destinations: [{ upstream: to, weight: 1, options: {} }] },
    options: {},
    source: { kind: 'VirtualService', name: 'host', namespace: 'gw-system' },
    ...rest,
  };
}

/** A route that answers with this text. */
export function directOf(body: string, parts: Partial<Route> = {}): Route {
  return routeOf({ action: { type: 'direct', status: 200, body }, ...parts });
}

/** A virtual host of every domain, but for what `parts` say. */
export function hostOf(routes: readonly Route[], parts: Partial<VirtualHost> = {}): VirtualHost {
  const virtualService = { name: 'host', namespace: 'gw-system' };
  return {
    name: 'gw-system.host',
    virtualService,
    domains: ['*'],
    options: {},
    routes,
    authConfigs: [],
    rateLimitConfigs: [],
    graphqlApis: [],
    ...parts,
  };
}

/** A plain listener with these hosts, and upstreams by name. */
export function snapshotOf(
  virtualHosts: readonly VirtualHost[],
  upstreams: readonly SnapshotUpstream[] = [],
  listener: Partial<Listener> = {},
): Snapshot {
  return {
    proxy: 'gateway-proxy',
    version: '1',
    upstreams,
    settings: DEFAULT_SNAPSHOT_SETTINGS,
    listeners: [
      {
        name: LISTENER,
        bindAddress: '::',
        bindPort: 8080,
        gateway: { name: 'gateway-proxy', namespace: 'gw-system' },
        ssl: false,
        options: {},
        httpOptions: {},
        routeOptions: {},
        sslConfigurations: [],
        virtualHosts,
        ...listener,
      },
    ],
  };
}

/** A static upstream, by default `up_gw-system`. */
export function upstreamOf(endpoints: readonly Endpoint[], name = 'up'): SnapshotUpstream {
  return {
    name: `${name}_gw-system`,
    ref: { name, namespace: 'gw-system' },
    spec: { static: { hosts: endpoints.map(({ address, port }) => ({ addr: address, port })) } },
    endpoints,
    tls: false,
  };
}

/** An endpoint on this machine. */
export function endpointOf(port: number): Endpoint {
  return { address: '127.0.0.1', port, weight: 1 };
}

/** A server that runs until the test is over. */
export interface RunningServer {
  readonly port: number;
  readonly server: Server;
}

const open: Server[] = [];

/** Starts a server on a free port of 127.0.0.1. */
export async function start(handler: (req: IncomingMessage, res: ServerResponse) => void): Promise<RunningServer> {
  const server = createServer(handler);
  open.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { server, port: (server.address() as AddressInfo).port };
}

/** Stops every server that `start` started. */
export async function stopAll(): Promise<void> {
  const servers = open.splice(0);
  for (const server of servers) server.closeAllConnections();
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
}

/** Answers with what it got, as JSON. */
export function echo(req: IncomingMessage, res: ServerResponse): void {
  res.setHeader('content-type', 'application/json');
  res.end(JSON.stringify({ method: req.method, url: req.url, headers: req.headers, raw: req.rawHeaders }));
}
