import {
  createClientTls,
  createUpstreamTls,
  readClientTlsMaterial,
  readTlsMaterial,
  type Secrets,
  type SnapshotUpstream,
  type TlsMaterial,
  type UpstreamTls,
} from '@edge-gateway/core';
import { ERROR_CODES, routingError } from '../error-codes.ts';

interface Loaded {
  readonly material: TlsMaterial;
  readonly tls: UpstreamTls;
}

/** The TLS of an upstream. */
export interface LoadedTls {
  /** To its endpoints, or through the tunnel. */
  readonly server: Loaded | undefined;
  /** To its HTTP proxies. */
  readonly proxy: Loaded | undefined;
}

/** Returns true if connections of the upstream use TLS. */
export function usesTls({ tls, spec }: SnapshotUpstream): boolean {
  return tls || (spec.httpProxyHostname !== undefined && spec.httpConnectSslConfig !== undefined);
}

/**
 * Reads the certificates of an upstream; returns `known` if they are unchanged. Throws `ERR_ROUTING_UPSTREAM_TLS`
 * if one is missing or invalid.
 */
export function loadUpstreamTls(upstream: SnapshotUpstream, secrets: Secrets, known: LoadedTls | undefined): LoadedTls {
  try {
    const server = upstream.tls ? loadServer(upstream, secrets, known?.server) : undefined;
    const proxy = loadProxy(upstream, secrets, known?.proxy);
    return known && known.server === server && known.proxy === proxy ? known : { server, proxy };
  } catch (cause) {
    const code = 'ERR_ROUTING_UPSTREAM_TLS';
    throw routingError(code, `${ERROR_CODES[code].message}: ${(cause as Error).message}`, cause);
  }
}

function loadServer(upstream: SnapshotUpstream, secrets: Secrets, known: Loaded | undefined): Loaded {
  const material = readTlsMaterial(upstream, secrets);
  if (known && sameMaterial(material, known.material)) return known;
  return { material, tls: createUpstreamTls(upstream, material) };
}

function loadProxy({ spec, ref }: SnapshotUpstream, secrets: Secrets, known: Loaded | undefined): Loaded | undefined {
  const { httpConnectSslConfig: ssl, httpProxyHostname } = spec;
  if (!ssl || !httpProxyHostname) return undefined;
  const material = readClientTlsMaterial(ssl, ref.namespace, secrets);
  if (known && sameMaterial(material, known.material)) return known;
  return { material, tls: createClientTls(ssl, material) };
}

export function sameMaterial(a: TlsMaterial, b: TlsMaterial): boolean {
  return a.ca === b.ca && a.cert === b.cert && a.key === b.key;
}
