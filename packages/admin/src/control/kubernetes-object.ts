import {
  KINDS,
  redact,
  redactAll,
  type ControlPlaneState,
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

/** What is listed before it is shown: a resource, or of a refused one only its key. */
export interface ListedObject {
  readonly kind: string;
  readonly key: ResourceKey;
  readonly resource: Resource | undefined;
}

/** Every resource, and every refused one of which only the status is known; sorted by version, kind, namespace, name. */
export function listObjects({ resources, statuses }: ControlPlaneState): ListedObject[] {
  const refused = [...statuses.keys()].filter((key) => !resources.has(key));
  const listed = [
    ...[...resources].map(([key, resource]) => ({ kind: resource.kind as string, key, resource })),
    ...refused.map((key) => ({ kind: key.slice(0, key.indexOf('/')), key, resource: undefined })),
  ];
  const sortable = listed.map((each) => [[versionOf(each), ...each.key.split('/')].join('\0'), each] as const);
  return sortable.sort(([a], [b]) => (a < b ? -1 : 1)).map(([, each]) => each);
}

/** Shows what was listed, with its status. */
export function showObject({ key, resource, kind }: ListedObject, status?: ResourceStatus): KubernetesObject {
  if (resource) return kubernetesObject(resource, status);
  const [, namespace = '', name = ''] = key.split('/');
  const apiVersion = versionOf({ key, resource, kind });
  return { apiVersion, kind, metadata: { name, namespace }, ...(status && { status }) };
}

/** One resource with its status. Values of Secrets are redacted, and credentials written into other resources. */
export function kubernetesObject(resource: Resource, status?: ResourceStatus): KubernetesObject {
  const { apiVersion, kind, metadata, spec } = resource;
  const head = { apiVersion, kind, metadata: { ...metadata, ...annotationsOf(resource) } };
  const tail = status ? { status } : {};
  if (kind === 'Secret') return { ...head, ...secretBody(spec), ...tail };
  if (kind === 'ConfigMap') return { ...head, ...(redact(spec) as object), ...tail };
  return { ...head, spec: redact(spec), ...tail };
}

function versionOf({ kind, resource }: ListedObject): string {
  return resource?.apiVersion ?? [...KINDS.values()].find((each) => each.kind === kind)?.apiVersions[0] ?? '';
}

/** A copy of the whole resource that tools keep there repeats what it holds. */
const COPY_ANNOTATION = 'kubectl.kubernetes.io/last-applied-configuration';

function annotationsOf({ kind, metadata: { annotations } }: Resource): object {
  if (!annotations) return {};
  if (kind === 'Secret') return { annotations: redactAll(annotations) };
  return { annotations: Object.fromEntries(Object.entries(annotations).filter(([key]) => key !== COPY_ANNOTATION)) };
}

/** Kubernetes' own shape: `type` and `data` at the top. */
function secretBody(spec: unknown): object {
  const { type, ...rest } = (spec ?? {}) as { type?: unknown };
  return { ...(type === undefined ? {} : { type }), ...(redactAll(rest) as object) };
}
