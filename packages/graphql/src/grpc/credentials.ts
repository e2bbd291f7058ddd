import { readFileSync } from 'node:fs';
import { checkServerIdentity, type PeerCertificate } from 'node:tls';
import { credentials, type ChannelCredentials } from '@grpc/grpc-js';
import { secretText, type Secrets, type SnapshotUpstream } from '@edge-gateway/core';

/** How a gRPC connection to an upstream is made safe. */
export interface GrpcSecurity {
  readonly credentials: ChannelCredentials;
  /** Name to ask for and to find in the certificate, when it is not the address. */
  readonly serverName: string | undefined;
}

/** Reads the TLS of an upstream. Throws an `Error` where something it names is missing, or cannot be kept. */
export function grpcSecurity(upstream: SnapshotUpstream, secrets: Secrets): GrpcSecurity {
  if (!upstream.tls) return { credentials: credentials.createInsecure(), serverName: undefined };
  const ssl = upstream.spec.sslConfig;
  if (ssl?.parameters) throw new Error('sslConfig.parameters are not heeded for gRPC');
  const { ca, cert, key } = materialOf(upstream, secrets);
  if ((cert === undefined) !== (key === undefined)) throw new Error('a client certificate needs its key');
  const names = ssl?.verifySubjectAltName ?? [];
  const verify = {
    checkServerIdentity: (host: string, certificate: PeerCertificate) =>
      names.length > 0 ? checkNames(certificate, names) : checkServerIdentity(host, certificate),
  };
  const client = ssl?.oneWayTls ? [null, null] : [buffer(key), buffer(cert)];
  return {
    credentials: credentials.createSsl(buffer(ca), client[0], client[1], verify),
    serverName: ssl?.sni || undefined,
  };
}

function materialOf({ spec, ref }: SnapshotUpstream, secrets: Secrets) {
  const { secretRef, sslFiles } = spec.sslConfig ?? {};
  if (secretRef) {
    const own = { name: secretRef.name ?? '', namespace: secretRef.namespace || ref.namespace };
    const secret = secrets.get(own);
    if (!secret) throw new Error(`secret ${own.namespace}.${own.name} does not exist`);
    return {
      ca: secretText(secret, 'ca.crt'),
      cert: secretText(secret, 'tls.crt'),
      key: secretText(secret, 'tls.key'),
    };
  }
  const read = (path: string | undefined) => (path ? readFileSync(path, 'utf8') : undefined);
  return { ca: read(sslFiles?.rootCa), cert: read(sslFiles?.tlsCert), key: read(sslFiles?.tlsKey) };
}

function buffer(text: string | undefined): Buffer | null {
  return text ? Buffer.from(text) : null;
}

function checkNames(certificate: PeerCertificate, names: readonly string[]): Error | undefined {
  const carried = (certificate.subjectaltname ?? '').split(', ').map((entry) => entry.slice(entry.indexOf(':') + 1));
  return carried.some((name) => names.includes(name)) ? undefined : new Error('the certificate has another name');
}
