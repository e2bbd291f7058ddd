import { isDeepStrictEqual } from 'node:util';
import type { UpstreamSpec } from '@edge-gateway/core/schema';
import type { ClusterObject } from '../watch/cluster-object.ts';
import type { Service } from './cluster-objects.ts';
import { childKey, leavesOf, ownedFields, withoutFields, type OwnedFields } from './owned-fields.ts';
import { ANNOTATIONS, unusedAnnotations } from './port-annotations.ts';
import { discoveredPorts, portUpstream, UPSTREAM_API } from './service-upstream.ts';
import { upstreamName } from './upstream-name.ts';

/** The label of upstreams that discovery creates, and only they have this value. */
const DISCOVERED_BY = { name: 'discovered_by', value: 'kubernetesplugin' } as const;

/** What discovery reads of an Upstream in its namespace. */
export interface ExistingUpstream {
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly spec: Readonly<Record<string, unknown>>;
  readonly fields: OwnedFields;
}

/** The settings of discovery. */
export interface UpstreamDiscoverySettings {
  /** Namespace of the upstreams. */
  readonly namespace: string;
  /** False: creates, changes and deletes nothing. */
  readonly enabled: boolean;
  /** Labels that a Service must have. */
  readonly watchLabels: Readonly<Record<string, string>>;
  /** Annotations of all upstreams, and default annotations of Services. */
  readonly globalAnnotations: Readonly<Record<string, string>>;
}

/** An Upstream to apply: the fields that discovery sets. */
export interface UpstreamDraft {
  readonly apiVersion: string;
  readonly kind: 'Upstream';
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly labels: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly spec: Readonly<Record<string, unknown>>;
}

/** A port of a Service without an upstream, or an annotation without effect. */
export interface DiscoveryProblem {
  /** `<namespace>/<name>` of the Service. */
  readonly service: string;
  readonly upstream?: string;
  readonly reason: string;
}

/** What has to be written so that the upstreams match the Services. */
export interface UpstreamPlan {
  readonly apply: readonly UpstreamDraft[];
  readonly remove: readonly ExistingUpstream[];
  readonly problems: readonly DiscoveryProblem[];
}

interface PlanInput {
  readonly services: Iterable<Service>;
  /** All upstreams in the namespace of discovery, by name. */
  readonly existing: ReadonlyMap<string, ExistingUpstream>;
  readonly settings: UpstreamDiscoverySettings;
}

/** A port with its Service, which claims the name of an upstream. */
interface Claim {
  readonly service: Service;
  readonly spec: UpstreamSpec | undefined;
  readonly fault: string | undefined;
}

/**
 * Returns what has to be applied and removed. Pure; the order of the Services does not matter.
 *
 * - An upstream that discovery did not create is never changed nor removed, whatever its name.
 * - Fields that others have set stay theirs; the Service, the port, the selector and the labels are those of the Service.
 * - If the names of two ports are the same, the Service that has the upstream keeps it, else the first by namespace and name gets it.
 * - A port with an annotation that is not valid keeps its upstream as it is.
 */
export function planUpstreams({ services, existing, settings }: PlanInput): UpstreamPlan {
  if (!settings.enabled) return { apply: [], remove: [], problems: [] };
  const problems: DiscoveryProblem[] = [];
  const wanted = claimsOf(services, { existing, settings, problems });
  const apply: UpstreamDraft[] = [];
  for (const [name, { service, spec, fault }] of wanted) {
    const problem = { service: serviceKey(service), upstream: name };
    const before = existing.get(name);
    if (fault !== undefined) problems.push({ ...problem, reason: fault });
    else if (before && !isDiscovered(before)) {
      const reason = 'an Upstream of this name exists that discovery did not create; to replace it, delete it';
      problems.push({ ...problem, reason });
    } else {
      const draft = draftOf(name, spec!, settings);
      const change = before ? changeOf(draft, before) : draft;
      if (change) apply.push(change);
    }
  }
  const remove = [...existing.values()].filter((upstream) => isDiscovered(upstream) && !wanted.has(upstream.name));
  return { apply, remove, problems };
}

/** The field manager of discovery. */
export const FIELD_MANAGER = 'edge-gateway-discovery';

/** Returns what discovery reads of an Upstream. */
export function readUpstream({ metadata, spec }: ClusterObject): ExistingUpstream {
  const { name, uid = '', resourceVersion = '', labels = {}, annotations = {}, managedFields } = metadata;
  const fields = ownedFields(managedFields, FIELD_MANAGER);
  return { name, uid, resourceVersion, labels, annotations, spec: (spec ?? {}) as ExistingUpstream['spec'], fields };
}

/** Returns whether discovery has created an upstream. */
export function isDiscovered({ labels }: Pick<ExistingUpstream, 'labels'>): boolean {
  return labels[DISCOVERED_BY.name] === DISCOVERED_BY.value;
}

