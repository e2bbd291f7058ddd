import {
  createContext,
  createControlPlane,
  memorySource,
  silentLoggers,
  type Concern,
  type ControlPlane,
} from '@edge-gateway/core';
import { envoyBootstrap, type EnvoyMessage, type EnvoyServices } from '@edge-gateway/core/envoy';
import { createAuthService, createExtAuth, listenGrpc, METHODS } from '@edge-gateway/extauth';
import {
  createMemoryStore,
  createRateLimit,
  createRateLimitService,
  listenRateLimitGrpc,
} from '@edge-gateway/rate-limit';
import { jwtBeforeExtAuthConcern, jwtConcern, rbacConcern } from '@edge-gateway/rbac';
import { createListeners, createRouter } from '@edge-gateway/routing';
import { startEnvoyProcess } from '../../parts/envoy-process.ts';
import { serveDiscovery } from '../discovery.ts';

/** Address of the Envoy, and of the Node proxy, which listens on the same ports. */
export const ENVOY = '127.0.0.1';
export const NODE = '127.0.0.2';

export interface BothPlanesOptions {
  readonly resources: readonly object[];
  readonly services?: EnvoyServices;
  /** Starts an auth server and a rate limit server for the Envoy. */
  readonly withServers?: boolean;
  /** Changes the configuration that the Envoy starts with. */
  readonly bootstrap?: (bootstrap: EnvoyMessage) => EnvoyMessage;
  /** Number of listeners of the Envoy. Default: 1. */
  readonly listeners?: number;
}

/** Serves resources with an Envoy and a Node proxy, which one control plane configures. */
export async function startBothPlanes({
  resources,
  services = {},
  withServers = false,
  bootstrap = (each) => each,
  listeners = 1,
}: BothPlanesOptions) {
  const source = memorySource({ resources });
  const controlPlane = createControlPlane({ source, log: silentLoggers });
  await controlPlane.start();
  const servers = withServers ? await startServers(controlPlane) : undefined;
  const all = { ...services, ...servers?.services };
  const { server, port, close, problems } = await serveDiscovery(controlPlane, all);
  const context = createContext({ log: silentLoggers, secrets: controlPlane.secrets });
  const concerns = [
    ...createRateLimit(),
    createExtAuth({ methods: METHODS }),
    jwtBeforeExtAuthConcern,
    jwtConcern,
    rbacConcern,
  ] as readonly Concern[];
  const router = createRouter({ concerns, context, accessLog: 'none' });
  const node = createListeners({ router, context, host: NODE, proxyProtocolFrom: [ENVOY] });
  let applied: Promise<unknown> = Promise.resolve();
  controlPlane.subscribe(({ snapshots }) => {
    const snapshot = snapshots.get('gateway-proxy')!;
    router.apply(snapshot);
    applied = applied.then(() => node.apply(snapshot));
  });
  await applied;
  const start = envoyBootstrap({ xds: [{ host: '127.0.0.1', port }], proxy: 'gateway-proxy', adminPort: 0 });
  const envoy = await startEnvoyProcess(JSON.stringify(bootstrap(start)), 'envoy.json', listeners);
  return {
    controlPlane,
    server,
    admin: envoy.admin,
    /** Replaces the resources. */
    set: (unit: string, next: readonly object[]) => source.set(unit, next),
    get problems() {
      return problems();
    },
    async close() {
      await envoy.close();
      close();
      await node.close();
      await router.close();
      servers?.close();
      await controlPlane.close();
    },
  };
}

/** Starts the servers of the roles `extauth` and `rate-limit`, with the resources of the control plane. */
async function startServers(controlPlane: ControlPlane) {
  const context = createContext({ log: silentLoggers, secrets: controlPlane.secrets });
  const auth = createAuthService({ context, methods: METHODS });
  const store = createMemoryStore();
  const limits = createRateLimitService({ context, store });
  controlPlane.subscribe((state) => {
    auth.update(state);
    limits.update(state);
  });
  const place = { address: '127.0.0.1', port: 0, log: silentLoggers.get('main') };
  const [extauth, rateLimit] = await Promise.all([listenGrpc(auth, place), listenRateLimitGrpc(limits, place)]);
  const at = ({ port }: { readonly port: number }) => ({ host: '127.0.0.1', port });
  return {
    services: { extauth: at(extauth), rateLimit: at(rateLimit) },
    close() {
      extauth.close();
      rateLimit.close();
      auth.close();
      store.close();
    },
  };
}
