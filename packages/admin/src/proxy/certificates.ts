import { X509Certificate } from 'node:crypto';
import {
  secretText,
  type ResourceRef,
  type Secrets,
  type SecretValue,
  type Snapshot,
  type SnapshotUpstream,
} from '@edge-gateway/core';

/** The certificates of one TLS secret. Keys are never read. */
export interface Certificates {
  readonly ref: ResourceRef;
  readonly chain: readonly X509Certificate[];
  readonly ca: readonly X509Certificate[];
}

const BLOCK = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;
const parsed = new WeakMap<SecretValue, Omit<Certificates, 'ref'>>();

/** The secret an upstream's TLS names; without a namespace it is the upstream's own. */
export function upstreamSecretRef({ ref, spec }: SnapshotUpstream): ResourceRef | undefined {
  const { name, namespace = ref.namespace } = spec.sslConfig?.secretRef ?? {};
  return name ? { name, namespace } : undefined;
}

/** The TLS secrets that listeners and upstreams of a snapshot name, each once, sorted by namespace and name. */
export function tlsSecretsOf(snapshot: Snapshot | undefined): ResourceRef[] {
  const listed = (snapshot?.listeners ?? []).flatMap((listener) => listener.sslConfigurations);
  const named = [
    ...listed.map(({ sslConfig }) => sslConfig.secretRef as ResourceRef | undefined),
    ...(snapshot?.upstreams ?? []).map(upstreamSecretRef),
  ];
  const refs = new Map(named.flatMap((ref) => (ref?.name ? [[`${ref.namespace}.${ref.name}`, ref] as const] : [])));
  return [...refs].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, ref]) => ref);
}

/** Certificates of all TLS secrets in use; what is missing or unreadable is left out. */
export function certificatesOf(snapshot: Snapshot | undefined, secrets: Secrets): Certificates[] {
  return tlsSecretsOf(snapshot).flatMap((ref) => {
    const secret = secrets.get(ref);
    return secret ? [{ ref, ...parse(secret) }] : [];
  });
}

function parse(secret: SecretValue): Omit<Certificates, 'ref'> {
  let result = parsed.get(secret);
  if (!result) {
    result = { chain: read(secretText(secret, 'tls.crt')), ca: read(secretText(secret, 'ca.crt')) };
    parsed.set(secret, result);
  }
  return result;
}

function read(pem = ''): X509Certificate[] {
  return (pem.match(BLOCK) ?? []).flatMap((block) => {
    try {
      return [new X509Certificate(block)];
    } catch {
      return [];
    }
  });
}