interface ClaimContext extends Pick<PlanInput, 'existing' | 'settings'> {
  readonly problems: DiscoveryProblem[];
}

function claimsOf(services: Iterable<Service>, { existing, settings, problems }: ClaimContext): Map<string, Claim> {
  const claims = new Map<string, Claim>();
  const sorted = [...services].filter((service) => isWatched(service, settings)).sort(byName);
  for (const service of sorted) {
    const annotations = { ...settings.globalAnnotations, ...service.annotations };
    for (const reason of unusedAnnotations(service, annotations))
      problems.push({ service: serviceKey(service), reason });
    for (const port of discoveredPorts(service)) {
      const name = upstreamName(service, port.port);
      const made = portUpstream(service, port, settings.globalAnnotations);
      const claim = { service, spec: undefined, fault: undefined, ...made };
      const other = claims.get(name);
      const keepsOther = other && !owns(service, existing.get(name));
      if (!keepsOther) claims.set(name, claim);
      if (!other) continue;
      const [loser, winner] = keepsOther ? [service, other.service] : [other.service, service];
      const reason = `the name belongs to the upstream of Service ${serviceKey(winner)}`;
      problems.push({ service: serviceKey(loser), upstream: name, reason });
    }
  }
  return claims;
}

function byName(a: Service, b: Service): number {
  const [left, right] = [serviceKey(a), serviceKey(b)];
  return left < right ? -1 : Number(left > right);
}

function serviceKey({ namespace, name }: Service): string {
  return `${namespace}/${name}`;
}

function isWatched({ labels, annotations }: Service, { watchLabels }: UpstreamDiscoverySettings): boolean {
  if (annotations[ANNOTATIONS.discover] === 'true') return true;
  return Object.entries(watchLabels).every(([name, value]) => labels[name] === value);
}

function owns(service: Service, upstream: ExistingUpstream | undefined): boolean {
  const kube = upstream?.spec['kube'] as { serviceName?: unknown; serviceNamespace?: unknown } | undefined;
  return kube?.serviceName === service.name && kube.serviceNamespace === service.namespace;
}

function draftOf(name: string, spec: UpstreamSpec, settings: UpstreamDiscoverySettings): UpstreamDraft {
  const { namespace, globalAnnotations: annotations } = settings;
  const labels = { [DISCOVERED_BY.name]: DISCOVERED_BY.value };
  const hasAnnotations = Object.keys(annotations).length > 0;
  const metadata = { name, namespace, labels, ...(hasAnnotations && { annotations }) };
  return { apiVersion: UPSTREAM_API, kind: 'Upstream', metadata, spec: spec as UpstreamDraft['spec'] };
}

/** Fields that follow the Service, whoever changed them. */
const FOLLOWED = [
  `metadata/labels/${DISCOVERED_BY.name}`,
  'spec/kube/serviceName',
  'spec/kube/serviceNamespace',
  'spec/kube/servicePort',
  'spec/kube/selector',
  'spec/discoveryMetadata',
] as const;

function isFollowed(key: string): boolean {
  return FOLLOWED.some((field) => key === field || key.startsWith(`${field}/`));
}

/** Returns what has to be applied to an upstream, without fields that others own; `undefined` if nothing has to. */
function changeOf(
  draft: UpstreamDraft,
  { fields, labels, annotations, spec }: ExistingUpstream,
): UpstreamDraft | undefined {
  const { own, foreign } = fields;
  const isForeign = (key: string): boolean => foreign.has(key) || hasPart(foreign, key);
  const isLeftOut = (key: string): boolean => !isFollowed(key) && isForeign(key) && !own.has(key);
  const written = { metadata: pick(draft.metadata), spec: draft.spec };
  const { metadata, spec: rest } = withoutFields(written, isLeftOut) as unknown as WrittenFields;
  const desired = leavesOf({ metadata, spec: rest });
  const present = leavesOf({ metadata: { labels, annotations }, spec });
  const isOwned = own.size === desired.size && [...desired.keys()].every((key) => own.has(key));
  const isEqual = [...desired].every(([key, value]) => isDeepStrictEqual(present.get(key), value));
  if (isOwned && isEqual) return undefined;
  const { name, namespace } = draft.metadata;
  return { ...draft, metadata: { name, namespace, ...metadata }, spec: rest };
}

interface WrittenFields {
  readonly metadata: Pick<UpstreamDraft['metadata'], 'labels' | 'annotations'>;
  readonly spec: UpstreamDraft['spec'];
}

function pick({ labels, annotations }: UpstreamDraft['metadata']): Record<string, unknown> {
  return { labels, ...(annotations && { annotations }) };
}

/** Returns whether a part of a field, such as one key of an object, is in the set. */
function hasPart(keys: ReadonlySet<string>, field: string): boolean {
  const prefix = childKey(field, '');
  for (const key of keys) if (key.startsWith(prefix)) return true;
  return false;
}
