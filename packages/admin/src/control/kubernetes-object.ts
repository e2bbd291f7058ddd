import type { ControlPlaneState, Resource, ResourceKey, ResourceStatus } from '@edge-gateway/core';
import { redact, redactAll } from '../redact.ts';

/** A resource as Kubernetes shows it. */
export interface KubernetesObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace: string; readonly [field: string]: unknown };
  readonly [field: string]: unknown;
}

/** Every resource, and every refused one of which only the status is known; sorted by version, kind, namespace, name. */
export function kubernetesObjects({ resources, statuses }: ControlPlaneState): KubernetesObject[] {
  const versions = new Map([...resources.values()].map(({ kind, apiVersion }) => [kind as string, apiVersion]));
  const refused = [...statuses].filter(([key]) => !resources.has(key));
  return [
    ...[...resources].map(([key, resource]) => kubernetesObject(resource, statuses.get(key))),
    ...refused.map(([key, status]) => withoutSpec(key, status, versions)),
  ].sort(byVersionKindNamespaceName);
}

/** One resource with its status. Values of Secrets are redacted, and credentials written into other resources. */
export function kubernetesObject(resource: Resource, status?: ResourceStatus): KubernetesObject {
  const { apiVersion, kind, metadata, spec } = resource;
  const isSecret = kind === 'Secret';
  const annotations = metadata.annotations && {
    annotations: isSecret ? redactAll(metadata.annotations) : safe(metadata.annotations),
  };
  const head = { apiVersion, kind, metadata: { ...metadata, ...annotations } };
  const tail = status ? { status } : {};
  if (isSecret) return { ...head, ...secretBody(spec), ...tail };
  if (kind === 'ConfigMap') return { ...head, ...(redact(spec) as object), ...tail };
  return { ...head, spec: redact(spec), ...tail };
}

/** A copy of the whole resource that tools keep there repeats what it holds. */
const COPY_ANNOTATION = 'kubectl.kubernetes.io/last-applied-configuration';

function safe(annotations: Readonly<Record<string, string>>): object {
  return Object.fromEntries(Object.entries(annotations).filter(([key]) => key !== COPY_ANNOTATION));
}

/** Kubernetes' own shape: `type` and `data` at the top. */
function secretBody(spec: unknown): object {
  const { type, ...rest } = (spec ?? {}) as { type?: unknown };
  return { ...(type === undefined ? {} : { type }), ...(redactAll(rest) as object) };
}

function withoutSpec(
  key: ResourceKey,
  status: ResourceStatus,
  versions: ReadonlyMap<string, string>,
): KubernetesObject {
  const [kind = '', namespace = '', ...name] = key.split('/');
  return { apiVersion: versions.get(kind) ?? '', kind, metadata: { name: name.join('/'), namespace }, status };
}

function byVersionKindNamespaceName(a: KubernetesObject, b: KubernetesObject): number {
  const sortKey = ({ apiVersion, kind, metadata }: KubernetesObject): string[] => [
    apiVersion,
    kind,
    metadata.namespace,
    metadata.name,
  ];
  const [left, right] = [sortKey(a), sortKey(b)];
  const i = left.findIndex((part, i) => part !== right[i]);
  return i < 0 ? 0 : left[i]! < right[i]! ? -1 : 1;
}
