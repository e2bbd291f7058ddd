import {
  createUpstreamTls,
  readTlsMaterial,
  type Secrets,
  type SnapshotUpstream,
  type TlsMaterial,
  type UpstreamTls,
} from '@edge-gateway/core';
import { ERROR_CODES, routingError } from '../error-codes.ts';

export interface LoadedTls {
  readonly material: TlsMaterial;
  readonly tls: UpstreamTls;
}

/**
 * Reads the certificates of an upstream; returns `known` if they are unchanged. Throws `ERR_ROUTING_UPSTREAM_TLS`
 * if one is missing or invalid.
 */
export function loadUpstreamTls(upstream: SnapshotUpstream, secrets: Secrets, known: LoadedTls | undefined): LoadedTls {
  try {
    const material = readTlsMaterial(upstream, secrets);
    if (known && sameMaterial(material, known.material)) return known;
    return { material, tls: createUpstreamTls(upstream, material) };
  } catch (cause) {
    const code = 'ERR_ROUTING_UPSTREAM_TLS';
    throw routingError(code, `${ERROR_CODES[code].message}: ${(cause as Error).message}`, cause);
  }
}

export function sameMaterial(a: TlsMaterial, b: TlsMaterial): boolean {
  return a.ca === b.ca && a.cert === b.cert && a.key === b.key;
}
