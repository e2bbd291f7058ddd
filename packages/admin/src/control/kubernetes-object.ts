import {
  KINDS,
  kubernetesStatus,
  redact,
  redactAll,
  type ControlPlaneState,
  type Kind,
  type Resource,
  type ResourceKey,
  type ResourceStatus,
} from '@edge-gateway/core';

/** A resource as Kubernetes shows it. */
export interface KubernetesObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace: string; readonly [field: string]: unknown };
  readonly [field: string]: unknown;
}

/** A resource before it is rendered. One without a good version has its document, if that can be read. */
interface ListedObject {
  readonly kind: string;
  readonly key: ResourceKey;
  readonly resource: Resource | undefined;
  readonly written?: object;
}

/** Every resource, also rejected ones without a good version; sorted by version, kind, namespace, name. */
export function listObjects(state: ControlPlaneState): ListedObject[] {
  const keys = new Set([...state.resources.keys(), ...state.statuses.keys()]);
  const listed = Array.from(keys, (key) => listedObject(state, key));
  const sortable = listed.map((each) => [[versionOf(each), ...each.key.split('/')].join('\0'), each] as const);
  return sortable.sort(([a], [b]) => (a < b ? -1 : 1)).map(([, each]) => each);
}

/** Returns one resource of the list. */
export function listedObject({ resources, rejected }: ControlPlaneState, key: ResourceKey): ListedObject {
  const [resource, written] = [resources.get(key), rejected.get(key)];
  if (resource) return { kind: resource.kind, key, resource };
  return { kind: key.slice(0, key.indexOf('/')), key, resource, ...(written && { written }) };
}

/** Renders a listed resource with its status; one without a good version as written. */
export function showObject(listed: ListedObject, status?: ResourceStatus): KubernetesObject {
  const { key, resource, written, kind } = listed;
  if (resource) return kubernetesObject(resource, status);
  const [, namespace = '', name = ''] = key.split('/');
  const { metadata, status: _, ...rest } = (written ?? {}) as { metadata?: object; status?: unknown };
  const head = { apiVersion: versionOf(listed), kind, metadata: { ...metadata, name, namespace } };
  return { ...head, ...rest, ...(status && { status: kubernetesStatus(kind as Kind, status) }) };
}

/** One resource with its status. Values of Secrets are redacted, and credentials written into other resources. */
export function kubernetesObject(resource: Resource, status?: ResourceStatus): KubernetesObject {
  const { apiVersion, kind, metadata, spec } = resource;
  const head = { apiVersion, kind, metadata: { ...metadata, ...annotationsOf(resource) } };
  const tail = status ? { status: kubernetesStatus(kind, status) } : {};
  if (kind === 'Secret') return { ...head, ...secretBody(spec), ...tail };
  if (kind === 'ConfigMap') return { ...head, ...(redact(spec) as object), ...tail };
  return { ...head, spec: redact(spec), ...tail };
}

function versionOf({ kind, resource }: ListedObject): string {
  return resource?.apiVersion ?? [...KINDS.values()].find((each) => each.kind === kind)?.apiVersions[0] ?? '';
}

function annotationsOf({ kind, metadata: { annotations } }: Resource): object {
  if (!annotations) return {};
  return { annotations: kind === 'Secret' ? redactAll(annotations) : redact(annotations) };
}

/** Kubernetes' own shape: `type` and `data` at the top. */
function secretBody(spec: unknown): object {
  const { type, ...rest } = (spec ?? {}) as { type?: unknown };
  return { ...(type === undefined ? {} : { type }), ...(redactAll(rest) as object) };
}
