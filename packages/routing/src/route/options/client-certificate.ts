import type { X509Certificate } from 'node:crypto';
import { alternativeNames, type Listener } from '@edge-gateway/core';

type Manager = NonNullable<Listener['httpOptions']['httpConnectionManagerSettings']>;

/** The verified certificate of a client, and that of the gateway. */
export interface ConnectionCertificates {
  readonly peer: X509Certificate;
  readonly own: X509Certificate | undefined;
}

/** How `x-forwarded-client-cert` is sent upstream, and which details of the certificate it has. */
export interface CertificateForwarding {
  readonly mode: NonNullable<Manager['forwardClientCertDetails']>;
  readonly details: readonly Detail[];
  /** Rendered details of connections. */
  readonly rendered: WeakMap<ConnectionCertificates, string>;
}

/** A connection of which the certificates are known if the client presented a verified one. */
interface VerifiedConnection {
  readonly clientVerified: boolean;
  readonly certificates?: ConnectionCertificates | undefined;
}

type Detail = keyof typeof DETAILS;

/** Details in the order in which they are sent. */
const DETAILS = {
  cert: ({ peer }: ConnectionCertificates) => [`Cert="${escapedPem(peer)}"`],
  chain: ({ peer }: ConnectionCertificates) => [`Chain="${chainOf(peer).map(escapedPem).join('')}"`],
  subject: ({ peer }: ConnectionCertificates) => [`Subject="${subjectOf(peer)}"`],
  uri: ({ peer }: ConnectionCertificates) => namesOf(peer, 'URI', 'URI=') ?? ['URI='],
  dns: ({ peer }: ConnectionCertificates) => namesOf(peer, 'DNS', 'DNS=') ?? [],
} as const;

/** Compiles `forwardClientCertDetails` and `setCurrentClientCertDetails`. */
export function compileCertificateForwarding(written: Manager): CertificateForwarding {
  const set = written.setCurrentClientCertDetails ?? {};
  const details = (Object.keys(DETAILS) as Detail[]).filter((detail) => set[detail]);
  return { mode: written.forwardClientCertDetails ?? 'SANITIZE', details, rendered: new WeakMap() };
}

/**
 * Returns the value of `x-forwarded-client-cert` for an upstream; `undefined` for none. `given` is what the client sent: it is never forwarded without
 * a verified certificate of the client, unless the mode is ALWAYS_FORWARD_ONLY.
 */
export function forwardedCertificate(
  given: string | undefined,
  { clientVerified, certificates }: VerifiedConnection,
  forwarding: CertificateForwarding,
): string | undefined {
  const { mode } = forwarding;
  if (mode === 'ALWAYS_FORWARD_ONLY') return given;
  if (mode === 'SANITIZE' || !clientVerified) return undefined;
  if (mode === 'FORWARD_ONLY') return given;
  if (!certificates) return undefined;
  const current = render(certificates, forwarding);
  return mode === 'APPEND_FORWARD' && given ? `${given},${current}` : current;
}

function render(certificates: ConnectionCertificates, { details, rendered }: CertificateForwarding): string {
  let text = rendered.get(certificates);
  if (text === undefined) {
    const { peer, own } = certificates;
    const by = (own && namesOf(own, 'URI', 'By=')) ?? [];
    const hash = `Hash=${peer.fingerprint256.replaceAll(':', '').toLowerCase()}`;
    text = [...by, hash, ...details.flatMap((detail) => DETAILS[detail](certificates))].join(';');
    rendered.set(certificates, text);
  }
  return text;
}

function namesOf(certificate: X509Certificate, kind: string, prefix: string): string[] | undefined {
  const names = alternativeNames(certificate.subjectAltName).filter((each) => each.kind === kind);
  return names.length === 0 ? undefined : names.map(({ name }) => prefix + quoted(name));
}

/** Quotes a name that would otherwise be read as several elements. */
function quoted(name: string): string {
  const safe = printable(name);
  return /[",;\\]/.test(safe) ? `"${safe.replaceAll(/["\\]/g, '\\$&')}"` : safe;
}

/** The subject in the form of RFC 2253: the last name first. Node escapes each name. */
function subjectOf({ subject }: X509Certificate): string {
  return printable((subject ?? '').split('\n').toReversed().join(','));
}

/** Characters that a header must not have are percent-encoded. */
function printable(text: string): string {
  return text.replace(/[^\x20-\x7e]+/gu, (part) => encodeURIComponent(part.toWellFormed()));
}

const ESCAPES: Readonly<Record<string, string>> = { '\n': '%0A', ' ': '%20', '+': '%2B', '/': '%2F', '=': '%3D' };

function escapedPem(certificate: X509Certificate): string {
  return certificate.toString().replace(/[\n +/=]/g, (char) => ESCAPES[char]!);
}

/** Maximum number of certificates in a chain. */
const MAX_CHAIN = 10;

/** The certificates that the client sent: its own first. */
function chainOf(peer: X509Certificate): X509Certificate[] {
  const chain = [peer];
  for (let next = peer.issuerCertificate; next && chain.length < MAX_CHAIN; next = next.issuerCertificate) {
    if (chain.some(({ fingerprint256 }) => fingerprint256 === next!.fingerprint256)) break;
    chain.push(next);
  }
  return chain;
}
