import type { Changes } from '../changes.ts';
import type { Memo } from '../memo.ts';
import type { Derived } from '../derived.ts';
import type { FieldPath, FieldProblem } from '../../resource/problem.ts';
import { identityOfKey, clusterName, type Resource } from '../../resource/resource.ts';
import type { UpstreamSpec } from '../../schema/kind/upstream.ts';
import type { ClusterService } from '../../contract/cluster-services.ts';
import type { Endpoint, SnapshotUpstream } from '../../contract/snapshot.ts';
import type { StoredResource } from '../../resource/stored.ts';
import { contentOf } from '../snapshot/content.ts';
import { serviceSpecOf } from '../../upstream/service-functions.ts';
import { serviceEndpoints, serviceOf, serviceProblem, serviceResources } from './kube-upstreams.ts';
import { descriptorsOf, functionsVersion, transcoderPath } from './descriptor-sets.ts';
import { endpointSecretProblems, endpointSecrets } from './endpoint-secrets.ts';
import { endpointsOf } from './endpoints.ts';
import { faultOf } from './missing.ts';
import { withDefaults } from './upstream-defaults.ts';
import type { SslConfig, UpstreamEntry, UpstreamTable } from './tables.ts';
import { dotted } from '../names.ts';
import { Report } from '../status/report.ts';
import { isFault, readTlsSecret } from '../tls/tls-secret.ts';
import { KEEPS_SSL_CONFIG, verifiesAlike } from '../tls/tls-source.ts';
import type { TranslationInput } from '../input.ts';
import { completeResource } from '../../upstream/complete-resource.ts';
import { causeOf } from './find.ts';

type UpstreamInput = Pick<TranslationInput, 'stored' | 'services' | 'derived' | 'settings' | 'list'>;

/** The kinds that upstreams are made of. */
const OTHER_KINDS = ['Secret', 'ConfigMap'] as const;
const KINDS = ['Upstream', ...OTHER_KINDS] as const;

/** Returns the entries of all upstreams, those of `memo` if nothing changed. */
export function upstreamTable(
  input: UpstreamInput,
  memo: Memo | undefined,
  changes: Changes | undefined,
): UpstreamTable {
  const known = knownTable(input, memo, changes);
  if (memo && known && !changes!.services && !KINDS.some((kind) => changes!.kinds.has(kind))) return memo.upstreams;
  return tableOf(input.list('Upstream'), input, known && memo?.upstreams);
}

/** Returns the entries of the upstreams of all ports of Services, those of `memo` if nothing changed. */
export function serviceUpstreamTable(
  input: UpstreamInput,
  memo: Memo | undefined,
  changes: Changes | undefined,
): UpstreamTable {
  const { services, derived } = input;
  if (!services) return NO_UPSTREAMS;
  const known = knownTable(input, memo, changes);
  const isSame = known && !changes!.services && !OTHER_KINDS.some((kind) => changes!.kinds.has(kind));
  if (memo && isSame) return memo.serviceUpstreams;
  const all = [...services.values()].flatMap((service) => derived.of(serviceResources, service));
  return tableOf(all, input, known && memo?.serviceUpstreams);
}

const NO_UPSTREAMS: UpstreamTable = new Map();

/** Returns true if entries of the memo may be used again. */
function knownTable({ settings }: UpstreamInput, memo: Memo | undefined, changes: Changes | undefined): boolean {
  return changes !== undefined && memo?.settings.upstreamDefaults === settings.upstreamDefaults;
}

function tableOf(
  resources: readonly StoredResource[],
  input: UpstreamInput,
  before: UpstreamTable | false | undefined,
): UpstreamTable {
  return new Map(
    resources.map((one) => [one.key, upstreamEntry(one, input, before ? before.get(one.key) : undefined)]),
  );
}

/** Returns the entry of `before` if nothing changed. */
function upstreamEntry(stored: StoredResource, all: UpstreamInput, before: UpstreamEntry | undefined): UpstreamEntry {
  const { spec, metadata } = (stored.resource as Resource<UpstreamSpec> | undefined) ?? {};
  const service = spec && serviceOf(spec, metadata!.namespace, all.services);
  const usesOthers =
    spec !== undefined &&
    (!!spec.sslConfig?.secretRef ||
      endpointSecrets(spec).length > 0 ||
      !!serviceSpecOf(spec)?.grpcJsonTranscoder?.protoDescriptorConfigMap);
  const isKnown = before?.stored === stored && before.service === service && (service !== undefined || !spec?.kube);
  if (before && isKnown && !usesOthers) return before;
  const made = entryOf(stored, { ...all, service }, before?.goodSsl);
  const entry = service ? { ...made, service } : made;
  return before && isSame(entry, before, all.derived) ? before : entry;
}

function isSame(now: UpstreamEntry, before: UpstreamEntry, derived: Derived): boolean {
  return (
    before.stored === now.stored &&
    before.service === now.service &&
    before.upstream === now.upstream &&
    before.fault?.message === now.fault?.message &&
    before.warning === now.warning &&
    contentOf(before.problems, derived) === contentOf(now.problems, derived)
  );
}

type EntryInput = UpstreamInput & { readonly service: ClusterService | undefined };

