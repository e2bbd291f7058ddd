import { createContext, createControlPlane, memorySource, silentLoggers } from '@edge-gateway/core';
import { createRateLimit } from '@edge-gateway/rate-limit';
import { createListeners, createRouter } from '@edge-gateway/routing';
import type { Certificates } from '../parts/certificates.ts';
import { LOG_FIELDS } from './log/log-fields.ts';
import { fillIn, listenersOf, REFUSED_PORT, type PlacedGroup } from './placed-group.ts';
import { ours } from './scenario.ts';

/** A data plane that serves the groups. */
export interface DataPlane {
  /** Returns the port of a listener. */
  port(listener: string): number;
  close(): Promise<void>;
}

const FIRST_PORT = 20_000;

/** Serves the groups with our data plane, whose access log is a file. `problems` are the errors and warnings of resources. */
export async function startOurs(
  groups: readonly PlacedGroup[],
  logPath: string,
): Promise<DataPlane & { readonly problems: readonly string[] }> {
  const source = memorySource({ resources: resourcesOf(groups, logPath) });
  const controlPlane = createControlPlane({ source, log: silentLoggers });
  await controlPlane.start();
  const { issues, snapshots } = controlPlane.state!;
  const context = createContext({ log: silentLoggers, secrets: controlPlane.secrets });
  const router = createRouter({ concerns: createRateLimit(), context, accessLog: 'none' });
  const listeners = createListeners({ router, context, host: '127.0.0.1', portOf: () => 0 });
  const snapshot = snapshots.get('gateway-proxy')!;
  router.apply(snapshot);
  const results = await listeners.apply(snapshot);
  const names = [...listenersOf(groups).keys()];
  const ports = new Map(
    results.map(({ name, port }) => [names[Number(name.split('-').at(-1)) - FIRST_PORT]!, port!] as const),
  );
  return {
    problems: issues.map(({ path, message }) => `${path.join('.')}: ${message}`),
    port: (listener) => ports.get(listener)!,
    async close() {
      await listeners.close();
      await router.close();
      await controlPlane.close();
    },
  };
}

/** The resources of the groups, with an access log in a file; `portOf` is the port of a listener by its index. */
export function resourcesOf(
  groups: readonly PlacedGroup[],
  logPath: string,
  portOf: (index: number) => number = (index) => FIRST_PORT + index,
): object[] {
  const fileSink = { path: logPath, jsonFormat: LOG_FIELDS };
  const gateways = [...listenersOf(groups)].map(([name, members], index) => ({
    apiVersion: 'gateway.vendor.io/v1',
    kind: 'Gateway',
    metadata: { name },
    spec: {
      bindAddress: '127.0.0.1',
      bindPort: portOf(index),
      options: { accessLoggingService: { accessLog: [{ fileSink }] } },
      ssl: members[0]!.certificates !== undefined,
      httpGateway: {
        virtualServices: members
          .flatMap(virtualServicesOf)
          .map(({ metadata: { name } }) => ({ name, namespace: 'gw-system' })),
        options: members[0]!.ours?.listener,
      },
      routeOptions: members[0]!.ours?.routeOptions,
    },
  }));
  return [...gateways, ...groups.flatMap((group) => [...virtualServicesOf(group), ...upstreamsOf(group)])];
}

const listenerTls = ({ cert, key }: Certificates) => ({ sslFiles: { tlsCert: cert, tlsKey: key } });

function virtualServicesOf(group: PlacedGroup): { readonly metadata: { readonly name: string } }[] {
  const { routes = [ours()], virtualHost = {}, virtualHosts = [] } = group.ours ?? {};
  return [{ domains: ['$host'], routes, ...virtualHost }, ...virtualHosts].map((each, index) => ({
    apiVersion: 'gateway.vendor.io/v1',
    kind: 'VirtualService',
    metadata: { name: `${group.id}-${index}` },
    spec: {
      virtualHost: fillIn(group, each),
      ...(group.certificates && { sslConfig: listenerTls(group.certificates) }),
    },
  }));
}

function upstreamsOf(group: PlacedGroup): object[] {
  const tls = group.certificates && { sslConfig: { sslFiles: { rootCa: group.certificates.ca } } };
  const upstream = (name: string, port: number, more: object = {}): object => ({
    apiVersion: 'gw.vendor.io/v1',
    kind: 'Upstream',
    metadata: { name: `${group.id}-${name}` },
    spec: { static: { hosts: [{ addr: '127.0.0.1', port }] }, useHttp2: group.upstreamVersion === 2, ...tls, ...more },
  });
  return [
    upstream('up', group.up.port, group.ours?.upstream),
    upstream('other', group.other.port),
    upstream('refused', REFUSED_PORT),
  ];
}
