import type { IncomingMessage } from 'node:http';
import { DEFAULTS, networkOf, type Facts, type SnapshotSettings } from '@edge-gateway/core';
import type { RouteOptions } from '@edge-gateway/core/schema';
import type { DescribedRequest } from '../descriptor/request.ts';

/** The cluster of this proxy. */
const SOURCE_CLUSTER = 'gateway';

/** What descriptors need besides the request. */
export interface RequestPlace {
  /** In lower case; the header of verified users, which clients cannot choose. */
  readonly userIdHeader: string;
  /** Bits of an IPv6 address that are one client. */
  readonly ipv6Bits: number;
  /** Metadata of the route, by namespace. */
  readonly routeMetadata: Readonly<Record<string, unknown>> | undefined;
}

/** Returns what descriptors of a route need besides the request. */
export function requestPlace(
  { envoyMetadata }: Pick<RouteOptions, 'envoyMetadata'>,
  settings: SnapshotSettings | undefined,
): RequestPlace {
  const userIdHeader = (settings?.extauth?.userIdHeader || DEFAULTS.userIdHeader).toLowerCase();
  const ipv6Bits = settings?.ratelimitServer?.ipv6PrefixLength ?? DEFAULTS.ipv6PrefixLength;
  return { userIdHeader, ipv6Bits, routeMetadata: envoyMetadata };
}

/** A request as descriptors see it: with the changes of earlier concerns, and without what clients forge. */
export class LimitedRequest implements DescribedRequest {
  readonly sourceCluster = SOURCE_CLUSTER;
  readonly #req: IncomingMessage;
  readonly #facts: Facts;
  readonly #place: RequestPlace;

  constructor(req: IncomingMessage, facts: Facts, place: RequestPlace) {
    this.#req = req;
    this.#facts = facts;
    this.#place = place;
  }

  /** Never `undefined`: a client whose address cannot be read must not be without limit. */
  get clientAddress(): string {
    return networkOf(this.#facts.connection.clientAddress, this.#place.ipv6Bits);
  }

  get destinationCluster(): string | undefined {
    return this.#facts.upstream || undefined;
  }

  /** The user that an earlier concern verified. */
  get userId(): string | undefined {
    const { requestChanges, identity } = this.#facts;
    const { userIdHeader } = this.#place;
    const set = requestChanges.findLast((change) => change.op !== 'remove' && change.name === userIdHeader);
    return (set as { readonly value: string } | undefined)?.value || identity?.subject || undefined;
  }

  get graphqlComplexity(): undefined {
    return undefined;
  }

  header(name: string): string | undefined {
    if (name.startsWith(':')) return this.#pseudoHeader(name);
    if (name === this.#place.userIdHeader) return this.userId;
    const { requestChanges, headers } = this.#facts;
    for (const change of requestChanges) if (change.name === name) return this.#facts.header(name);
    return firstOf(headers ?? this.#req.rawHeaders, name);
  }

  joinedHeader(name: string): string | undefined {
    if (name.startsWith(':') || name === this.#place.userIdHeader) return this.header(name);
    return this.#facts.header(name);
  }

  metadata(namespace: string): unknown {
    return this.#facts.metadata.get(namespace);
  }

  routeMetadata(namespace: string): unknown {
    const { routeMetadata } = this.#place;
    return routeMetadata && Object.hasOwn(routeMetadata, namespace) ? routeMetadata[namespace] : undefined;
  }

  #pseudoHeader(name: string): string | undefined {
    const facts = this.#facts;
    if (name === ':path') return facts.path;
    if (name === ':method') return facts.method;
    if (name === ':authority') return facts.header('host');
    return name === ':scheme' ? facts.connection.scheme : undefined;
  }
}

function firstOf(flat: readonly string[], lower: string): string | undefined {
  for (let i = 0; i < flat.length; i += 2) {
    const name = flat[i]!;
    if (name === lower || (name.length === lower.length && name.toLowerCase() === lower)) return flat[i + 1];
  }
  return undefined;
}
