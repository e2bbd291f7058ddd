import type { Secrets, SecretValue } from '../contract/snapshot.ts';
import type { FieldPath } from '../resource/problem.ts';
import { keyOf, type Resource, type ResourceKey } from '../resource/resource.ts';
import type { Observed, ObservedProblem } from '../resource/stored.ts';
import type { SslConfig, UpstreamSslConfig } from '../schema/listener/ssl-config.ts';
import type { VirtualServiceSpec } from '../schema/kind/virtual-service.ts';
import {
  coverageProblem,
  datesProblems,
  nextCertificateState,
  secretCertificates,
  type DatedCertificate,
} from '../security/certificate-validity.ts';
import { sdsSourceOf } from '../security/sds-target.ts';
import { tlsSettingsOf } from '../source/tls-settings.ts';
import { eachRef } from '../translate/reference/fill-refs.ts';
import { SECRET_FIELDS } from '../translate/reference/auth-secrets.ts';
import { startTimer } from '../time/timer.ts';

/** Longest wait for a certificate to change its state: the clock may be set, and the machine may sleep. */
const MAX_WAIT_MS = 3_600_000;

/** Observes the dates and names of the certificates that resources use. */
export interface CertificateWatch {
  /** Sets the resource of a key; `undefined` for none. Returns true if it uses a certificate. */
  follow(key: ResourceKey, resource: Resource | undefined): boolean;
  /** Returns the resources that use the Secrets among changed resources. */
  usersOf(changed: Iterable<ResourceKey>): ReadonlySet<ResourceKey>;
  /** Returns a warning for each certificate of a resource that clients or servers reject, now or soon. */
  observedOf(key: ResourceKey): Observed | undefined;
  close(): void;
}

export interface CertificateWatchOptions {
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** The newest valid content of Secrets, files and secret discovery. */
  readonly secrets: Secrets;
  /** Called with the resources whose certificates changed their state. */
  onChange(keys: ReadonlySet<ResourceKey>): void;
}

/** One certificate source that a resource names. */
interface CertificateUse {
  /** Path of the field that names it. */
  readonly at: FieldPath;
  readonly source: Pick<SslConfig, 'secretRef' | 'sslFiles' | 'sds'>;
  /** The Secret, if it is one. */
  readonly secret?: ResourceKey;
  /** Names for which it is served. */
  readonly names: readonly string[];
}

/** Creates a watch without resources. Its timer does not keep the process running. */
export function createCertificateWatch({ now, secrets, onChange }: CertificateWatchOptions): CertificateWatch {
  const followed = new Map<ResourceKey, readonly CertificateUse[]>();
  const users = new Map<ResourceKey, Set<ResourceKey>>();
  /** When a certificate of a resource changes its state. */
  const due = new Map<ResourceKey, number>();
  let earliest = Infinity;
  let timer: NodeJS.Timeout | undefined;

  function schedule(at: number): void {
    if (at >= earliest) return;
    earliest = at;
    clearTimeout(timer);
    timer = startTimer(look, Math.min(MAX_WAIT_MS, Math.max(0, at - now()))).unref();
  }

  function look(): void {
    const changed = new Set([...due].flatMap(([key, at]) => (at <= now() ? [key] : [])));
    for (const key of changed) due.delete(key);
    earliest = Infinity;
    if (changed.size > 0) onChange(changed);
    schedule([...due.values()].reduce((first, at) => Math.min(first, at), Infinity));
  }

  function forget(key: ResourceKey): void {
    for (const { secret } of followed.get(key) ?? []) {
      const left = secret && users.get(secret);
      left?.delete(key);
      if (left?.size === 0) users.delete(secret!);
    }
    followed.delete(key);
    due.delete(key);
  }

  function contentOf({ secretRef, sslFiles, sds }: CertificateUse['source']): SecretValue | undefined {
    if (secretRef) return secrets.get({ name: secretRef.name ?? '', namespace: secretRef.namespace ?? '' });
    return sslFiles ? secrets.files?.(sslFiles) : sds && secrets.sds?.(sds);
  }

  return {
    follow(key, resource) {
      const wasFollowed = followed.has(key);
      forget(key);
      const uses = resource ? usesOf(resource) : [];
      if (uses.length === 0) return wasFollowed;
      followed.set(key, uses);
      for (const { secret } of uses) if (secret) users.set(secret, (users.get(secret) ?? new Set()).add(key));
      return true;
    },
    usersOf: (changed) => new Set([...changed].flatMap((key) => [...(users.get(key) ?? [])])),
    observedOf(key) {
      const time = now();
      const found = (followed.get(key) ?? []).map((use) => [use, secretCertificates(contentOf(use.source))] as const);
      const next = found.flatMap(([, parts]) => parts.map((each) => nextCertificateState(each.certificate, time)));
      const first = Math.min(...next);
      if (first < Infinity) {
        due.set(key, first);
        schedule(first);
      } else due.delete(key);
      const problems = found.flatMap(([use, parts]) => problemsOf(use, parts, time));
      return problems.length > 0 ? { problems, notes: [] } : undefined;
    },
    close() {
      earliest = -Infinity;
      clearTimeout(timer);
    },
  };
}

