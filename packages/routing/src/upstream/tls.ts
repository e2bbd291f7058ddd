import {
  createClientTls,
  createUpstreamTls,
  readClientTlsMaterial,
  readTlsMaterial,
  type Endpoint,
  type GatewayError,
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
  /** Of endpoints with their own settings, by these. Instead of TLS, why it cannot be used. */
  readonly own: ReadonlyMap<OwnSettings, Loaded | Error>;
}

type OwnSettings = NonNullable<Endpoint['sslConfig']>;

/**
 * Returns the TLS to an endpoint; `undefined` if it uses none. Throws `ERR_ROUTING_UPSTREAM_TLS` if its own certificates are missing
 * or invalid: it is never connected without them.
 */
export function tlsOf(loaded: LoadedTls | undefined, { sslConfig }: Endpoint): UpstreamTls | undefined {
  if (!sslConfig) return loaded?.server?.tls;
  const own = loaded?.own.get(sslConfig);
  if (own instanceof Error || !own) throw tlsError(own ?? new Error('its TLS settings were not read'));
  return own.tls;
}

/** Returns true if connections of the upstream use TLS. */
export function usesTls({ tls, spec, endpoints }: SnapshotUpstream): boolean {
  if (endpoints.some(({ sslConfig }) => sslConfig)) return true;
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
    const own = loadOwn(upstream, secrets, known);
    const isSame = known && known.server === server && known.proxy === proxy && sameOwn(known.own, own);
    return isSame ? known : { server, proxy, own };
  } catch (cause) {
    throw tlsError(cause as Error);
  }
}

function tlsError(cause: Error): GatewayError {
  const code = 'ERR_ROUTING_UPSTREAM_TLS';
  return routingError(code, `${ERROR_CODES[code].message}: ${cause.message}`, cause);
}

function loadOwn(
  { endpoints, ref }: SnapshotUpstream,
  secrets: Secrets,
  known: LoadedTls | undefined,
): LoadedTls['own'] {
  const own = new Map<OwnSettings, Loaded | Error>();
  for (const { sslConfig } of endpoints) {
    if (!sslConfig || own.has(sslConfig)) continue;
    try {
      const material = readClientTlsMaterial(sslConfig, ref.namespace, secrets);
      const before = known?.own.get(sslConfig);
      const isKnown = before && !(before instanceof Error) && sameMaterial(material, before.material);
      own.set(sslConfig, isKnown ? before : { material, tls: createClientTls(sslConfig, material) });
    } catch (error) {
      own.set(sslConfig, error as Error);
    }
  }
  return own;
}

/** Errors of one endpoint count as the same: there is no connection to it in either case. */
function sameOwn(a: LoadedTls['own'], b: LoadedTls['own']): boolean {
  return [...b].every(([key, loaded]) => {
    const other = a.get(key);
    return other === loaded || (loaded instanceof Error && other instanceof Error);
  });
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
