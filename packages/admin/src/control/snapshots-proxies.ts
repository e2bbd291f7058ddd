import { keyOf, type ControlPlaneState } from '@edge-gateway/core';
import type { ControlEndpointFactory } from './endpoint.ts';
import { kubernetesObject } from './kubernetes-object.ts';
import { snapshotAnswer, type SnapshotData } from './snapshot-answer.ts';

/** `/snapshots/proxies`: the Proxy resources that translation made. */
export const snapshotsProxies: ControlEndpointFactory = ({ state }) => ({
  paths: ['/snapshots/proxies'],
  help: 'the proxies',
  get: () => snapshotAnswer(state(), proxiesOf),
});

function proxiesOf({ proxies, statuses }: ControlPlaneState): SnapshotData {
  return { data: proxies.map((proxy) => kubernetesObject(proxy, statuses.get(keyOf('Proxy', proxy.metadata)))) };
}
