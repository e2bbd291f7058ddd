import { X509Certificate } from 'node:crypto';
import {
  alternativeNames,
  certificateBlocks,
  sdsSourceOf,
  secretText,
  type ResourceRef,
  type Secrets,
  type SecretValue,
  type Snapshot,
} from '@edge-gateway/core';
import { upstreamSecretRef } from '@edge-gateway/core/envoy';
import { json } from '../http/endpoint-response.ts';
import type { Endpoint } from '../http/endpoint.ts';
import type { ProxyAdminOptions } from './proxy-options.ts';

const DAY_MS = 86_400_000;
const SAN_KINDS: Readonly<Record<string, string>> = {
  DNS: 'dns',
  'IP Address': 'ip_address',
  URI: 'uri',
  email: 'email',
};

/** The certificates of one TLS secret, or of the files of one configuration. Keys are never read. */
interface Certificates {
  /** Their source: `secret <namespace>.<name>`, or a file. */
  readonly path: string;
  readonly chain: readonly X509Certificate[];
  readonly ca: readonly X509Certificate[];
}

/** `/certs`: the certificates in use, without any key. */
export function certs({ context, snapshot }: ProxyAdminOptions): Endpoint {
  return {
    paths: ['/certs'],
    help: 'certificates in use',
    respond: () => {
      const certificates = certificatesOf(snapshot(), context.secrets).map(({ path, chain, ca }) => {
        const describe = (each: X509Certificate): object => ({ path, ...detailsOf(each, context.now()) });
        return { ca_cert: ca.map(describe), cert_chain: chain.map(describe) };
      });
      return json({ certificates });
    },
  };
}

/** Returns the whole days until the first certificate of a chain expires; `undefined` if there is none, 0 once one has expired. */
export function daysUntilFirstExpiry({ context, snapshot }: ProxyAdminOptions): number | undefined {
  const chains = certificatesOf(snapshot(), context.secrets).flatMap(({ chain }) => chain);
  return chains.length > 0 ? Math.min(...chains.map((each) => daysLeft(each, context.now()))) : undefined;
}

function daysLeft({ validToDate }: X509Certificate, now: number): number {
  return Math.max(0, Math.floor((validToDate.getTime() - now) / DAY_MS));
}

/** Returns the TLS secrets that listeners and upstreams of a snapshot name, each once, sorted by namespace and name. */
export function tlsSecretsOf(snapshot: Snapshot | undefined): ResourceRef[] {
  const listed = (snapshot?.listeners ?? []).flatMap((listener) => listener.sslConfigurations);
  const named = [
    ...listed.map(({ sslConfig }) => sslConfig.secretRef as ResourceRef | undefined),
    ...(snapshot?.upstreams ?? []).map(upstreamSecretRef),
  ];
  const refs = new Map(named.flatMap((ref) => (ref?.name ? [[`${ref.namespace}.${ref.name}`, ref] as const] : [])));
  return [...refs].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, ref]) => ref);
}

/** Returns the certificates of all TLS secrets and files in use; missing or unreadable ones are omitted. */
function certificatesOf(snapshot: Snapshot | undefined, secrets: Secrets): Certificates[] {
  const fromSecrets = tlsSecretsOf(snapshot).map(
    (ref) => [`secret ${ref.namespace}.${ref.name}`, secrets.get(ref)] as const,
  );
  const fromFiles = [
    ...(snapshot?.listeners ?? []).flatMap((listener) => listener.sslConfigurations.map((each) => each.sslConfig)),
    ...(snapshot?.upstreams ?? []).map(({ spec }) => spec.sslConfig),
  ].flatMap((config) => {
    const { sslFiles: files, sds } = config ?? {};
    if (files) return [[files.tlsCert ?? files.rootCa ?? '', secrets.files?.(files)] as const];
    return sds ? [[sdsSourceOf(sds), secrets.sds?.(sds)] as const] : [];
  });
  return [...fromSecrets, ...fromFiles].flatMap(([path, content]) => {
    const [chain, ca] = [parse(content, 'tls.crt'), parse(content, 'ca.crt')];
    return chain.length + ca.length > 0 ? [{ path, chain, ca }] : [];
  });
}

function parse(secret: SecretValue | undefined, key: string): X509Certificate[] {
  return certificateBlocks(secretText(secret, key) ?? '').flatMap((block) => {
    try {
      return [new X509Certificate(block)];
    } catch {
      return [];
    }
  });
}

function detailsOf(certificate: X509Certificate, now: number): object {
  return {
    serial_number: certificate.serialNumber.toLowerCase(),
    subject_alt_names: namesOf(certificate),
    days_until_expiration: String(daysLeft(certificate, now)),
    valid_from: certificate.validFromDate.toISOString(),
    expiration_time: certificate.validToDate.toISOString(),
  };
}

function namesOf({ subjectAltName }: X509Certificate): object[] {
  return alternativeNames(subjectAltName).flatMap(({ kind, name }) => {
    const key = SAN_KINDS[kind];
    return key ? [{ [key]: name }] : [];
  });
}
