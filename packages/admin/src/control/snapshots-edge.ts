import { redactAll, type ControlPlaneState } from '@edge-gateway/core';
import { lazily } from '../http/json-chunks.ts';
import type { ControlEndpointFactory } from './endpoint.ts';
import { listObjects, showObject, type KubernetesObject } from './kubernetes-object.ts';
import { snapshotAnswer } from './snapshot-answer.ts';

/** `/snapshots/edge`: what translation works with, by kind: resources in use, last good versions included. */
export const snapshotsEdge: ControlEndpointFactory = ({ state }) => ({
  paths: ['/snapshots/edge'],
  help: 'the resources in use, by kind',
  get: () => snapshotAnswer(state(), (current) => ({ data: edgeSnapshot(current) })),
});

/** Kind → resources. Secrets are there with their metadata only, ConfigMaps without values. */
export function edgeSnapshot(state: ControlPlaneState): Record<string, Iterable<KubernetesObject>> {
  const inUse = listObjects(state).filter(({ resource }) => resource);
  const byKind = [...Map.groupBy(inUse, ({ kind }) => kind)].sort(([a], [b]) => (a < b ? -1 : 1));
  const show = (each: (typeof inUse)[number]): KubernetesObject =>
    withoutValues(showObject(each, state.statuses.get(each.key)));
  return Object.fromEntries(byKind.map(([kind, objects]) => [kind, lazily(objects, show)]));
}

function withoutValues(object: KubernetesObject): KubernetesObject {
  const { apiVersion, kind, metadata } = object;
  if (kind === 'Secret') return { apiVersion, kind, metadata };
  if (kind !== 'ConfigMap') return object;
  return { apiVersion, kind, metadata, data: redactAll(object['data'] ?? {}) };
}
