import { readdirSync, readFileSync } from 'node:fs';
import { GatewayProcess } from '../../apps/gateway/test/gateway-process.ts';

/** A gateway, a process of its own, with one route to an upstream of the test. */
export interface GatewayBefore {
  readonly port: number;
  readonly process: GatewayProcess;
  /** Number of open file descriptors. */
  openFiles(): number;
  /** Resident memory in bytes, now and at its highest. */
  memory(): { readonly now: number; readonly peak: number };
  /** Value of a statistic of the upstream. */
  stat(name: string): Promise<number>;
  /** Writes its virtual service again, with these options of the virtual host. */
  reload(virtualHost: object): void;
  /** Lines of the access log so far. */
  log(): readonly LogLine[];
  close(): Promise<void>;
}

/** Fields of a line of the access log. */
export interface LogLine {
  readonly path?: string;
  readonly status?: number;
  readonly flags?: string;
  readonly details?: string;
}

export interface GatewayBeforeOptions {
  readonly upstreamPort: number;
  /** Port of an upstream over HTTP/2, which serves paths below `/http2`. */
  readonly http2UpstreamPort?: number;
  /** `httpConnectionManagerSettings` of the listener. */
  readonly settings?: object;
  /** Options of the route. */
  readonly route?: object;
  /** Most file descriptors that the process may open. */
  readonly openFiles?: number;
  /** Most MiB of heap. */
  readonly heapMb?: number;
}

const UPSTREAM = 'up';
const HTTP2_UPSTREAM = 'up-http2';
const HTTP2_PREFIX = '/http2';
const CIRCUIT_BREAKERS = { maxConnections: 10_000, maxPendingRequests: 10_000, maxRequests: 10_000 };

/** Starts a gateway in front of a port of 127.0.0.1. */
export async function startGatewayBefore(options: GatewayBeforeOptions): Promise<GatewayBefore> {
  const gateway = new GatewayProcess({ openFiles: options.openFiles, heapMb: options.heapMb });
  const resources = resourcesOf(options);
  const write = (index: number, resource: object): void => gateway.write(`${index}.json`, JSON.stringify(resource));
  resources.forEach((resource, index) => write(index, resource));
  await gateway.start();
  const { pid } = gateway.child;
  const status = (field: string): number => {
    const text = readFileSync(`/proc/${pid}/status`, 'utf8');
    return Number(new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(text)![1]) * 1024;
  };
  return {
    port: gateway.ready.listeners[0]!.port,
    process: gateway,
    openFiles: () => readdirSync(`/proc/${pid}/fd`).length,
    memory: () => ({ now: status('VmRSS'), peak: status('VmHWM') }),
    async stat(name) {
      const text = await (await fetch(`${gateway.admin}/stats`)).text();
      return Number(new RegExp(`^cluster\\.${UPSTREAM}_gw-system\\.${name}: (\\d+)`, 'm').exec(text)?.[1] ?? 0);
    },
    reload: (virtualHost) => write(resources.length - 1, serviceOf(options, virtualHost)),
    log: () => gateway.output.split('\n').flatMap((line) => (line.includes('"requestId"') ? [JSON.parse(line)] : [])),
    close: () => gateway.close(),
  };
}

function resourcesOf(options: GatewayBeforeOptions): object[] {
  const { upstreamPort, http2UpstreamPort, settings } = options;
  const gateway = {
    apiVersion: 'gateway.vendor.io/v1',
    kind: 'Gateway',
    metadata: { name: 'gateway' },
    spec: {
      bindAddress: '127.0.0.1',
      bindPort: 0,
      httpGateway: { options: { httpConnectionManagerSettings: settings } },
    },
  };
  const upstreams = [upstreamOf(UPSTREAM, upstreamPort)];
  if (http2UpstreamPort !== undefined) upstreams.push(upstreamOf(HTTP2_UPSTREAM, http2UpstreamPort, true));
  return [gateway, ...upstreams, serviceOf(options)];
}

const upstreamOf = (name: string, port: number, useHttp2 = false) => ({
  apiVersion: 'gw.vendor.io/v1',
  kind: 'Upstream',
  metadata: { name },
  // More than the tests send: not these limits are their subject.
  spec: { useHttp2, static: { hosts: [{ addr: '127.0.0.1', port }] }, circuitBreakers: CIRCUIT_BREAKERS },
});

/** The virtual service of the gateway, with these options of its virtual host. */
function serviceOf({ http2UpstreamPort, route }: GatewayBeforeOptions, options?: object): object {
  const to = (name: string) => ({ routeAction: { single: { upstream: { name } } } });
  const routes: object[] = [{ ...to(UPSTREAM), options: route }];
  if (http2UpstreamPort !== undefined) {
    const stripped = { options: { prefixRewrite: '/' } };
    routes.unshift({ matchers: [{ prefix: `${HTTP2_PREFIX}/` }], ...to(HTTP2_UPSTREAM), ...stripped });
  }
  return {
    apiVersion: 'gateway.vendor.io/v1',
    kind: 'VirtualService',
    metadata: { name: 'all' },
    spec: { virtualHost: { routes, options } },
  };
}
