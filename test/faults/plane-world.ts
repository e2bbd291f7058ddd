import { randomBytes } from 'node:crypto';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { GatewayProcess, until } from '../../apps/gateway/test/gateway-process.ts';
import { proxiesOf, startControlPlane, startProxy } from '../../apps/gateway/test/planes/planes.ts';
import { freePorts } from '../parts/free-port.ts';
import { startBalancer, type Balancer } from './balancer.ts';
import { createPerson } from './person.ts';
import { startProvider } from './provider.ts';
import { redisSession, resources } from './resources.ts';
import { startUpstream } from './upstream.ts';
import type { Site } from './world.ts';

/** Control planes and proxies, each a process of its own, behind a load balancer, which is the only node. */
export interface PlaneWorld extends Site {
  readonly controlPlanes: readonly GatewayProcess[];
  readonly proxies: readonly GatewayProcess[];
  readonly balancer: Balancer;
  /** Starts a proxy, or starts it again, with the state of its snapshot file. */
  startProxy(proxy: GatewayProcess): Promise<void>;
  /** Starts a control plane again, on the same port. */
  startControlPlane(controlPlane: GatewayProcess): Promise<void>;
  /** Writes a file for all control planes. */
  write(file: string, text: string): void;
  /** Resolves when each running proxy has accepted the newest state of the control plane that it is connected to. */
  settled(count: number): Promise<void>;
  close(): Promise<void>;
}

export interface PlaneWorldOptions {
  /** Address of Redis. */
  readonly redis: string;
  readonly proxies: number;
  readonly controlPlanes: number;
}

const PEOPLE = 10;
/** The last number of the address of the first proxy. */
const FIRST_HOST = 11;

/** Starts a world; nobody is logged in before `settle`. */
export async function startPlaneWorld(options: PlaneWorldOptions): Promise<PlaneWorld> {
  const provider = await startProvider();
  const upstream = await startUpstream();
  const controlPlanes = Array.from({ length: options.controlPlanes }, () => new GatewayProcess());
  const proxies = Array.from({ length: options.proxies }, () => new GatewayProcess());
  // While a process does not listen, nothing else may take its port: the balancer would send requests there.
  const [port, ...xdsPorts] = (await freePorts(1 + controlPlanes.length)) as [number, ...number[]];
  for (const [i, proxy] of proxies.entries()) proxy.host = `127.0.0.${FIRST_HOST + i}`;
  const balancer = await startBalancer(() => proxies.flatMap(({ ready, host }) => (ready ? [{ host, port }] : [])));
  const node = { url: balancer.url };
  const world: PlaneWorld = {
    controlPlanes,
    proxies,
    balancer,
    nodes: [node],
    provider,
    upstream,
    people: Array.from({ length: PEOPLE }, (_, i) => createPerson(`person-${i}@example.com`)),
    next: () => node,
    isUp: () => true,
    async startProxy(proxy) {
      const ports = controlPlanes.map(({ ready }) => ready.xdsPort);
      const key = join(proxy.dir, 'key');
      // Without it, the file has no secrets: a proxy that does not reach a control plane in time could serve only public routes.
      if (!existsSync(key)) writeFileSync(key, randomBytes(32));
      const saved = ['--snapshot-file', join(proxy.dir, 'state'), '--snapshot-key-file', key];
      const flags = ['--bind-address', proxy.host, ...saved];
      await startProxy(proxy, ports, ...flags);
      // On a busy machine the first state may arrive later.
      await until(() => proxy.ready.listeners.length > 0, 'the listener');
    },
    async startControlPlane(controlPlane) {
      const xdsPort = xdsPorts[controlPlanes.indexOf(controlPlane)]!;
      await startControlPlane(controlPlane, '--http-port', String(port), '--xds-port', String(xdsPort));
    },
    write(file, text) {
      for (const controlPlane of controlPlanes) controlPlane.write(file, text);
    },
    async settled(count) {
      await until(async () => {
        const shown = (await Promise.all(controlPlanes.map(proxiesOf))).flat();
        return shown.length === count && shown.every(({ current }) => current);
      }, `${count} proxies with the newest state`);
    },
    async close() {
      await Promise.all([...proxies, ...controlPlanes].map((each) => each.close()));
      await balancer.close();
      await provider.stop();
      await upstream.close();
    },
  };
  const { issuer } = provider;
  world.write('all.yaml', resources({ issuer, upstreamPort: upstream.port, session: redisSession(options.redis) }));
  try {
    await Promise.all(controlPlanes.map((each) => world.startControlPlane(each)));
    await Promise.all(proxies.map((each) => world.startProxy(each)));
    return world;
  } catch (error) {
    await world.close();
    throw error;
  }
}
