import {
  createUpstreamTls,
  readTlsMaterial,
  type Endpoint,
  type Secrets,
  type SnapshotUpstream,
  type TlsMaterial,
} from '@edge-gateway/core';
import { credentials, type ChannelCredentials } from '@grpc/grpc-js';

/** How gRPC connections to an upstream are made safe. */
export interface GrpcSecurity {
  readonly credentials: ChannelCredentials;
  /** Name to ask for and to find in the certificate, when it is not the address. */
  serverName(endpoint: Endpoint): string | undefined;
  /** What it was made of. */
  readonly material: TlsMaterial | undefined;
}

const PLAIN: GrpcSecurity = {
  credentials: credentials.createInsecure(),
  serverName: () => undefined,
  material: undefined,
};

/**
 * Makes the security of an upstream, or gives `known` where its certificates are still the same. Throws an `Error` where
 * something that its TLS names is missing or cannot be used: nothing is ever sent unverified.
 */
export function grpcSecurity(
  upstream: SnapshotUpstream,
  secrets: Secrets,
  known: GrpcSecurity | undefined,
): GrpcSecurity {
  if (!upstream.tls) return PLAIN;
  const material = readTlsMaterial(upstream, secrets);
  if (known?.material && sameMaterial(known.material, material)) return known;
  const { secureContext, checkServerIdentity, serverName } = createUpstreamTls(upstream, material);
  return {
    credentials: credentials.createFromSecureContext(secureContext, { checkServerIdentity }),
    serverName: (endpoint) => (serverName(endpoint) === endpoint.address ? undefined : serverName(endpoint)),
    material,
  };
}

function sameMaterial(a: TlsMaterial, b: TlsMaterial): boolean {
  return a.ca === b.ca && a.cert === b.cert && a.key === b.key;
}
