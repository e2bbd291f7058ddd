import type { Changes } from '../changes.ts';
import type { Memo } from '../memo.ts';
import { sameList } from '../lists.ts';
import type { Derived } from '../derived.ts';
import type { FieldPath, FieldProblem } from '../../resource/problem.ts';
import { identityOfKey, clusterName, type Resource } from '../../resource/resource.ts';
import type { UpstreamSpec } from '../../schema/kind/upstream.ts';
import type { SnapshotUpstream } from '../../contract/snapshot.ts';
import type { StoredResource } from '../../resource/stored.ts';
import { contentOf } from '../snapshot/content.ts';
import { serviceSpecOf } from '../../upstream/service-functions.ts';
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
import { causeOf } from './find.ts';

type UpstreamInput = Pick<TranslationInput, 'stored' | 'derived' | 'settings' | 'list'>;

/** The kinds that upstreams are made of. */
const KINDS = ['Upstream', 'Secret', 'ConfigMap'] as const;

/** Returns the entries of all upstreams, those of `memo` if nothing changed. */
export function upstreamTable(
  input: UpstreamInput,
  memo: Memo | undefined,
  changes: Changes | undefined,
): UpstreamTable {
  const isSame = memo?.settings.upstreamDefaults === input.settings.upstreamDefaults;
  if (isSame && changes && !KINDS.some((kind) => changes.kinds.has(kind))) return memo.upstreams;
  return new Map(
    input
      .list('Upstream')
      .map((one) => [one.key, upstreamEntry(one, input, isSame ? memo?.upstreams.get(one.key) : undefined)]),
  );
}

/** Returns the upstreams that can be served, sorted by name. */
export function servedUpstreams(table: UpstreamTable, memo: Memo | undefined): readonly SnapshotUpstream[] {
  if (memo?.upstreams === table) return memo.served;
  const served = [...table.values()].flatMap(({ upstream }) => upstream ?? []);
  return sameList(
    served.sort((a, b) => (a.name < b.name ? -1 : 1)),
    memo?.served,
  );
}

/** Returns the entry of `before` if nothing changed. */
function upstreamEntry(stored: StoredResource, all: UpstreamInput, before: UpstreamEntry | undefined): UpstreamEntry {
  const { spec } = (stored.resource as Resource<UpstreamSpec> | undefined) ?? {};
  const usesOthers =
    spec !== undefined &&
    (!!spec.sslConfig?.secretRef ||
      endpointSecrets(spec).length > 0 ||
      !!serviceSpecOf(spec)?.grpcJsonTranscoder?.protoDescriptorConfigMap);
  if (before && before.stored === stored && !usesOthers) return before;
  const entry = entryOf(stored, all, before?.goodSsl);
  return before && isSame(entry, before, all.derived) ? before : entry;
}

function isSame(now: UpstreamEntry, before: UpstreamEntry, derived: Derived): boolean {
  return (
    before.stored === now.stored &&
    before.upstream === now.upstream &&
    before.fault?.message === now.fault?.message &&
    before.warning === now.warning &&
    contentOf(before.problems, derived) === contentOf(now.problems, derived)
  );
}

function entryOf(stored: StoredResource, all: UpstreamInput, goodSsl: SslConfig | undefined): UpstreamEntry {
  const resource = stored.resource as Resource<UpstreamSpec> | undefined;
  const report = new Report();
  const name = `*v1.Upstream { ${dotted(identityOfKey(stored.key))} }`;
  if (!resource)
    return { stored, problems: report.problems(), fault: faultOf(`${name} is rejected: ${causeOf(stored)}`) };
  const problem = tlsProblem(resource, all);
  for (const { path, ...fault } of endpointSecretProblems(resource.spec, resource.metadata.namespace, all))
    report.warn({ ...fault, path: [] }, path);
  const warning = stored.stale ? `${name} serves its last valid version: ${causeOf(stored)}` : undefined;
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
  { all, report }: { readonly all: UpstreamInput; readonly report: Report },
): SnapshotUpstream {
  const { derived, settings } = all;
  const { name, namespace } = metadata;
  const transcoder = serviceSpecOf(spec)?.grpcJsonTranscoder;
  const { descriptorSet, fault } = descriptorsOf(transcoder, { stored, namespace, resources: all });
  if (fault) report.warn({ ...fault, path: [] }, [...transcoderPath(spec), ...fault.path]);
  const upstream = derived.of(snapshotUpstream, spec, name, namespace, descriptorSet);
  return derived.of(withDefaults, upstream, settings.upstreamDefaults);
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
