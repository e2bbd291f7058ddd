/** A version of HTTP. */
export type Version = 1 | 2;

export const VERSIONS: readonly Version[] = [1, 2];

/** The versions that the client and the upstream use. */
export interface Versions {
  readonly client: Version;
  readonly upstream: Version;
}

/** Every pair, that of HTTP/1.1 first. */
export const VERSION_PAIRS: readonly Versions[] = VERSIONS.flatMap((upstream) =>
  VERSIONS.map((client) => ({ client, upstream })),
);

/** The name of a pair, in the direction of the request. */
export function pairName({ client, upstream }: Versions): string {
  const name = { 1: 'HTTP/1.1', 2: 'HTTP/2' } as const;
  return `${name[client]} to ${name[upstream]}`;
}
