import type { DescribedRequest } from '@edge-gateway/rate-limit';

/** What a request of a test consists of. */
export interface RequestParts extends Partial<Omit<DescribedRequest, 'header' | 'metadata' | 'routeMetadata'>> {
  /** Lists are several headers of one name. */
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  readonly metadata?: Readonly<Record<string, unknown>>;
  readonly routeMetadata?: Readonly<Record<string, unknown>>;
}

export function describedRequest({
  headers = {},
  metadata = {},
  routeMetadata = {},
  ...rest
}: RequestParts): DescribedRequest {
  return {
    clientAddress: undefined,
    destinationCluster: undefined,
    sourceCluster: undefined,
    userId: undefined,
    graphqlComplexity: undefined,
    ...rest,
    header: (name) => [headers[name]].flat()[0],
    joinedHeader: (name) => (headers[name] === undefined ? undefined : [headers[name]].flat().join(',')),
    metadata: (namespace) => metadata[namespace],
    routeMetadata: (namespace) => routeMetadata[namespace],
  };
}
