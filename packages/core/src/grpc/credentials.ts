import { isDeepStrictEqual } from 'node:util';
import type { ChannelCredentials } from '@grpc/grpc-js';
import type { Endpoint, Secrets, SnapshotUpstream } from '../contract/snapshot.ts';
import type { TlsTexts } from '../security/tls-material.ts';
import { createUpstreamTls, readTlsMaterial } from '../upstream/upstream-tls.ts';
import { grpcLibrary } from './library.ts';

export interface GrpcSecurity {
  readonly credentials: ChannelCredentials;
  /** Name for SNI and certificate verification, if it is not the address. */
  serverName(endpoint: Endpoint): string | undefined;
  readonly material: TlsTexts | undefined;
}

let plain: GrpcSecurity | undefined;

function plainSecurity(): GrpcSecurity {
  const credentials = grpcLibrary().credentials.createInsecure();
  return { credentials, serverName: () => undefined, material: undefined };
}

/** Returns `known` if its certificates did not change. Throws an `Error` for missing or invalid TLS material. */
export function grpcSecurity(
  upstream: SnapshotUpstream,
  secrets: Secrets,
  known: GrpcSecurity | undefined,
): GrpcSecurity {
  if (!upstream.tls) return (plain ??= plainSecurity());
  const material = readTlsMaterial(upstream, secrets);
  if (known?.material && isDeepStrictEqual(known.material, material)) return known;
  const { secureContext, checkServerIdentity, serverName } = createUpstreamTls(upstream, material);
  return {
    credentials: grpcLibrary().credentials.createFromSecureContext(secureContext, { checkServerIdentity }),
    serverName: (endpoint) => (serverName(endpoint) === endpoint.address ? undefined : serverName(endpoint)),
    material,
  };
}
