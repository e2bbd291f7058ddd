import { createMetrics, silentLoggers, type ControlPlane } from '@edge-gateway/core';
import type { EnvoyServices } from '@edge-gateway/core/envoy';
import { createDiscoveryServer, createEnvoyTranslation, NODE_TRANSLATION, type EnvoyProblem } from '@edge-gateway/xds';
import { secretsOf } from '@edge-gateway/xds/resources';

/** Serves the states of a control plane to proxies and Envoys. */
export async function serveDiscovery(controlPlane: ControlPlane, services: EnvoyServices) {
  let problems: readonly EnvoyProblem[] = [];
  const server = createDiscoveryServer({
    log: silentLoggers,
    metrics: createMetrics(),
    reportMs: 500,
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
  return { server, port, close, problems: () => problems };
}
