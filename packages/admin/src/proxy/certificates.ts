import { X509Certificate } from 'node:crypto';
import {
  certificateBlocks,
  secretText,
  type ResourceRef,
  type Secrets,
  type SecretValue,
  type Snapshot,
  type SnapshotUpstream,
  type TlsConfiguration,
} from '@edge-gateway/core';

type SslFiles = NonNullable<TlsConfiguration['sslConfig']['sslFiles']>;

/** The certificates of one TLS secret, or of the files of one configuration. Keys are never read. */
export interface Certificates {
  /** Where they are: `secret <namespace>.<name>`, or a file. */
  readonly path: string;
  readonly chain: readonly X509Certificate[];
  readonly ca: readonly X509Certificate[];
}

const parsed = new WeakMap<SecretValue, Omit<Certificates, 'path'>>();

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

/** Certificates of all TLS secrets and files in use; what is missing or unreadable is left out. */
export function certificatesOf(snapshot: Snapshot | undefined, secrets: Secrets): Certificates[] {
  const fromSecrets = tlsSecretsOf(snapshot).flatMap((ref) => {
    const secret = secrets.get(ref);
    return secret ? [{ path: `secret ${ref.namespace}.${ref.name}`, ...parse(secret) }] : [];
  });
  const fromDisk = filesOf(snapshot).flatMap((files) => fromFiles(files, secrets));
  return [...fromSecrets, ...fromDisk].filter(({ chain, ca }) => chain.length + ca.length > 0);
}

function filesOf(snapshot: Snapshot | undefined): SslFiles[] {
  const listed = (snapshot?.listeners ?? []).flatMap((listener) => listener.sslConfigurations);
  const configs = [...listed.map(({ sslConfig }) => sslConfig), ...(snapshot?.upstreams ?? []).map(upstreamConfig)];
  return configs.flatMap((config) => config?.sslFiles ?? []);
}

function upstreamConfig({ spec }: SnapshotUpstream): SnapshotUpstream['spec']['sslConfig'] {
  return spec.sslConfig;
}

function fromFiles(files: SslFiles, secrets: Secrets): Certificates[] {
  const content = secrets.files?.(files);
  return content ? [{ path: files.tlsCert ?? files.rootCa ?? '', ...parse(content) }] : [];
}

function parse(secret: SecretValue): Omit<Certificates, 'path'> {
  let result = parsed.get(secret);
  if (!result) {
    result = { chain: read(secretText(secret, 'tls.crt')), ca: read(secretText(secret, 'ca.crt')) };
    parsed.set(secret, result);
  }
  return result;
}

function read(pem = ''): X509Certificate[] {
  return certificateBlocks(pem).flatMap((block) => {
    try {
      return [new X509Certificate(block)];
    } catch {
      return [];
    }
  });
}
