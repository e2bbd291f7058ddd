import type { ControlPlaneState } from '@edge-gateway/core';
import type { ControlEndpointFactory } from './endpoint.ts';
import { kubernetesObject, kubernetesObjects, type KubernetesObject } from './kubernetes-object.ts';
import { snapshotAnswer } from './snapshot-answer.ts';

/** `/snapshots/edge`: what translation works with, by kind: resources in use, last good versions included. */
export const snapshotsEdge: ControlEndpointFactory = ({ state }) => ({
  paths: ['/snapshots/edge'],
  help: 'the resources in use, by kind',
  get: () => snapshotAnswer(state(), (current) => ({ data: edgeSnapshot(current) })),
});

/** Kind → resources. Secrets are there with their metadata only, ConfigMaps without values. */
export function edgeSnapshot(state: ControlPlaneState): Record<string, KubernetesObject[]> {
  const inUse = new Set([...state.resources.values()].map((resource) => identity(kubernetesObject(resource))));
  const objects = kubernetesObjects(state).filter((object) => inUse.has(identity(object)));
  const byKind = Map.groupBy(objects.map(withoutValues), ({ kind }) => kind);
  return Object.fromEntries([...byKind].sort(([a], [b]) => (a < b ? -1 : 1)));
}

function identity({ kind, metadata }: KubernetesObject): string {
  return `${kind}/${metadata.namespace}/${metadata.name}`;
}

function withoutValues(object: KubernetesObject): KubernetesObject {
  const { apiVersion, kind, metadata } = object;
  if (kind === 'Secret') return { apiVersion, kind, metadata };
  if (kind !== 'ConfigMap') return object;
  const keys = Object.keys((object['data'] ?? {}) as object);
  return { apiVersion, kind, metadata, data: Object.fromEntries(keys.map((key) => [key, '<redacted>'])) };
}
