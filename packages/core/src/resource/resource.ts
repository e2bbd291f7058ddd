/** The namespace of a resource that names none, and the one the gateway writes to. */
export const DEFAULT_NAMESPACE = 'gw-system';

/** Every kind the gateway reads. `schema/kinds.ts` holds their schemas, groups and plurals. */
export const KIND_NAMES = [
  'AuthConfig',
  'ConfigMap',
  'Gateway',
  'GraphQLApi',
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

/** Names a resource of a known kind. */
export interface ResourceRef {
  readonly name: string;
  readonly namespace: string;
}

/** Where something was written. `file` is a path or `memory:<n>`; line and column count from 1. */
export interface Origin {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

/** The part of Kubernetes' object metadata that the gateway reads. */
export interface Metadata {
  readonly name: string;
  readonly namespace: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
}

/**
 * A resource after validation: it fits the schema of its kind, enums are spelt by name, keys in camelCase.
 * Frozen, and the same object as long as what is written does not change.
 */
export interface Resource<Spec = unknown, K extends Kind = Kind> {
  readonly apiVersion: string;
  readonly kind: K;
  readonly metadata: Metadata;
  readonly spec: Spec;
  readonly origin: Origin;
}

/** `Kind/namespace/name`: what a resource is stored and reported under. */
export type ResourceKey = `${Kind}/${string}/${string}`;

/** Gives the {@link ResourceKey} of a resource, or of a kind with a reference. */
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
export type State = (typeof STATES)[number];

/** What one controller says of one resource (reference: routing 7.1). */
export interface StatusReport {
  readonly state: State;
  readonly reason?: string;
  /** Remarks that the state does not depend on. */
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
