import type { Changes } from '../changes.ts';
import type { Memo } from '../memo.ts';
import { mixesOperators } from '../../syntax/boolean-expression.ts';
import type { FieldPath } from '../../resource/problem.ts';
import { identityOfKey, type Resource } from '../../resource/resource.ts';
import type { AuthConfigSpec, AuthStep } from '../../schema/kind/auth-config.ts';
import type { ApiKeyAuth } from '../../schema/auth/auth-methods.ts';
import type { SnapshotAuthConfig } from '../../contract/snapshot.ts';
import type { StoredResource } from '../../resource/stored.ts';
import { hasLabels } from '../../syntax/label-expression.ts';
import { authSecretProblem, isApiKey, SECRET_FIELDS } from './auth-secrets.ts';
import { contentOf, contentText } from '../snapshot/content.ts';
import { eachRef, fillRefs } from './fill-refs.ts';
import { faultOf } from './missing.ts';
import { withModules } from './policy-modules.ts';
import type { AuthConfigEntry, AuthConfigTable } from './tables.ts';
import { dotted } from '../names.ts';
import { Report } from '../status/report.ts';
import type { TranslationInput } from '../input.ts';
import { causeOf, type Resources } from './find.ts';

/** The input of auth configs. */
export interface AuthConfigSources extends Resources {
  /** All secrets, sorted by key. */
  readonly secrets: readonly StoredResource[];
}

/** The kinds that AuthConfigs are made of. */
const USED_KINDS = ['AuthConfig', 'Secret', 'ConfigMap'] as const;

/** Returns the entries of all AuthConfigs, those of `memo` if nothing changed. */
export function authConfigTable(
  input: Pick<TranslationInput, 'stored' | 'derived' | 'kinds' | 'list'>,
  memo: Memo | undefined,
  changes: Changes | undefined,
): AuthConfigTable {
  if (memo && changes && !USED_KINDS.some((kind) => changes.kinds.has(kind))) return memo.authConfigs;
  const sources = { ...input, secrets: input.list('Secret') };
  return new Map(
    input.list('AuthConfig').map((one) => [one.key, authConfigEntry(one, sources, memo?.authConfigs.get(one.key))]),
  );
}

/** Returns the entry of `before` if nothing changed. */
function authConfigEntry(
  stored: StoredResource,
  sources: AuthConfigSources,
  before: AuthConfigEntry | undefined,
): AuthConfigEntry {
  const entry = entryOf(stored, sources);
  const same =
    before?.stored === stored && contentText({ ...entry, stored: 0 }) === contentText({ ...before, stored: 0 });
  return same ? before : { ...entry, config: sameConfig(entry.config, before?.config, sources) };
}

type Config = SnapshotAuthConfig | undefined;

function sameConfig(now: Config, before: Config, { derived }: Resources): Config {
  return now && before && contentOf(now, derived) === contentOf(before, derived) ? before : now;
}

function entryOf(stored: StoredResource, sources: AuthConfigSources): AuthConfigEntry {
  const resource = stored.resource as Resource<AuthConfigSpec> | undefined;
  const report = new Report();
  const name = `AuthConfig ${dotted(identityOfKey(stored.key))}`;
  if (!resource)
    return { stored, problems: report.problems(), fault: faultOf(`${name} is rejected: ${causeOf(stored)}`) };
  const spec = resolve(resource, sources, report);
  if (spec.booleanExpr && mixesOperators(spec.booleanExpr)) {
    report.warn('booleanExpr mixes && and || without parentheses; && binds tighter: add parentheses');
  }
  const problems = report.problems();
  const error = problems.find(({ severity }) => severity === 'error');
  if (error)
    return { stored, problems, fault: { ...error, path: [], message: `${name} cannot be used: ${error.message}` } };
  const { name: own, namespace } = resource.metadata;
  const config = Object.freeze({ ref: Object.freeze({ name: own, namespace }), spec });
  const warning = stored.stale ? `${name} serves its last good version: ${causeOf(stored)}` : undefined;
  return { stored, config, problems, ...(warning !== undefined && { warning }) };
}

function resolve(
  { spec, metadata }: Resource<AuthConfigSpec>,
  sources: AuthConfigSources,
  report: Report,
): AuthConfigSpec {
  const configs = (spec.configs ?? []).map((written, i) => {
    const step = withKeys(fillRefs(written, SECRET_FIELDS, metadata.namespace), sources);
    const name = step.name || `config_${i}`;
    if (step !== written && step.apiKeyAuth && keysOf(step.apiKeyAuth).length === 0) {
      report.warn(`${name}: no Secret has the labels of its selector, so every key is rejected`);
    }
    const places = placesOf(written, metadata.namespace);
    eachRef(step, SECRET_FIELDS, ({ name: secret = '', namespace = '' }, field) => {
      const fault = authSecretProblem(sources, { name: secret, namespace }, field);
      const place = places.get(`${field} ${namespace}/${secret}`) ?? [];
      if (fault) report.error({ ...fault, message: `${name}: ${fault.message}` }, ['spec', 'configs', i, ...place]);
    });
    return withModules(step, {
      resources: sources,
      namespace: metadata.namespace,
      report: (fault, path) =>
        report.error({ ...fault, message: `${name}: ${fault.message}` }, ['spec', 'configs', i, ...path]),
    });
  });
  return Object.freeze({ ...spec, configs: Object.freeze(configs) });
}

/** Returns the paths of references, by field and name: keys of a step are collected in another field than they are written in. */
function placesOf(written: AuthStep, own: string): ReadonlyMap<string, FieldPath> {
  const places = new Map<string, FieldPath>();
  eachRef(written, SECRET_FIELDS, ({ name = '', namespace }, field, path) => {
    places.set(`${field} ${namespace || own}/${name}`, path);
  });
  return places;
}

function keysOf(auth: ApiKeyAuth) {
  return auth.k8sSecretApikeyStorage?.apiKeySecretRefs ?? [];
}

/** Returns the keys of a step as sorted references, from either form. The storage block takes precedence over the old fields. */
function withKeys(step: AuthStep, { secrets }: AuthConfigSources): AuthStep {
  if (!step.apiKeyAuth || step.apiKeyAuth.aerospikeApikeyStorage) return step;
  const { labelSelector, apiKeySecretRefs, k8sSecretApikeyStorage, ...rest } = step.apiKeyAuth;
  const storage = k8sSecretApikeyStorage ?? { labelSelector, apiKeySecretRefs };
  const found = new Map((storage.apiKeySecretRefs ?? []).map((ref) => [`${ref.namespace}/${ref.name}`, ref]));
  const wanted = storage.labelSelector ?? {};
  if (Object.keys(wanted).length > 0) {
    for (const { resource } of secrets) {
      if (!resource || !isApiKey(resource) || !hasLabels(resource.metadata.labels ?? {}, wanted)) continue;
      const { name, namespace } = resource.metadata;
      found.set(`${namespace}/${name}`, Object.freeze({ name, namespace }));
    }
  }
  const refs = [...found].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, ref]) => ref);
  const apiKeyAuth = { ...rest, k8sSecretApikeyStorage: Object.freeze({ apiKeySecretRefs: Object.freeze(refs) }) };
  return Object.freeze({ ...step, apiKeyAuth: Object.freeze(apiKeyAuth) });
}
