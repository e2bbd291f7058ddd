import { kubernetesError } from '../error-codes.ts';

/** An object of the API server, as JSON. */
export interface ClusterObject {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata: ObjectMetadata;
  readonly [field: string]: unknown;
}

/** The metadata that this package reads. */
export interface ObjectMetadata {
  readonly name: string;
  readonly namespace?: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly generation?: number;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly deletionTimestamp?: string;
  readonly creationTimestamp?: string;
  readonly ownerReferences?: readonly OwnerReference[];
  readonly managedFields?: unknown;
}

/** The object that owns another one: Kubernetes deletes that one with it. */
export interface OwnerReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly controller?: boolean;
}

/** A resource type of the API server. */
export interface ResourceType {
  /** Empty for the core group. */
  readonly group: string;
  readonly version: string;
  readonly plural: string;
}

/**
 * Returns the path of a resource type, of one namespace or of all, and of one object. Throws `ERR_KUBERNETES_NAME` for a name that would
 * change the path.
 */
export function pathOf({ group, version, plural }: ResourceType, namespace?: string, name?: string): string {
  const base = group ? `/apis/${group}/${version}` : `/api/${version}`;
  const scope = namespace ? `/namespaces/${segment(namespace)}` : '';
  return `${base}${scope}/${plural}${name ? `/${segment(name)}` : ''}`;
}

/** Even when they are encoded, dots alone mean the path itself or the one above. */
function segment(name: string): string {
  if (name === '.' || name === '..')
    throw kubernetesError('ERR_KUBERNETES_NAME', `invalid name ${JSON.stringify(name)}`);
  return encodeURIComponent(name);
}

const OBJECT_NAME = /^[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?$/;

/** Returns whether a text can be the name of an object or of a namespace. References may contain any text. */
export function isObjectName(text: string): boolean {
  return OBJECT_NAME.test(text);
}

/** Returns `plural.group`, as kubectl names a resource type. */
export function typeName({ group, plural }: ResourceType): string {
  return group ? `${plural}.${group}` : plural;
}

/** Returns `namespace/name`, or the name of an object without a namespace. */
export function objectKey({ namespace, name }: Pick<ObjectMetadata, 'namespace' | 'name'>): string {
  return namespace ? `${namespace}/${name}` : name;
}
