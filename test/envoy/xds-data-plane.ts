import { createControlPlane, createMetrics, memorySource, silentLoggers } from '@edge-gateway/core';
import { envoyBootstrap, type EnvoyServices } from '@edge-gateway/core/envoy';
import { createDiscoveryServer, createEnvoyTranslation, NODE_TRANSLATION, type EnvoyProblem } from '@edge-gateway/xds';
import { secretsOf } from '@edge-gateway/xds/resources';
import { startEnvoyProcess } from '../parts/envoy-process.ts';
import { freePorts } from '../parts/free-port.ts';
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
  let problems: readonly EnvoyProblem[] = [];
  const server = createDiscoveryServer({
    log: silentLoggers,
    metrics: createMetrics(),
    translations: [NODE_TRANSLATION, createEnvoyTranslation(services, (_proxy, found) => (problems = found))],
  });
  const { port, close } = await server.listen({ address: '127.0.0.1', port: 0 });
  controlPlane.subscribe(({ snapshots, resources }) =>
    server.update(
      new Map(
        Array.from(snapshots, ([proxy, snapshot]) => [
          proxy,
          { snapshot, unserved: [], secrets: secretsOf(snapshot, resources, controlPlane.secrets) },
        ]),
      ),
    ),
  );
  const bootstrap = envoyBootstrap({ xds: [{ host: '127.0.0.1', port }], proxy: 'gateway-proxy', adminPort: 0 });
  const unserved = (): number => problems.filter(({ kind }) => kind === 'Gateway').length;
  const envoy = await startEnvoyProcess(JSON.stringify(bootstrap), 'envoy.json', () => names.length - unserved());
  return {
    port: (listener) => free[names.indexOf(listener)]!,
    get problems() {
      return problems;
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
