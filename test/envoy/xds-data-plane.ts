import { createControlPlane, memorySource, silentLoggers } from '@edge-gateway/core';
import { envoyBootstrap, type EnvoyServices } from '@edge-gateway/core/envoy';
import type { EnvoyProblem } from '@edge-gateway/xds';
import { startEnvoyProcess } from '../parts/envoy-process.ts';
import { freePorts } from '../parts/free-port.ts';
import { serveDiscovery } from './discovery.ts';
import { resourcesOf, type DataPlane } from './our-data-plane.ts';
import { listenersOf, type PlacedGroup } from './placed-group.ts';

/** An Envoy that a control plane of ours configures. */
export interface XdsDataPlane extends DataPlane {
  /** What it does not serve. */
  readonly problems: readonly EnvoyProblem[];
  /** What it rejected. */
  readonly rejections: readonly string[];
  readonly admin: string;
}

/** Serves the same resources as our data plane with an Envoy, which receives them from our control plane; its access log is a file. */
export async function startXdsEnvoy(
  groups: readonly PlacedGroup[],
  logPath: string,
  services: EnvoyServices = {},
): Promise<XdsDataPlane> {
  const names = [...listenersOf(groups).keys()];
  const free = await freePorts(names.length);
  const source = memorySource({ resources: resourcesOf(groups, logPath, (index) => free[index]!) });
  const controlPlane = createControlPlane({ source, log: silentLoggers });
  await controlPlane.start();
  const { server, port, close, problems } = await serveDiscovery(controlPlane, services);
  const bootstrap = envoyBootstrap({ xds: [{ host: '127.0.0.1', port }], proxy: 'gateway-proxy', adminPort: 0 });
  const unserved = (): number => problems().filter(({ kind }) => kind === 'Gateway').length;
  const envoy = await startEnvoyProcess(JSON.stringify(bootstrap), 'envoy.json', () => names.length - unserved());
  return {
    port: (listener) => free[names.indexOf(listener)]!,
    get problems() {
      return problems();
    },
    get rejections() {
      return server
        .rejections()
        .map(({ rejection }) => `${rejection.type} ${rejection.resource}: ${rejection.message}`);
    },
    admin: envoy.admin,
    async close() {
      await envoy.close();
      close();
      await controlPlane.close();
    },
  };
}
