/** What descriptors read of a request. */
export interface DescribedRequest {
  /**
   * Returns the first value of a header, as Envoy does for descriptors; `undefined` if it is absent. `name` is in lower case; it may
   * be `:method`, `:path`, `:authority` or `:scheme`.
   */
  header(name: string): string | undefined;
  /** Returns all values of a header, joined with `,`, for conditions. Default: `header`. */
  joinedHeader?(name: string): string | undefined;
  /** Network of the client, `unknown` if its address cannot be read; `undefined` only without a client. */
  readonly clientAddress: string | undefined;
  /** Cluster of the route; `undefined` if it has none. */
  readonly destinationCluster: string | undefined;
  /** Cluster of this proxy. */
  readonly sourceCluster: string | undefined;
  /** Id of the authenticated user. */
  readonly userId: string | undefined;
  /** Returns the dynamic metadata of a namespace. */
  metadata(namespace: string): unknown;
  /** Returns the metadata of the route in a namespace. */
  routeMetadata(namespace: string): unknown;
  /** Complexity of the GraphQL operation; `undefined` if it is none. */
  readonly graphqlComplexity: number | undefined;
}
