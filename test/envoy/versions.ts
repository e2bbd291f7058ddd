/** A version of HTTP. */
export type Version = 1 | 2;

export const VERSIONS: readonly Version[] = [1, 2];

/** How the client and the upstream are connected. */
export interface Versions {
  readonly client: Version;
  readonly upstream: Version;
  /** True if both connections use TLS, and ALPN chooses their versions. */
  readonly tls: boolean;
}

/** The side of the upstream, with the TLS of both sides. */
export type UpstreamSide = Pick<Versions, 'upstream' | 'tls'>;

export const UPSTREAM_SIDES: readonly UpstreamSide[] = [false, true].flatMap((tls) =>
  VERSIONS.map((upstream) => ({ upstream, tls })),
);

/** Over TLS, each version is compared once on both sides: the others differ in nothing but what is compared without it. */
export const isCompared = ({ client, upstream, tls }: Versions): boolean => !tls || client === upstream;

/** Every combination that is compared, that of HTTP/1.1 without TLS first. */
export const VERSION_PAIRS: readonly Versions[] = UPSTREAM_SIDES.flatMap((side) =>
  VERSIONS.map((client) => ({ ...side, client })).filter(isCompared),
);

/** The name of a combination, in the direction of the request. */
export function pairName({ client, upstream, tls }: Versions): string {
  const name = { 1: 'HTTP/1.1', 2: 'HTTP/2' } as const;
  return `${name[client]} to ${name[upstream]}${tls ? ' over TLS' : ''}`;
}