function problemsOf(
  { at, source, names }: CertificateUse,
  parts: readonly DatedCertificate[],
  now: number,
): ObservedProblem[] {
  const path = [...at, ...Object.keys(source)];
  const from = sourceText(source);
  const warning = (text: string): ObservedProblem => ({
    code: 'CERTIFICATE',
    severity: 'warning',
    path,
    message: text,
  });
  const dates = datesProblems(parts, now).map((problem) => {
    const message = `${from}: ${problem}`;
    return { ...warning(message), cause: message };
  });
  const coverage = coverageProblem(parts, names);
  return coverage === undefined ? dates : [...dates, warning(`${from}: ${coverage}`)];
}

function sourceText({ secretRef, sslFiles, sds }: CertificateUse['source']): string {
  if (secretRef) return `SSL secret ${secretRef.namespace}.${secretRef.name}`;
  return sslFiles ? (sslFiles.tlsCert ?? sslFiles.rootCa ?? '') : sds ? sdsSourceOf(sds) : '';
}

function usesOf(resource: Resource): CertificateUse[] {
  const listed = tlsSettingsOf(resource).map(({ settings, at }) => useOf(settings, at, resource));
  const fromAuth: CertificateUse[] = [];
  if (resource.kind === 'AuthConfig')
    eachRef(resource.spec, SECRET_FIELDS, (ref, field, path) => {
      if (field === 'secretRef') fromAuth.push(useOf({ secretRef: ref }, ['spec', ...path.slice(0, -1)], resource));
    });
  return [...listed, ...fromAuth];
}

function useOf(settings: SslConfig | UpstreamSslConfig, at: FieldPath, resource: Resource): CertificateUse {
  const { secretRef, sslFiles, sds } = settings;
  const names = 'sniDomains' in settings || resource.kind === 'VirtualService' ? servedNames(settings, resource) : [];
  if (!secretRef) return { at, source: sslFiles ? { sslFiles } : sds ? { sds } : {}, names };
  const ref = { name: secretRef.name ?? '', namespace: secretRef.namespace || resource.metadata.namespace };
  return { at, source: { secretRef: ref }, secret: keyOf('Secret', ref), names };
}

/** Returns the names that clients can reach with a certificate: the domains of a virtual service among its server names. */
function servedNames({ sniDomains = [] }: SslConfig, { kind, spec }: Resource): readonly string[] {
  const names = sniDomains.map((name) => name.toLowerCase());
  if (kind !== 'VirtualService') return names;
  const { virtualHost } = spec as VirtualServiceSpec;
  const domains = (virtualHost?.domains ?? []).map((domain) => domain.toLowerCase().replace(/:(?:\d+|\*)$/, ''));
  const reachable = domains.filter(
    (domain) => domain && domain !== '*' && (names.length === 0 || names.some(includes(domain))),
  );
  return [...new Set(reachable.length > 0 ? reachable : names)];
}

function includes(domain: string): (serverName: string) => boolean {
  return (name) => name === domain || (name.startsWith('*.') && domain.endsWith(name.slice(1)));
}
