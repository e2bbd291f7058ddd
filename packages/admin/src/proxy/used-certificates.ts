import type { X509Certificate } from 'node:crypto';
import {
  datedCertificates,
  datesProblems,
  httpListenersOf,
  parseCertificates,
  sdsSourceOf,
  secretText,
  type Problem,
  type ResourceRef,
  type Secrets,
  type SecretValue,
  type Snapshot,
} from '@edge-gateway/core';
import type { SslConfig, UpstreamSslConfig } from '@edge-gateway/core/schema';

/** What presents a certificate, or verifies peers with it. */
export interface CertificateUser {
  readonly kind: 'listener' | 'upstream' | 'process';
  readonly name: string;
  /** The server names for which a listener presents it; empty for all. */
  readonly serverNames: readonly string[];
}

/** The certificates of one TLS secret, or of the files of one configuration. Keys are never read. */
export interface UsedCertificates {
  /** Their source: `secret <namespace>.<name>`, a file, or a flag with its file. */
  readonly path: string;
  readonly chain: readonly X509Certificate[];
  readonly ca: readonly X509Certificate[];
  readonly users: readonly CertificateUser[];
}

/** Returns a problem for each certificate of the flags of a process that peers reject because of its dates, now or soon. */
export function certificateProblems(certificates: readonly UsedCertificates[], now: number): Problem[] {
  return certificates.flatMap((used) =>
    datesProblems(datedCertificates(used), now).map((message): Problem => {
      const origin = { file: used.path, line: 0, column: 0 };
      return { code: 'CERTIFICATE', severity: 'warning', path: [], origin, message };
    }),
  );
}

type TlsSettings = Pick<SslConfig & UpstreamSslConfig, 'secretRef' | 'sslFiles' | 'sds'>;

interface NamedTls {
  readonly settings: TlsSettings;
  /** The namespace of a secret that names none. */
  readonly namespace: string;
  readonly user: CertificateUser;
}

/** Returns the TLS secrets that listeners and upstreams of a snapshot name, each once, sorted by namespace and name. */
export function tlsSecretsOf(snapshot: Snapshot | undefined): ResourceRef[] {
  const named = (snapshot ? tlsOf(snapshot) : []).map(secretOf);
  const refs = new Map(named.flatMap((ref) => (ref ? [[`${ref.namespace}.${ref.name}`, ref] as const] : [])));
  return [...refs].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, ref]) => ref);
}

/** Returns the certificates of all TLS secrets and files in use, each source once; missing or unreadable ones are omitted. */
export function certificatesOf(snapshots: readonly Snapshot[], secrets: Secrets): UsedCertificates[] {
  const bySource = Map.groupBy(snapshots.flatMap(tlsOf), sourceOf);
  const sources = [...bySource].sort(([a], [b]) => Number(isSecret(b)) - Number(isSecret(a)) || (a < b ? -1 : 1));
  return sources.flatMap(([path, uses]) => {
    const content = path === '' ? undefined : contentOf(uses[0]!, secrets);
    const { chain, ca } = content ? parsed(content) : NONE;
    const users = Map.groupBy(uses, ({ user }) => `${user.kind} ${user.name}`).values();
    return chain.length + ca.length === 0 ? [] : [{ path, chain, ca, users: [...users].map(joined) }];
  });
}

type Parsed = Pick<UsedCertificates, 'chain' | 'ca'>;
const NONE: Parsed = { chain: [], ca: [] };
const PARSED = new WeakMap<SecretValue, Parsed>();

function parsed(secret: SecretValue): Parsed {
  const known = PARSED.get(secret);
  if (known) return known;
  const read = (name: string): readonly X509Certificate[] => parseCertificates(secretText(secret, name) ?? '') ?? [];
  const parts = { chain: read('tls.crt'), ca: read('ca.crt') };
  PARSED.set(secret, parts);
  return parts;
}

const isSecret = (path: string): boolean => path.startsWith('secret ');

/** Returns one user with the server names of all. */
function joined(uses: readonly NamedTls[]): CertificateUser {
  const names = uses.map(({ user }) => user.serverNames);
  const serverNames = names.some((each) => each.length === 0) ? [] : [...new Set(names.flat())];
  return { ...uses[0]!.user, serverNames };
}

function tlsOf({ listeners, upstreams }: Snapshot): NamedTls[] {
  const ofListeners = listeners.flatMap(({ name, sslConfigurations }) =>
    sslConfigurations.map(({ sslConfig: settings, sniDomains: serverNames }): NamedTls => {
      return { settings, namespace: '', user: { kind: 'listener', name, serverNames } };
    }),
  );
  const ofForwardProxies = httpListenersOf(listeners).flatMap(({ gateway, httpOptions }): NamedTls[] => {
    const settings = httpOptions.dynamicForwardProxy?.sslConfig;
    const user = { kind: 'listener', name: gateway.name, serverNames: [] } as const;
    return settings ? [{ settings, namespace: gateway.namespace, user }] : [];
  });
  const ofUpstreams = upstreams.flatMap(({ name, ref, spec, endpoints }) => {
    const used = [spec.sslConfig, spec.httpConnectSslConfig, ...endpoints.map(({ sslConfig }) => sslConfig)];
    const user = { kind: 'upstream', name, serverNames: [] } as const;
    return used.flatMap((settings): NamedTls[] => (settings ? [{ settings, namespace: ref.namespace, user }] : []));
  });
  return [...ofListeners, ...ofForwardProxies, ...ofUpstreams];
}

function secretOf({ settings: { secretRef }, namespace }: NamedTls): ResourceRef | undefined {
  return secretRef?.name ? { name: secretRef.name, namespace: secretRef.namespace || namespace } : undefined;
}

/** Empty for none. */
function sourceOf(tls: NamedTls): string {
  const ref = secretOf(tls);
  const { sslFiles: files, sds } = tls.settings;
  if (ref) return `secret ${ref.namespace}.${ref.name}`;
  return files ? (files.tlsCert ?? files.rootCa ?? '') : sds ? sdsSourceOf(sds) : '';
}

function contentOf(tls: NamedTls, secrets: Secrets): SecretValue | undefined {
  const ref = secretOf(tls);
  const { sslFiles: files, sds } = tls.settings;
  if (ref) return secrets.get(ref);
  return files ? secrets.files?.(files) : sds && secrets.sds?.(sds);
}
