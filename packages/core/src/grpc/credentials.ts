import { isDeepStrictEqual } from 'node:util';
import { credentials, type ChannelCredentials } from '@grpc/grpc-js';
import type { Endpoint, Secrets, SnapshotUpstream } from '../contract/snapshot.ts';
import type { TlsTexts } from '../security/tls-material.ts';
import { createUpstreamTls, readTlsMaterial } from '../upstream/upstream-tls.ts';

export interface GrpcSecurity {
  readonly credentials: ChannelCredentials;
  /** Name for SNI and certificate verification, if it is not the address. */
  serverName(endpoint: Endpoint): string | undefined;
  readonly material: TlsTexts | undefined;
}

const PLAIN: GrpcSecurity = {
  credentials: credentials.createInsecure(),
  serverName: () => undefined,
  material: undefined,
};

/** Returns `known` if its certificates did not change. Throws an `Error` for missing or invalid TLS material. */
export function grpcSecurity(
  upstream: SnapshotUpstream,
  secrets: Secrets,
  known: GrpcSecurity | undefined,
): GrpcSecurity {
  if (!upstream.tls) return PLAIN;
  const material = readTlsMaterial(upstream, secrets);
  if (known?.material && isDeepStrictEqual(known.material, material)) return known;
  const { secureContext, checkServerIdentity, serverName } = createUpstreamTls(upstream, material);
  return {
    credentials: credentials.createFromSecureContext(secureContext, { checkServerIdentity }),
    serverName: (endpoint) => (serverName(endpoint) === endpoint.address ? undefined : serverName(endpoint)),
    material,
  };
}