function entryOf(stored: StoredResource, all: EntryInput, goodSsl: SslConfig | undefined): UpstreamEntry {
  const resource = completeResource(stored) as Resource<UpstreamSpec> | undefined;
  const report = new Report();
  const name = `Upstream ${dotted(identityOfKey(stored.key))}`;
  if (!resource)
    return { stored, problems: report.problems(), fault: faultOf(`${name} is rejected: ${causeOf(stored)}`) };
  const missing =
    all.services && resource.spec.kube && serviceProblem(resource.spec.kube, resource.metadata.namespace, all.service);
  if (missing) {
    report.warn(faultOf(missing.message), missing.path);
    const fault = faultOf(`${name} cannot be served: ${missing.message}`);
    return { stored, problems: report.problems(), fault, ...(goodSsl && { goodSsl }) };
  }
  if (resource.spec.kube && !all.services) report.warn(faultOf(NO_CLUSTER), ['spec', 'kube']);
  const problem = tlsProblem(resource, all);
  for (const { path, ...fault } of endpointSecretProblems(resource.spec, resource.metadata.namespace, all))
    report.warn({ ...fault, path: [] }, path);
  const warning = stored.stale ? `${name} serves its last good version: ${causeOf(stored)}` : undefined;
  if (problem && goodSsl && canReplace(goodSsl, resource, all)) {
    report.warn({ ...problem, message: problem.message + KEEPS_SSL_CONFIG, effect: 'keeps-last-good' }, TLS_SECRET);
    const upstream = upstreamOf(withSsl(resource, goodSsl, all), stored, { all, report });
    const functions = functionsVersion(upstream);
    return { stored, upstream, problems: report.problems(), warning, functions, goodSsl };
  }
  if (problem) {
    // Without its secret the connection would be unencrypted or unverified, so the upstream is not served.
    report.warn(problem, TLS_SECRET);
    const fault = faultOf(`${name} cannot be served: ${problem.message}`);
    return { stored, problems: report.problems(), fault, ...(goodSsl && { goodSsl }) };
  }
  const upstream = upstreamOf(resource, stored, { all, report });
  const { sslConfig } = upstream.spec;
  const good = sslConfig?.secretRef && { goodSsl: sslConfig };
  return { stored, upstream, problems: report.problems(), warning, functions: functionsVersion(upstream), ...good };
}

const NO_CLUSTER = 'the upstream has no endpoints: Services are only known to a control plane with --kubernetes';

function canReplace(goodSsl: SslConfig, resource: Resource<UpstreamSpec>, all: UpstreamInput): boolean {
  const { sslConfig = {} } = resource.spec;
  return verifiesAlike(sslConfig, goodSsl) && !tlsProblem(withSsl(resource, goodSsl, all), all);
}

const TLS_SECRET: FieldPath = ['spec', 'sslConfig', 'secretRef'];

function withSsl(resource: Resource<UpstreamSpec>, sslConfig: SslConfig, all: UpstreamInput): Resource<UpstreamSpec> {
  return { ...resource, spec: all.derived.of(specWithSsl, resource.spec, sslConfig) };
}

function specWithSsl(spec: UpstreamSpec, sslConfig: SslConfig): UpstreamSpec {
  return Object.freeze({ ...spec, sslConfig });
}

function tlsProblem({ spec, metadata }: Resource<UpstreamSpec>, all: UpstreamInput): FieldProblem | undefined {
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

/** The spec stays the same object where only the place in a file changes. */
function upstreamOf(
  { spec, metadata }: Resource<UpstreamSpec>,
  stored: StoredResource,
  { all, report }: { readonly all: EntryInput; readonly report: Report },
): SnapshotUpstream {
  const { derived, settings } = all;
  const { name, namespace } = metadata;
  const transcoder = serviceSpecOf(spec)?.grpcJsonTranscoder;
  const { descriptorSet, fault } = descriptorsOf(transcoder, { stored, namespace, resources: all });
  if (fault) report.warn({ ...fault, path: [] }, [...transcoderPath(spec), ...fault.path]);
  const upstream = derived.of(snapshotUpstream, spec, name, namespace, descriptorSet);
  const found = spec.kube && derived.of(serviceEndpoints, spec.kube, all.service);
  const complete = found && found.length > 0 ? derived.of(withServiceEndpoints, upstream, found) : upstream;
  return derived.of(withDefaults, complete, settings.upstreamDefaults);
}

function snapshotUpstream(
  spec: UpstreamSpec,
  name: string,
  namespace: string,
  descriptorSet: string | undefined,
): SnapshotUpstream {
  const ref = Object.freeze({ name, namespace });
  return Object.freeze({
    name: clusterName(ref),
    ref,
    spec: withNamespace(spec, namespace),
    endpoints: endpointsOf(spec),
    tls: usesTls(spec),
    ...(descriptorSet !== undefined && { descriptorSet }),
  });
}

/** Adds the endpoints of a Service, before those of the failover. */
function withServiceEndpoints(upstream: SnapshotUpstream, found: readonly Endpoint[]): SnapshotUpstream {
  const endpoints = upstream.endpoints.length > 0 ? Object.freeze([...found, ...upstream.endpoints]) : found;
  return Object.freeze({ ...upstream, endpoints });
}

/** Adds the default namespace to the secret reference, because the data plane does not know the resource. */
function withNamespace(spec: UpstreamSpec, namespace: string): UpstreamSpec {
  const written = spec.sslConfig?.secretRef;
  if (!written || written.namespace) return spec;
  const secretRef = Object.freeze({ name: written.name ?? '', namespace });
  return Object.freeze({ ...spec, sslConfig: Object.freeze({ ...spec.sslConfig, secretRef }) });
}

function usesTls({ sslConfig, static: hosts }: UpstreamSpec): boolean {
  if (sslConfig) return true;
  return hosts?.useTls ?? hosts?.hosts?.some(({ port }) => port === 443) ?? false;
}
