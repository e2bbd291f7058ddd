import type { FieldPath } from '../../resource/problem.ts';
import { identityOfKey, clusterName, type Resource, type ResourceKey } from '../../resource/resource.ts';
import type { UpstreamSpec } from '../../schema/kind/upstream.ts';
import type { SnapshotUpstream } from '../../contract/snapshot.ts';
import type { StoredResource, StoreState } from '../../control/store.ts';
import { contentOf } from '../snapshot/content.ts';
import { faultOf, type Fault } from './missing.ts';
import { dotted } from '../names.ts';
import { Report, type Problems } from '../status/report.ts';
import { isFault, readTlsSecret } from '../tls/tls-secret.ts';
import { KEEPS_SSL_CONFIG, verifiesAlike } from '../tls/tls-source.ts';
import { causeOf } from '../world.ts';

/** The translation of one upstream. */
export interface UpstreamEntry {
  readonly stored: StoredResource;
  /** Missing if it cannot be served. */
  readonly upstream?: SnapshotUpstream;
  readonly problems: Problems;
  /** Why references to it are broken. */
  readonly fault?: Fault;
  /** Warning for references to it. */
  readonly warning?: string;
  /** The `sslConfig` that was last served, if it needs a secret. */
  readonly goodSsl?: SslConfig;
}

type SslConfig = NonNullable<UpstreamSpec['sslConfig']>;

export type UpstreamTable = ReadonlyMap<ResourceKey, UpstreamEntry>;

/** By spec, which stays the same object if only its position in a file changes. */
const parts = new WeakMap<UpstreamSpec, SnapshotUpstream>();

/** Returns the entry of `before` if nothing changed. */
export function upstreamEntry(
  stored: StoredResource,
  all: StoreState['stored'],
  before: UpstreamEntry | undefined,
): UpstreamEntry {
  const usesSecret = !!(stored.resource as Resource<UpstreamSpec> | undefined)?.spec.sslConfig?.secretRef;
  if (before && before.stored === stored && !usesSecret) return before;
  const entry = entryOf(stored, all, before?.goodSsl);
  return before && isSame(entry, before) ? before : entry;
}

function isSame(now: UpstreamEntry, before: UpstreamEntry): boolean {
  return (
    before.stored === now.stored &&
    before.upstream === now.upstream &&
    before.fault?.reason === now.fault?.reason &&
    before.warning === now.warning &&
    contentOf(before.problems) === contentOf(now.problems)
  );
}

function entryOf(stored: StoredResource, all: StoreState['stored'], goodSsl: SslConfig | undefined): UpstreamEntry {
  const resource = stored.resource as Resource<UpstreamSpec> | undefined;
  const report = new Report();
  const name = `*v1.Upstream { ${dotted(refOf(stored))} }`;
  if (!resource)
    return { stored, problems: report.problems(), fault: faultOf(`${name} is rejected: ${causeOf(stored)}`) };
  const problem = tlsProblem(resource, all);
  const warning = stored.stale ? `${name} serves its last valid version: ${causeOf(stored)}` : undefined;
  if (problem && goodSsl && canReplace(goodSsl, resource, all)) {
    report.warn(problem.reason + KEEPS_SSL_CONFIG, TLS_SECRET, problem);
    const upstream = upstreamOf(withSsl(resource, goodSsl));
    return { stored, upstream, problems: report.problems(), warning, goodSsl };
  }
  if (problem) {
    // Without its secret the connection would be unencrypted or unverified, so the upstream is not served.
    report.warn(problem.reason, TLS_SECRET, problem);
    const fault = faultOf(`${name} cannot be served: ${problem.reason}`);
    return { stored, problems: report.problems(), fault, ...(goodSsl && { goodSsl }) };
  }
  const upstream = upstreamOf(resource);
  const { sslConfig } = upstream.spec;
  const good = sslConfig?.secretRef && { goodSsl: sslConfig };
  return { stored, upstream, problems: report.problems(), warning, ...good };
}

function canReplace(goodSsl: SslConfig, resource: Resource<UpstreamSpec>, all: StoreState['stored']): boolean {
  const { sslConfig = {} } = resource.spec;
  return verifiesAlike(sslConfig, goodSsl) && !tlsProblem(withSsl(resource, goodSsl), all);
}

const TLS_SECRET: FieldPath = ['spec', 'sslConfig', 'secretRef'];

/** The `sslConfig` used instead of the written one, by spec. */
const replaced = new WeakMap<UpstreamSpec, { readonly sslConfig: SslConfig; readonly spec: UpstreamSpec }>();

function withSsl(resource: Resource<UpstreamSpec>, sslConfig: SslConfig): Resource<UpstreamSpec> {
  const known = replaced.get(resource.spec);
  const spec = known?.sslConfig === sslConfig ? known.spec : Object.freeze({ ...resource.spec, sslConfig });
  replaced.set(resource.spec, { sslConfig, spec });
  return { ...resource, spec };
}

function refOf({ key }: StoredResource) {
  const { namespace, name } = identityOfKey(key);
  return { namespace, name };
}

function tlsProblem({ spec, metadata }: Resource<UpstreamSpec>, all: StoreState['stored']): Fault | undefined {
  const written = spec.sslConfig?.secretRef;
  if (!written) return undefined;
  const ref = { name: written.name ?? '', namespace: written.namespace || metadata.namespace };
  const secret = readTlsSecret(ref, all);
  if (isFault(secret)) return secret;
  const needsCa = (spec.sslConfig?.verifySubjectAltName?.length ?? 0) > 0;
  return needsCa && !secret.hasRootCa
    ? faultOf(`verifySubjectAltName needs a root CA, secret ${dotted(ref)} has none`)
    : undefined;
}

function upstreamOf(resource: Resource<UpstreamSpec>): SnapshotUpstream {
  const { spec, metadata } = resource;
  const ref = Object.freeze({ name: metadata.name, namespace: metadata.namespace });
  const known = parts.get(spec);
  if (known?.name === clusterName(ref)) return known;
  const upstream = Object.freeze({
    name: clusterName(ref),
    ref,
    spec: withNamespace(spec, ref.namespace),
    endpoints: Object.freeze(endpointsOf(spec)),
    tls: usesTls(spec),
  });
  parts.set(spec, upstream);
  return upstream;
}

/** Adds the default namespace to the secret reference, because the data plane does not know the resource. */
function withNamespace(spec: UpstreamSpec, namespace: string): UpstreamSpec {
  const written = spec.sslConfig?.secretRef;
  if (!written || written.namespace) return spec;
  const secretRef = Object.freeze({ name: written.name ?? '', namespace });
  return Object.freeze({ ...spec, sslConfig: Object.freeze({ ...spec.sslConfig, secretRef }) });
}

function endpointsOf(spec: UpstreamSpec): SnapshotUpstream['endpoints'] {
  return (spec.static?.hosts ?? []).map(({ addr = '', port = 0, loadBalancingWeight, sniAddr }) =>
    Object.freeze({
      address: addr,
      port,
      weight: loadBalancingWeight ?? 1,
      ...(sniAddr && sniAddr !== addr && { sni: sniAddr }),
    }),
  );
}

function usesTls({ sslConfig, static: hosts }: UpstreamSpec): boolean {
  if (sslConfig) return true;
  return hosts?.useTls ?? hosts?.hosts?.some(({ port }) => port === 443) ?? false;
}
