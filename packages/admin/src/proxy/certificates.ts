import { X509Certificate } from 'node:crypto';
import { secretText, type ResourceRef, type Secrets, type SecretValue, type Snapshot } from '@edge-gateway/core';

/** The certificates of one TLS secret. Keys are never read. */
export interface Certificates {
  readonly ref: ResourceRef;
  readonly chain: readonly X509Certificate[];
  readonly ca: readonly X509Certificate[];
}

const BLOCK = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;
const parsed = new WeakMap<SecretValue, Omit<Certificates, 'ref'>>();

/** The TLS secrets that listeners and upstreams of a snapshot name, each once, sorted by namespace and name. */
export function tlsSecretsOf(snapshot: Snapshot | undefined): ResourceRef[] {
  const configurations = [
    ...(snapshot?.listeners ?? []).flatMap((listener) => listener.sslConfigurations.map((each) => each.sslConfig)),
    ...(snapshot?.upstreams ?? []).map((upstream) => upstream.spec.sslConfig),
  ];
  const refs = new Map<string, ResourceRef>();
  for (const configuration of configurations) {
    const { name, namespace } = configuration?.secretRef ?? {};
    if (name && namespace) refs.set(`${namespace}.${name}`, { name, namespace });
  }
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
