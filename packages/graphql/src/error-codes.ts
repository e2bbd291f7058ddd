/** Every error code of this package, with the status it is answered with. Codes are never renamed or reused. */
export const ERROR_CODES = {
  ERR_GRAPHQL_API: { status: 500, message: 'The GraphQL API is invalid.' },
  ERR_GRAPHQL_BATCH: { status: 400, message: 'A batch is not allowed, or has too many operations.' },
  ERR_GRAPHQL_BODY: { status: 400, message: 'The body must be a GraphQL request in JSON.' },
  ERR_GRAPHQL_BODY_CONSUMED: { status: 500, message: 'Earlier middleware already consumed the body.' },
  ERR_GRAPHQL_BODY_TOO_LARGE: { status: 413, message: 'The body is larger than allowed.' },
  ERR_GRAPHQL_CALL: { status: 503, message: 'An upstream is unavailable or returned an invalid response.' },
  ERR_GRAPHQL_CONNECTIONS: { status: 503, message: 'Too many WebSockets, event streams or subscriptions are open.' },
  ERR_GRAPHQL_CONTENT_TYPE: { status: 415, message: 'The content type must be application/json in UTF-8.' },
  ERR_GRAPHQL_DISCOVERY: { status: 502, message: 'The schema of the upstream cannot be converted to GraphQL.' },
  ERR_GRAPHQL_DOCUMENT: { status: 400, message: 'The document is not valid for the schema.' },
  ERR_GRAPHQL_LIMIT: { status: 400, message: 'The document exceeds a size or complexity limit.' },
  ERR_GRAPHQL_METHOD: { status: 405, message: 'The method must be POST, or GET for queries.' },
  ERR_GRAPHQL_NOT_ACCEPTABLE: {
    status: 406,
    message: 'The response can be application/graphql-response+json or application/json.',
  },
  ERR_GRAPHQL_OPERATION: {
    status: 400,
    message: 'The operation is missing, ambiguous, or not allowed over this transport.',
  },
  ERR_GRAPHQL_ORIGIN: { status: 403, message: 'Pages of this origin must not open a WebSocket.' },
  ERR_GRAPHQL_PERSISTED_QUERY: { status: 400, message: 'The hash of the query is invalid or does not match.' },
  ERR_GRAPHQL_PERSISTED_QUERY_NOT_FOUND: { status: 404, message: 'PersistedQueryNotFound' },
  ERR_GRAPHQL_PROTOCOL: { status: 400, message: 'The WebSocket protocol must be graphql-transport-ws.' },
  ERR_GRAPHQL_QUERY_NOT_ALLOWED: { status: 403, message: 'The query is not allowed.' },
  ERR_GRAPHQL_RESOLVER: { status: 200, message: 'A field could not be resolved.' },
  ERR_GRAPHQL_SLOW_CLIENT: { status: 503, message: 'The client reads results too slowly.' },
  ERR_GRAPHQL_TIMEOUT: { status: 504, message: 'The operation timed out.' },
  ERR_GRAPHQL_UPSTREAM: { status: 502, message: 'The GraphQL server returned no result.' },
  ERR_GRAPHQL_VARIABLES: { status: 400, message: 'The variables are not valid for the operation.' },
} as const satisfies Record<string, { status: number; message: string }>;

/** A code of {@link ERROR_CODES}. */
export type GraphQLErrorCode = keyof typeof ERROR_CODES;
