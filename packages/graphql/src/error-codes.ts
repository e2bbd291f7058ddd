/** Every error code of this package, with the status it is answered with. Codes are never renamed or reused. */
export const ERROR_CODES = {
  ERR_GRAPHQL_API: { status: 500, message: 'The GraphQL API cannot be served as it is declared.' },
  ERR_GRAPHQL_BATCH: { status: 400, message: 'Several operations in one request are not allowed, or too many.' },
  ERR_GRAPHQL_BODY: { status: 400, message: 'The body is not a GraphQL request in JSON.' },
  ERR_GRAPHQL_BODY_CONSUMED: { status: 500, message: 'Something in front has read the body and left nothing of it.' },
  ERR_GRAPHQL_BODY_TOO_LARGE: { status: 413, message: 'The body is larger than allowed.' },
  ERR_GRAPHQL_CALL: { status: 503, message: 'An upstream could not be asked, or gave no usable answer.' },
  ERR_GRAPHQL_CONNECTIONS: { status: 503, message: 'Too many WebSockets, event streams or subscriptions are open.' },
  ERR_GRAPHQL_CONTENT_TYPE: { status: 415, message: 'A GraphQL request is sent as application/json in UTF-8.' },
  ERR_GRAPHQL_DISCOVERY: { status: 502, message: 'What the upstream says of itself cannot be offered as GraphQL.' },
  ERR_GRAPHQL_DOCUMENT: { status: 400, message: 'The document is not GraphQL, or does not fit the schema.' },
  ERR_GRAPHQL_LIMIT: { status: 400, message: 'The document is larger or more complex than allowed.' },
  ERR_GRAPHQL_METHOD: { status: 405, message: 'GraphQL requests are POST, or GET without mutations.' },
  ERR_GRAPHQL_NOT_ACCEPTABLE: {
    status: 406,
    message: 'The answer is application/graphql-response+json or application/json.',
  },
  ERR_GRAPHQL_OPERATION: {
    status: 400,
    message: 'The operation is not there, cannot be told, or must not run this way.',
  },
  ERR_GRAPHQL_ORIGIN: { status: 403, message: 'Pages of this origin may not open a WebSocket here.' },
  ERR_GRAPHQL_PERSISTED_QUERY: { status: 400, message: 'The hash of the query does not fit, or is not one.' },
  ERR_GRAPHQL_PERSISTED_QUERY_NOT_FOUND: { status: 404, message: 'PersistedQueryNotFound' },
  ERR_GRAPHQL_PROTOCOL: { status: 400, message: 'The protocol of a WebSocket is graphql-transport-ws.' },
  ERR_GRAPHQL_QUERY_NOT_ALLOWED: { status: 403, message: 'The query is not among those that are allowed.' },
  ERR_GRAPHQL_RESOLVER: { status: 200, message: 'A field could not be resolved.' },
  ERR_GRAPHQL_SLOW_CLIENT: { status: 503, message: 'The client takes results more slowly than they come.' },
  ERR_GRAPHQL_TIMEOUT: { status: 504, message: 'The operation took longer than allowed.' },
  ERR_GRAPHQL_UPSTREAM: { status: 502, message: 'The GraphQL server behind gave no result.' },
  ERR_GRAPHQL_VARIABLES: { status: 400, message: 'The variables do not fit the operation.' },
} as const satisfies Record<string, { status: number; message: string }>;

/** A code of {@link ERROR_CODES}. */
export type GraphQLErrorCode = keyof typeof ERROR_CODES;
