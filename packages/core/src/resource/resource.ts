/** The default namespace of resources, to which the gateway writes. */
export const DEFAULT_NAMESPACE = 'gw-system';

/** Every kind that the gateway reads. `schema/kinds.ts` contains their schemas, groups and plurals. */
export const KIND_NAMES = [
  'AuthConfig',
  'ConfigMap',
  'Gateway',
  'GraphQLApi',
  'HttpListenerOption',
  'ListenerOption',
  'MatchableHttpGateway',
  'MatchableTcpGateway',
  'Proxy',
  'RateLimitConfig',
  'RouteOption',
  'RouteTable',
  'Secret',
  'Settings',
  'Upstream',
  'UpstreamGroup',
  'VirtualHostOption',
  'VirtualService',
] as const;

/** One of the kinds in {@link KIND_NAMES}. */
export type Kind = (typeof KIND_NAMES)[number];

/** A reference to a resource of a known kind. */
export interface ResourceRef {
  readonly name: string;
  readonly namespace: string;
}

/**
 * A position in a source. `file` is a path, `memory:<n>`, or an object of a cluster as `<plural>.<group> <namespace>/<name>`. Line and column
 * start at 1; both are 0 where there is no text, as in a cluster.
 */
export interface Origin {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

/** The Kubernetes object metadata that the gateway reads. */
export interface Metadata {
  readonly name: string;
  readonly namespace: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  /** Of options that compete for a Gateway: the older ones take precedence. */
  readonly creationTimestamp?: string;
}

/**
 * A resource after validation: it matches the schema of its kind, with enums by name and keys in camelCase.
 * Frozen, and the same object while its text does not change.
 */
export interface Resource<Spec = unknown, K extends Kind = Kind> {
  readonly apiVersion: string;
  readonly kind: K;
  readonly metadata: Metadata;
  readonly spec: Spec;
  readonly origin: Origin;
}

/** `Kind/namespace/name`, the key of a resource in stores and reports. */
export type ResourceKey = `${Kind}/${string}/${string}`;

/** Returns the {@link ResourceKey} of a resource, or of a kind with a reference. */
export function keyOf(kind: Kind, ref: ResourceRef): ResourceKey {
  return `${kind}/${ref.namespace}/${ref.name}`;
}

/** Returns the parts of a key. */
export function identityOfKey(key: ResourceKey): { readonly kind: Kind } & ResourceRef {
  const [kind, namespace, name] = key.split('/') as [Kind, string, string];
  return { kind, namespace, name };
}

/** The four states a resource can be in. */
export const STATES = ['Pending', 'Accepted', 'Rejected', 'Warning'] as const;
/** One of {@link STATES}. */
export type State = (typeof STATES)[number];

/** The status of one resource by one controller (reference: routing 7.1). */
export interface StatusReport {
  readonly state: State;
  readonly reason?: string;
  /** Remarks that do not affect the state. */
  readonly messages?: readonly string[];
  readonly reportedBy: string;
  /** By `*v1.Proxy.<proxy>_<namespace>`. */
  readonly subresourceStatuses?: Readonly<Record<string, StatusReport>>;
}

/** The `status` of a resource: one report per controller namespace. */
export interface ResourceStatus {
  readonly statuses: Readonly<Record<string, StatusReport>>;
}

/** Cluster name of an upstream: `<name>_<namespace>`. */
export function clusterName(ref: ResourceRef): string {
  return `${ref.name}_${ref.namespace}`;
}
